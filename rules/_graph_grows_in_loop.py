"""Which loops add ops to the graph in each of many iterations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from tfmemlint.api import (
    Const,
    Fact,
    File,
    Function,
    Method,
    Node,
    calls,
    knowledge,
    limits,
    repetition,
    tracing,
    walk,
)

FEW_TRIALS = 8
FEW_NODES = 32
"""Iterations and nodes of a loop over a handful of values: a node of this kind takes a few KiB, all of them less than
the smallest batch."""


class Growth(NamedTuple):
    """A loop, and what it adds to the graph each time, without the ops of loops inside it."""

    loop: Node
    ops: list[Node]


def _growths(file: File) -> Iterator[Growth]:
    seen: set[Node] = set()
    for loop in sorted(_graph_loops(file), key=lambda loop: -len(list(file.tree.ancestors(loop)))):
        ops = [op for op in tracing.ops_built(file, loop) if op not in seen and not _seldom(file, op, loop)]
        seen.update(ops)
        if ops and not _initializes_trials(file, loop, ops) and not _adds_little(file, loop, ops):
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
            if tracing.over_devices(file, again):
                continue
            if not tracing.begins_graph(file, again.place) and not _over_layers(again):
                found[again.place] = None
    return list(found)


def _seldom(file: File, op: Node, loop: Node) -> bool:
    """Whether a condition lets an op be built a few times in all: `if step % 1000 == 0` in 5000 steps."""
    most = repetition.runs_at_most(file, op, loop) if file.tree.contains(loop, op) else None
    return most is not None and most <= limits.FEW_STEPS and most != repetition.runs_at_most(file, loop, loop)


def _adds_little(file: File, loop: Node, ops: list[Node]) -> bool:
    """Whether a loop of a handful of iterations, which nothing is seen to run again, adds only ops that are a node or
    two each: an assignment for each of seven values. Ten epochs are not meant, which are more when they are in earnest,
    nor ops that may bring a network or its derivatives."""
    most = repetition.runs_at_most(file, loop, loop)
    if most is None or most > FEW_TRIALS or most * len(ops) > FEW_NODES:
        return False
    names = [file.call(op).name if isinstance(op, cst.Call) else None for op in ops]
    if not all(knowledge.in_group(n, "adds_one_node") or knowledge.in_group(n, "initializes_variables") for n in names):
        return False
    return repetition.repeats(file, loop) is None


def _initializes_trials(file: File, loop: Node, ops: list[Node]) -> bool:
    """Whether a loop of a few trials is seen to add nothing but what initializes variables, behind code that is not
    seen and is given the trial: that makes the variables, so that none of it can stand before the loop."""
    most = repetition.runs_at_most(file, loop, loop)
    if not isinstance(loop, cst.For) or most is None or most > limits.FEW_STEPS:
        return False
    items = {n.value for n in walk(loop.target, cst.Name)}
    seen = ("tf.", "np.", "builtins.")
    others = (call for call in calls(file, loop.body) if not (call.name or "").startswith(seen))
    unseen = (call for call in others if not isinstance(call.target, (Function, Method)))
    given = (n.value for call in unseen for arg in call.node.args for n in walk(arg.value, cst.Name))
    names = [file.call(op).name if isinstance(op, cst.Call) else None for op in ops]
    return all(knowledge.in_group(name, "initializes_variables") for name in names) and not items.isdisjoint(given)


def _over_layers(loop: repetition.Repetition) -> bool:
    return any(isinstance(n, cst.Attribute) and n.attr.value == "layers" for each in loop.each for n in walk(each.iter))


def _over_parts(file: File, loop: repetition.Repetition, runs: set[cst.Call]) -> bool:
    """Whether a loop over a few things sums what it makes of each: the parts of a loss, which are built once."""
    sums = [n.value for n in walk(loop.place, cst.AugAssign) if not isinstance(file.value(n.value), Const)]
    return loop.few(limits.FEW_STEPS) and any(not any(n in runs for n in walk(value)) for value in sums)


growths = Fact(_growths, "run", "eval", "function")
