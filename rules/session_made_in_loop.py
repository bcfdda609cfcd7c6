from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Node, Rule, Shows, keras, limits, on, on_call, ordering, repetition


class SessionMadeInLoop(Rule):
    """
    ## What it does
    Reports TensorFlow 1 sessions that are made in a loop, and neither entered by `with` nor closed; an
    `InteractiveSession` also in a function that a loop calls.

    ## Why it costs memory
    A session holds its variables' memory and its own copy of the graph. An `InteractiveSession` makes itself the
    default session and is never freed: each iteration's variables stay. A plain session is freed when Python drops the
    last reference to it, at the next iteration, and each new one prepares the graph again.

    ## When not to use it
    With two or three sessions in all, of a loop over so many literals, which are not reported. Nor is a plain session
    that nothing holds, `tf.Session().run(x)` or `x.eval(session=tf.Session())`, or only a function's own name: it is
    freed at once or where the function returns (50 calls with 4 MiB of variables end with as much memory as they
    began), although preparing the graph anew takes time. Nor is a plain session where each round begins with an empty
    graph, by `reset_default_graph` or `clear_session`.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session
    """

    code = "TFM902"
    summary = "a session made in a loop and not closed keeps its variables and graph"
    no_fix = "whether the sessions can be one depends on their variables"
    in_tests = False

    @on_call(*keras.SESSIONS)
    @on(repetition.imported_calls(*keras.SESSIONS))
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        again = repetition.repeats(file, made.node)
        if again is None or again.few(limits.FEW_RUNS) or not keras.left_open(file, made, again):
            return
        if any(ordering.runs_once(file, node, place) or _once(file, place) for node, place in again.levels):
            return
        interactive = made.name in keras.INTERACTIVE
        if not interactive and (again.calls or keras.clears(file, again.place)):
            return  # freed where its function returns, or in the next round, with the graph that it ran
        cost = "its variables and graph stay until Python drops the last reference to it"
        if interactive:
            cost = "it stays the default session, with its variables and graph"
        place = again.in_file
        if isinstance(place, cst.Call):
            yield self.finding(
                file.call(place),
                file,
                f"each iteration makes a session that is never closed: {cost}",
                related=[(again.place, "the loop"), *([] if place is made.node else [(made, "made here")])],
                shows=Shows(metric="rss_slope"),
            )


def _once(file: File, place: Node) -> bool:
    """Whether a function makes an object that keeps the session, or gives one at a time."""
    return isinstance(place, cst.FunctionDef) and (place.name.value == "__init__" or file.yields(place))
