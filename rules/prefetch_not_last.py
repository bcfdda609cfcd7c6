from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._links import following, is_step, keeps_names, same_pipeline

from tfmemlint.api import (
    Api,
    Call,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    autotune_text,
    integer,
    move_link,
    on_file,
    written,
)

WORK = ("batch", "padded_batch", "map", "shuffle", "repeat", "cache", "filter")
"""Steps that are better done before the buffer than after it."""

GROUPS = frozenset({"batch", "padded_batch"})
SMALL = 9


class PrefetchNotLast(Rule):
    """
    ## What it does
    Reports `prefetch()` that is followed by `batch`, `map`, `shuffle`, `repeat`, `cache` or `filter` in the same
    pipeline, with no other prefetch after them.

    ## Why it costs memory
    A prefetch buffers the elements of the pipeline as it stands there, and only what comes before it runs ahead. The
    steps after it wait for the model again, and the buffer holds elements at a stage where they help nobody: with
    `prefetch(1000).batch(32)` a thousand single examples.

    ## Fix safety
    Safe: a prefetch changes neither elements nor order. A count of examples becomes `tf.data.AUTOTUNE` when the
    prefetch moves behind a batch, because there it would count batches. Unsafe where it moves from one statement to
    another that gives the pipeline another name, since the first name then stands for a later step.

    ## When not to use it
    When one slow step in the middle was measured to need a buffer of its own; the last step then has a prefetch too,
    and nothing is reported.

    ## References
    - https://www.tensorflow.org/guide/data_performance#prefetching
    """

    code = "TFM303"
    summary = "prefetch() before the last step buffers elements at the wrong stage"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)
    in_tests = False

    @on_file("prefetch")
    def check(self, file: File) -> Iterator[Finding]:
        later: dict[int, list[Call]] = {}
        for call in file.calls(*(f"tf.data.Dataset.{name}" for name in (*WORK, "prefetch"))):
            for ds in call.datasets():
                for step in ds.steps:
                    if (
                        step.name == "prefetch"
                        and step.call is not None
                        and call not in later.setdefault(id(step.call.node), [])
                    ):
                        later[id(step.call.node)].append(call)
        for prefetch in file.calls("tf.data.Dataset.prefetch"):
            after = later.get(id(prefetch.node), [])
            again = any(call.name == "tf.data.Dataset.prefetch" for call in after)
            after = [call for call in after if self._same(prefetch, call, file) and not _lent(prefetch, call, file)]
            after = [call for call in after if self._carries_on(prefetch, call, after, file)]
            if (
                after
                and not again
                and not (prefetch.arg("buffer_size") and integer(prefetch.value_of("buffer_size")) == 0)
            ):
                first = min(after, key=lambda call: file.span(call.name_node).start)
                yield self._report(prefetch, first, after, file)

    def _same(self, prefetch: Call, call: Call, file: File) -> bool:
        """Whether the call goes on with the prefetched pipeline, and not with one that is derived beside it."""
        between = [call]
        for ds in call.datasets():
            made = [step.call for step in ds.steps if step.call is not None]
            start = next((i for i, each in enumerate(made) if each.node is prefetch.node), None)
            steps = made[start + 1 :] if start is not None else []
            between += [each for each in steps if isinstance(each.receiver_node, cst.Name)]
        return all(file.tree.contains(each.node, prefetch.node) or same_pipeline(file, each) for each in between)

    def _carries_on(self, prefetch: Call, call: Call, after: list[Call], file: File) -> bool:
        """Not a caller that repeats what a function gives, or goes on where other callers do not."""
        function = file.contexts.function(prefetch.node)
        if function is None or function is file.contexts.function(call.node):
            return True
        callers = file.values.functions.callers(function)
        if call.method == "repeat" or not callers:
            return False
        starts = {id(other.receiver_node) for other in after if other.method in GROUPS}
        return len(callers) == 1 or all(id(caller.node) in starts for caller in callers)

    def _report(self, prefetch: Call, first: Call, after: list[Call], file: File) -> Finding:
        return self.finding(
            prefetch,
            file,
            f"prefetch() before {first.method}() buffers elements too early, and {first.method}() waits for the "
            "model again; make it the last step",
            fix=self._move(prefetch, after, file),
            related=[(first, "this step comes after it")],
        )

    def _move(self, prefetch: Call, after: list[Call], file: File) -> Fix | None:
        chain = [prefetch, *following(file, prefetch)]
        last = max((i for i, call in enumerate(chain) if i and is_step(call)), default=0)
        moved_over = {id(call.node) for call in chain[: last + 1]}
        if not all(id(call.node) in moved_over for call in after):
            return None  # a step would still come after it
        text = None
        if any(call.method in GROUPS for call in chain[1:]) and not self._fits_batches(prefetch):
            spelled = autotune_text(file, prefetch)
            if spelled is None:
                return None
            text = f".prefetch({spelled})"
        safety = Safety.SAFE if keeps_names(chain[: last + 1], file) else Safety.UNSAFE
        return Fix("prefetch last", move_link(file, chain, 0, last, text), safety)

    def _fits_batches(self, prefetch: Call) -> bool:
        """Whether the buffer's size is as good for batches: left to TensorFlow, or a few."""
        size = prefetch.value_of("buffer_size")
        count = integer(size)
        return size == Api("tf.data.AUTOTUNE") or (count is not None and count <= SMALL)


def _lent(prefetch: Call, call: Call, file: File) -> bool:
    """Whether a step stands in a function that is given the pipeline by a name which others read too."""
    function, receiver = file.contexts.function(call.node), call.receiver_node
    while isinstance(receiver, cst.Call) and isinstance(receiver.func, cst.Attribute):
        receiver = receiver.func.value
    if function is None or function is file.contexts.function(prefetch.node) or not isinstance(receiver, cst.Name):
        return False
    if not any(isinstance(d.value, cst.Param) for d in file.definitions(receiver)):
        return False
    callers = file.values.functions.callers(function) or ()
    given = [arg.value for caller in callers for arg in caller.node.args if isinstance(arg.value, cst.Name)]
    return any(len(file.readers(d)) > 1 for name in given for d in written(file.definitions(name)))
