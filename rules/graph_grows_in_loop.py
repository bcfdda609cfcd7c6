from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Const, Fact, File, Finding, Node, Rule, keras, limits, on, repetition, tracing, walk


def _session_loops(file: File) -> list[Node]:
    """What runs a session many times, in one graph: loops and comprehensions, also around a call of its function."""
    found: dict[Node, None] = {}
    for run in keras.session_runs(file):
        for again in repetition.repetitions(file, run.node):
            if not again.handler and not again.few(limits.FEW_RUNS) and not _over_parts(file, again):
                if not tracing.begins_graph(file, again.place):
                    found[again.place] = None
    return list(found)


def _over_parts(file: File, loop: repetition.Repetition) -> bool:
    """Whether a loop over a few things sums what it makes of each: the parts of a loss, which are built once."""
    runs = {run.node for run in keras.session_runs(file)}
    sums = [n.value for n in walk(loop.place, cst.AugAssign) if not isinstance(file.value(n.value), Const)]
    return loop.few(limits.FEW_STEPS) and any(not any(n in runs for n in walk(value)) for value in sums)


session_loops = Fact(_session_loops, "run", "eval")


class GraphGrowsInLoop(Rule):
    """
    ## What it does
    Reports ops that are built in a loop which runs a TensorFlow 1 session, directly or in a function that the loop
    calls.

    ## Why it costs memory
    Every iteration adds nodes to the default graph, and a graph only grows. Each new node also makes the session
    prepare the graph again: steps get slower and memory fills.

    ## When not to use it
    With a fresh graph in each iteration, which is not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/Graph#finalize
    """

    code = "TFM901"
    summary = "ops built in a session loop make the graph grow with every step"
    no_fix = "the op must become one with a placeholder"
    in_tests = False

    @on(session_loops)
    def check(self, loop: Node, file: File) -> Iterator[Finding]:
        for op in tracing.ops_built(file, loop):
            yield self.finding(
                file.call(op) if isinstance(op, cst.Call) else op,
                file,
                "this adds a node to the graph in every iteration of the session's loop; build it once, before",
                related=[(loop, "the loop")],
            )
