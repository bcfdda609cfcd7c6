from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

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
    `predict` or a training loop, or is returned by a function whose callers are not seen to go on with it. It is given
    once for a pipeline, at its end, or in the first of several modules that take it of another one; a function that
    takes further what it is given, or that an `interleave` runs, has none. Pipelines that only pick, regroup and batch
    have nothing to do ahead, and are left out, where they begin with arrays in memory, lines of text, or a small data
    set that `tensorflow_datasets` keeps in memory itself; one of a few KiB may have arithmetic in its maps. So are
    batches of up to four lines or records, of which numbers are parsed, single batches, arithmetic on arrays or behind
    a cache in memory with which a model is only tested, up to nine batches for a test, and what all callers of a
    function are seen to show, print or write. A last step with `num_parallel_calls` works ahead by itself.

    ## Why it costs memory
    It costs time, not memory: without a prefetch the model waits while the next batch is made. Prefetching holds one
    or two batches more. TensorFlow adds a prefetch itself where the last step is synchronous and its graph
    optimizations are on; saying it in the code keeps it when they are not.

    ## Fix safety
    Safe: elements and order stay the same. Where some ways of the pipeline take steps more, the prefetch is written
    behind what each consumer is given, so that none gets two.

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

    @on(pipelines.consumed)
    def check(self, pipeline: list[pipelines.Arrival], file: File) -> Iterator[Finding]:
        unfinished = [each for each in pipeline if self._unfinished(each)]
        unfinished = [each for each in unfinished if not pipelines.ends_for_another(file, each.dataset)]
        if not unfinished or all(pipelines.waits_little(file, each) for each in unfinished):
            return
        ends = [end for end in pipelines.ends(file, unfinished) if file.is_own(end)]
        edits = (fixes.append_prefetch(file, end) for end in ends)
        first, *others = [self._place(end, file) for end in ends] or self._last(unfinished, file)
        yield self.finding(
            first,
            file,
            "no prefetch at the end of this pipeline: input and compute do not overlap unless TensorFlow adds one "
            "itself (this costs time, not memory)",
            fix=Fix.safe("prefetch the batches", *edits) if ends else None,
            related=[(other, "it ends here") for other in others],
        )

    def _place(self, end: cst.BaseExpression, file: File) -> Call | Node:
        return file.call(end) if isinstance(end, cst.Call) else end

    def _last(self, unfinished: list[pipelines.Arrival], file: File) -> list[Call | Node]:
        """The last step of a pipeline that has no single end; where another module makes it, before that step what
        consumes it here."""
        last, used = pipelines.last_call(file, unfinished[-1].dataset), unfinished[0].use.node
        if last is None:
            return [used]
        return [last] if file.is_own(last.node) else [used, last]

    def _unfinished(self, arrival: pipelines.Arrival) -> bool:
        """Whether the pipeline certainly arrives without a prefetch, and that is no choice of the program's."""
        use, ds = arrival.use, arrival.dataset
        if use.peeks or not self._missing(ds):
            return False
        if pipelines.needs_no_prefetch(ds) or pipelines.runs_ahead(ds):
            return False
        if use.returned and not all(self._missing(each) and self._works(each) for each in use.datasets):
            return False  # its callers are not seen: only what does some work counts
        beside = (each for each in arrival.given.datasets if pipelines.same_so_far(each, ds))
        return not any("prefetch" in each.names() for each in beside)

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
        return ("map" in ds.names() and not pipelines.needs_no_prefetch(ds)) or pipelines.reads_files(ds)
