from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._consumers import consumptions

from tfmemlint.api import (
    Call,
    Dataset,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Severity,
    append_method,
    autotune_text,
    elements,
    integer,
    on_file,
)
from tfmemlint.query.pipelines import BATCHED_SOURCES, BATCHING, expensive_source

PIPELINE_NAME = re.compile(
    r"(^|_)(ds|dataset|datasets|pipeline|input_fn|data_loader|dataloader|loader)(_|$)|^input_fn|_input_fn"
    r"|^(preprocess|process|prepare|make|get|build|create|load|read)_(train|val|valid|test|data|batch|input)"
)
SETTLES = frozenset({"prefetch", "apply", "distribute"})
"""Steps after which nothing is missing: prefetched, or changed in a way that is not seen."""


A_FEW = 32
"""Examples that `take` may leave for a look at them."""


class MissingPrefetch(Rule):
    """
    ## What it does
    Gives the advice to end a batched pipeline with `prefetch(tf.data.AUTOTUNE)` where it reaches `fit`, `evaluate`,
    `predict` or a training loop, or is returned by a function that is named as an input pipeline.

    ## Why it costs memory
    It costs time, not memory: without a prefetch the model waits while the next batch is made. Prefetching holds one
    or two batches more. TensorFlow adds a prefetch itself where the last step is synchronous and its graph
    optimizations are on; saying it in the code keeps it when they are not.

    ## Fix safety
    Safe: elements and order stay the same.

    ## When not to use it
    When host memory is so short that one more batch does not fit.

    ## References
    - https://www.tensorflow.org/guide/data_performance#prefetching
    """

    code = "TFM302"
    summary = "a pipeline without prefetch lets the model wait for its input"
    severity = Severity.INFO
    fix_safety = (Safety.SAFE,)
    in_tests = False

    @on_file("fit", "evaluate", "predict", "batch", "padded_batch", "make_csv_dataset")
    def check(self, file: File) -> Iterator[Finding]:
        seen: set[int] = set()
        for use in consumptions(file):
            for ds in use.datasets:
                if self._missing(ds):
                    last = self._last_step(ds, file)
                    where = last if last is not None else use.node
                    node = where.node if isinstance(where, Call) else where
                    if id(node) not in seen:
                        seen.add(id(node))
                        yield self._report(where, last, file)
        for function in file.tree.of(cst.FunctionDef):
            yield from self._returned(function, file, seen)

    def _missing(self, ds: Dataset) -> bool:
        """Whether the pipeline is batched and certainly not prefetched afterwards."""
        names = ds.names()
        if not any(name in BATCHING for name in names) or SETTLES & set(names) or self._peek(ds):
            return False
        if ds.source in BATCHED_SOURCES or (ds.source is None and not names):
            return False
        return all(self._missing_parent(parent) for parent in ds.parents)

    def _peek(self, ds: Dataset) -> bool:
        """Whether only some batches are taken; examples taken before they are batched are a part of the data."""
        names = ds.names()
        last = max(i for i, name in enumerate(names) if name in BATCHING)
        counts = [integer(step.call.value_of("count")) for step in ds.steps if step.name == "take" and step.call]
        return "take" in names[last:] or any(count is not None and 0 <= count <= A_FEW for count in counts)

    def _missing_parent(self, parent: object) -> bool:
        return isinstance(parent, Dataset) and "prefetch" not in parent.names()

    def _last_step(self, ds: Dataset, file: File) -> Call | None:
        """The last method of the chain: `apply` for what it is given."""
        last = ds.steps[-1].call if ds.steps else None
        argument = file.tree.parent(last.node) if last is not None else None
        outer = file.tree.parent(argument) if isinstance(argument, cst.Arg) else None
        applies = isinstance(outer, cst.Call) and file.call(outer).name == "tf.data.Dataset.apply"
        return file.call(outer) if isinstance(outer, cst.Call) and applies else last

    def _returned(self, function: cst.FunctionDef, file: File, seen: set[int]) -> Iterator[Finding]:
        if not PIPELINE_NAME.search(function.name.value):
            return
        found: list[Dataset] = []
        for statement in file.returns(function):
            given = elements(file.value(statement.value)) if statement.value is not None else ()
            made = [option for value in given for option in value.options if isinstance(option, Dataset)]
            if not made or (len(given) == 1 and len(made) != len(given[0].options)):
                return
            found += made
        if not found or not all(self._missing(ds) and ("map" in ds.names() or expensive_source(ds)) for ds in found):
            return
        if self._prefetched_by_caller(function, file):
            return
        for ds in found:
            last = self._last_step(ds, file)
            if last is not None and id(last.node) not in seen:
                seen.add(id(last.node))
                yield self._report(last, last, file)

    def _prefetched_by_caller(self, function: cst.FunctionDef, file: File) -> bool:
        """Whether what a call of the function gives is prefetched, or goes where that cannot be seen to be missing."""
        for call in file.values.functions.callers(function) or ():
            parent = file.tree.parent(call.node)
            if isinstance(parent, cst.Attribute):
                return True
            for other in file.calls("tf.data.Dataset.prefetch"):
                if any(step.call is not None and file.tree.contains(function, step.call.node)
                       for ds in other.datasets() for step in ds.steps):  # fmt: skip
                    return True
        return False

    def _report(self, where: object, last: Call | None, file: File) -> Finding:
        spelled = autotune_text(file, last) if last is not None else None
        fix = None
        if last is not None and spelled is not None:
            edit = append_method(file, last.node, f".prefetch({spelled})")
            fix = Fix("prefetch the batches", (edit,), Safety.SAFE)
        return self.finding(
            where,  # type: ignore[arg-type]
            file,
            "no prefetch at the end of this pipeline: input and compute do not overlap unless TensorFlow adds one "
            "itself (this costs time, not memory)",
            fix=fix,
        )
