from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    Dataset,
    File,
    Finding,
    Fix,
    Node,
    Rule,
    Safety,
    Severity,
    fixes,
    integer,
    knowledge,
    limits,
    on,
    pipelines,
)

SETTLES = frozenset({"prefetch", "apply", "distribute"})
"""Steps after which nothing is missing: prefetched, or changed in a way that is not seen."""


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

    @on(pipelines.consumptions)
    def check(self, use: pipelines.Consumption, file: File) -> Iterator[Finding]:
        if use.returned and not all(self._missing(ds) and self._works(ds) for ds in use.datasets):
            return  # its callers are not seen: only what does some work counts
        for ds in (*use.datasets, *use.validation):
            if self._missing(ds):
                yield self._report(use.node, ds, file)

    def _missing(self, ds: Dataset) -> bool:
        """Whether the pipeline is batched and certainly not prefetched afterwards."""
        names = ds.names()
        if not pipelines.BATCHING.intersection(names) or SETTLES.intersection(names) or self._peek(ds):
            return False
        if knowledge.in_group(ds.source, "gives_batches"):
            return False
        return all(isinstance(parent, Dataset) and "prefetch" not in parent.names() for parent in ds.parents)

    def _peek(self, ds: Dataset) -> bool:
        """Whether only some batches are taken; examples taken before they are batched are a part of the data."""
        last = max(i for i, name in enumerate(ds.names()) if name in pipelines.BATCHING)
        counts = [integer(step.call.value_of("count")) for step in ds.steps if step.name == "take" and step.call]
        few = any(count is not None and 0 <= count <= limits.ONE_BATCH for count in counts)
        return few or "take" in ds.names()[last:]

    def _works(self, ds: Dataset) -> bool:
        return "map" in ds.names() or pipelines.reads_files(ds)

    def _report(self, node: Node | Call, ds: Dataset, file: File) -> Finding:
        last = pipelines.last_call(file, ds)
        return self.finding(
            last or node,
            file,
            "no prefetch at the end of this pipeline: input and compute do not overlap unless TensorFlow adds one "
            "itself (this costs time, not memory)",
            fix=Fix.safe("prefetch the batches", fixes.append_prefetch(file, last)),
        )
