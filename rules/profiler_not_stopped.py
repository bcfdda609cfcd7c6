from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Rule, flow, on_call, ordering

ENDS = {
    "tf.profiler.experimental.start": ("tf.profiler.experimental.stop",),
    "tf.summary.trace_on": ("tf.summary.trace_export", "tf.summary.trace_off"),
}
COSTS = {
    "tf.profiler.experimental.start": "the profiler keeps an event for every op",
    "tf.summary.trace_on": "the trace keeps every graph",
}


class ProfilerNotStopped(Rule):
    """
    ## What it does
    Reports `tf.profiler.experimental.start` with no `stop`, and `tf.summary.trace_on` with no `trace_export` or
    `trace_off`, on some path through the function that starts it.

    ## Why it costs memory
    The profiler keeps an event for every op until it is stopped; a trace keeps every graph.

    ## When not to use it
    When another part of the program stops it; a stop in another method of the class or function of the file counts.

    ## References
    - https://www.tensorflow.org/guide/profiler
    """

    code = "TFM801"
    summary = "a profiler that is not stopped keeps an event for every op"
    no_fix = "where profiling ends is yours to say"

    @on_call(*ENDS)
    def check(self, start: Call, file: File) -> Iterator[Finding]:
        name = start.name or ""
        stops, home = list(file.calls(*ENDS[name])), file.contexts.function(start.node)
        here = [stop for stop in stops if file.contexts.function(stop.node) is home]
        if any(ordering.always_follows(file, start, stop) for stop in here) or flow.gives_away(file, *ENDS[name]):
            return
        if not here and (_stopped_elsewhere(file, name, stops) if stops else _starts_only(file, start)):
            return
        where = "on every path" if here else "here"
        yield self.finding(start, file, f"{COSTS[name]} until it is stopped, and it is not stopped {where}")


def _stopped_elsewhere(file: File, name: str, stops: list[Call]) -> bool:
    """Whether a function stops it that does not start it."""
    starting = [file.contexts.function(start.node) for start in file.calls(name)]
    return any(all(file.contexts.function(stop.node) is not home for home in starting) for stop in stops)


def _starts_only(file: File, start: Call) -> bool:
    """Whether a function ends with the start, and is not called here: who calls it stops it. Not so a callback's
    method, and what a loop runs on."""
    home = file.contexts.function(start.node)
    if not isinstance(home, cst.FunctionDef) or file.contexts.loop(start.node) is not None:
        return False
    owner = file.class_of(home)
    if owner is not None and file.values.classes.derives(owner, "tf.keras.callbacks.Callback"):
        return False
    return file.tree.contains(home.body.body[-1], start.node) and not file.call_graph.callers(home)
