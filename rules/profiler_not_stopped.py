from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Api, Call, File, Finding, Node, Rule, on_call, own_nodes, walk

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
        stops = list(file.calls(*ENDS[start.name or ""]))
        home = file.contexts.function(start.node)
        starting = {id(file.contexts.function(other.node)) for other in file.calls(start.name or "")}
        elsewhere = [stop for stop in stops if id(file.contexts.function(stop.node)) not in starting]
        here = [stop for stop in stops if file.contexts.function(stop.node) is home]
        if elsewhere and not here:
            return
        if any(self._matches(start, stop, file) for stop in here) or _handed_over(ENDS[start.name or ""], file):
            return
        if not stops and _starts_only(start, home, file):
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
            if isinstance(above, cst.Try) and not all(_ends(handler, stop, file) for handler in above.handlers):
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
        leaves = [n for n in own_nodes(home, cst.Return, cst.Raise) if first < file.tree.order(n) < last]
        return not all(isinstance(n, cst.Raise) and _caught(n, home, file) for n in leaves)


def _caught(statement: Node, home: Node, file: File) -> bool:
    """Whether an error may be caught before it leaves the function, or stands in a handler."""
    for above in file.tree.ancestors(statement):
        if above is home:
            return False
        if isinstance(above, (cst.Try, cst.ExceptHandler)):
            return True
    return False


def _ends(handler: cst.ExceptHandler, stop: Call, file: File) -> bool:
    """Whether a handler stops the profiler too, or lets the error go on; the stop may stand behind the `try`, too."""
    if file.tree.contains(handler, stop.node):
        return True
    calls = list(walk(handler, cst.Call))
    return any(file.call(n).name == stop.name for n in calls) or any(walk(handler, cst.Raise))


def _handed_over(stops: tuple[str, ...], file: File) -> bool:
    """Whether a stop is given away to be called later: `atexit.register(tf.profiler.experimental.stop)`."""
    words = {stop.rpartition(".")[2] for stop in stops}
    names = [n for word in words for n in file.loads(word)]
    references: list[Node] = [file.tree.parent(n) or n for n in names]
    given = [r for r in (*names, *references) if isinstance(file.tree.parent(r), cst.Arg)]
    return any(isinstance(file.value(r), Api) and file.value(r) in {Api(stop) for stop in stops} for r in given)


def _starts_only(start: Call, home: Node | None, file: File) -> bool:
    """Whether the function does nothing after the start, and is not called here: who calls it stops it."""
    if not isinstance(home, cst.FunctionDef) or not isinstance(home.body, cst.IndentedBlock):
        return False
    owner = file.class_of(home)
    if owner is not None and file.values.classes.derives(owner, "tf.keras.callbacks.Callback"):
        return False
    last = home.body.body[-1]
    if file.contexts.loop(start.node) is not None:
        return False  # the loop goes on
    return file.tree.contains(last, start.node) and not file.values.functions.callers(home)
