from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from tfmemlint.api import Const, Fact, File, Finding, Node, Rule, limits, on, repetition, tracing, walk


class Growth(NamedTuple):
    """A loop, and what it adds to the graph each time, without the ops of loops inside it."""

    loop: Node
    ops: list[Node]


def _growths(file: File) -> Iterator[Growth]:
    seen: set[Node] = set()
    for loop in sorted(_graph_loops(file), key=lambda loop: -len(list(file.tree.ancestors(loop)))):
        ops = [op for op in tracing.ops_built(file, loop) if op not in seen]
        seen.update(ops)
        if ops:
            yield Growth(loop, ops)


def _graph_loops(file: File) -> list[Node]:
    """What runs a graph, or makes functions that do, many times: loops and comprehensions, also around a call of its
    function. Layers, of which each has its own ops, are no such loops."""
    found: dict[Node, None] = {}
    runs = tracing.graph_runs(file)
    for run in (*runs, *tracing.graph_functions(file)):
        for again in repetition.repetitions(file, run.node):
            if again.handler or again.few(limits.FEW_RUNS) or _over_parts(file, again, {each.node for each in runs}):
                continue
            if not tracing.begins_graph(file, again.place) and not _over_layers(again):
                found[again.place] = None
    return list(found)


def _over_layers(loop: repetition.Repetition) -> bool:
    return any(isinstance(n, cst.Attribute) and n.attr.value == "layers" for each in loop.each for n in walk(each.iter))


def _over_parts(file: File, loop: repetition.Repetition, runs: set[cst.Call]) -> bool:
    """Whether a loop over a few things sums what it makes of each: the parts of a loss, which are built once."""
    sums = [n.value for n in walk(loop.place, cst.AugAssign) if not isinstance(file.value(n.value), Const)]
    return loop.few(limits.FEW_STEPS) and any(not any(n in runs for n in walk(value)) for value in sums)


growths = Fact(_growths, "run", "eval", "function")


class GraphGrowsInLoop(Rule):
    """
    ## What it does
    Reports ops that are built in a loop which runs a TensorFlow 1 session, or calls `K.function` in a program with one
    graph, directly or in a function that the loop calls. A loop is reported once, at the first op.

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

    @on(growths)
    def check(self, growth: Growth, file: File) -> Iterator[Finding]:
        first, *others = [file.call(op) if isinstance(op, cst.Call) else op for op in growth.ops]
        yield self.finding(
            first,
            file,
            "this adds a node to the graph in every iteration of the loop; build it once, before",
            related=[(growth.loop, "the loop"), *((op, "this adds one, too") for op in others)],
        )
