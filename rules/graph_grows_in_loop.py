from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._graph_grows_in_loop import Growth, growths

from tfmemlint.api import File, Finding, Rule, on


class GraphGrowsInLoop(Rule):
    """
    ## What it does
    Reports ops that are built in a loop which runs a TensorFlow 1 session, or calls `K.function` in a program with one
    graph, directly or in a function that the loop calls. A loop is reported once, at the first op.

    ## Why it costs memory
    Every iteration adds nodes to the default graph, and a graph only grows. Each new node also makes the session
    prepare the graph again: steps get slower and memory fills.

    ## When not to use it
    With a fresh graph in each iteration, which is not reported. Nor are trials that begin with one op which sets the
    variables back, loops that run nothing but such ops, loops over up to 32 items, once, that compute a few numbers of
    each, loops that add up to 32 single nodes in all, what a condition lets into every n-th iteration unless these are
    known to be more than 32, graphs for each of up to 16 numbers by which they differ, such as numbers of clusters or
    thresholds, and loops over parts of the graph: layers and variables, of which each gets ops of its own.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/Graph#finalize
    """

    code = "TFM901"
    summary = "ops built in a session loop make the graph grow with every step"
    no_fix = "the op must become one with a placeholder"
    in_tests = False

    @on(growths)
    def check(self, growth: Growth, file: File) -> Iterator[Finding]:
        here = sorted(growth.ops, key=lambda op: not file.tree.contains(file.module, op))  # the first op of this file
        first, *others = [file.call(op) if isinstance(op, cst.Call) else op for op in here]
        yield self.finding(
            first,
            file,
            "this adds a node to the graph in every iteration of the loop; build it once, before",
            related=[(growth.loop, "the loop"), *((op, "this adds one, too") for op in others)],
        )
