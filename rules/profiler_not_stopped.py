from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Rule, on_call

ENDS = {
    "tf.profiler.experimental.start": ("tf.profiler.experimental.stop",),
    "tf.summary.trace_on": ("tf.summary.trace_export", "tf.summary.trace_off"),
}


class ProfilerNotStopped(Rule):
    """
    ## What it does
    Reports `tf.profiler.experimental.start` with no `stop`, and `tf.summary.trace_on` with no `trace_export` or
    `trace_off`, on some path through the function that starts it.

    ## Why it costs memory
    The profiler keeps an event for every op, about 0.7 KB each, until it is stopped; a trace keeps every graph.

    ## Example
    ```python
    tf.profiler.experimental.start("logs")
    train(model)
    ```
    Use the context manager:
    ```python
    with tf.profiler.experimental.Profile("logs"):
        train(model)
    ```

    ## Fix safety
    No fix: where profiling ends is yours to say.

    ## When not to use it
    When another part of the program stops it; a stop in another method of the class or function of the file counts.

    ## References
    - https://www.tensorflow.org/guide/profiler
    """

    code = "TFM801"
    summary = "a profiler that is not stopped keeps an event for every op"

    @on_call(*ENDS)
    def check(self, start: Call, file: File) -> Iterator[Finding]:
        stops = list(file.calls(*ENDS[start.name or ""]))
        home = file.contexts.function(start.node)
        starting = {id(file.contexts.function(other.node)) for other in file.calls(start.name or "")}
        elsewhere = [stop for stop in stops if id(file.contexts.function(stop.node)) not in starting]
        here = [stop for stop in stops if file.contexts.function(stop.node) is home]
        if elsewhere and not here:
            return
        if any(self._matches(start, stop, file) for stop in here):
            return
        what = (
            "the profiler keeps an event for every op"
            if "profiler" in (start.name or "")
            else "the trace keeps every graph"
        )
        why = "on every path" if here else "here"
        yield self.finding(start, file, f"{what} until it is stopped, and it is not stopped {why}")

    def _matches(self, start: Call, stop: Call, file: File) -> bool:
        """Whether the stop runs whenever the start did: under the same conditions, or in a `finally`."""
        if file.tree.order(stop.node) < file.tree.order(start.node):
            return False
        for above in file.tree.ancestors(stop.node):
            if isinstance(above, (cst.FunctionDef, cst.Lambda)):
                break
            if isinstance(above, cst.Finally):
                return True
            if (
                isinstance(above, cst.If)
                and not file.tree.contains(above, start.node)
                and not self._same_condition(above, start, file)
            ):
                return False
            if isinstance(above, cst.ExceptHandler):
                return False
        return not self._returns_between(start, stop, file)

    def _same_condition(self, stopping: cst.If, start: Call, file: File) -> bool:
        """Whether a condition of the start's looks like the stop's: `if step == 10` starts, `if step == 20` stops."""
        home = file.contexts.function(start.node)
        return any(
            isinstance(above, cst.If) and (home is None or file.tree.contains(home, above))
            for above in file.tree.ancestors(start.node)
        )

    def _returns_between(self, start: Call, stop: Call, file: File) -> bool:
        home = file.contexts.function(start.node)
        if not isinstance(home, cst.FunctionDef):
            return False
        first, last = file.tree.order(start.node), file.tree.order(stop.node)
        return any(first < file.tree.order(statement) < last for statement in file.returns(home))
