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
    Node,
    calls,
    integer,
    knowledge,
    limits,
    parameters,
    repetition,
    tracing,
    walk,
)

FEW_TRIALS = 8
FEW_NODES = 32
"""Iterations and nodes of a loop over a handful of values: a node of this kind takes a few KiB, all of them less than
the smallest batch."""

FEW_GRAPHS = 16
"""Numbers that are tried one after the other, with a graph for each: a graph of 100 nodes takes less than 1 MiB."""

MANY_NODES = 256
"""Nodes that small ops add, about 1 MiB."""
SMALL_OPS = ("keeps_shape", "elementwise_of_two", "computes_each_number", "reduces", "adds_one_node")
OPERATIONS = (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.Subscript)


class Growth(NamedTuple):
    """A loop, and what it adds to the graph each time, without the ops of loops inside it."""

    loop: Node
    ops: list[Node]


def _growths(file: File) -> Iterator[Growth]:
    seen: set[Node] = set()
    for loop in sorted(_graph_loops(file), key=lambda loop: -len(list(file.tree.ancestors(loop)))):
        ops = [op for op in tracing.ops_built(file, loop) if op not in seen and not _seldom(file, op, loop)]
        seen.update(ops)
        if ops and not any(shrugged(file, loop, ops) for shrugged in SHRUGGED):
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


def _only_initializes(file: File, loop: Node, ops: list[Node]) -> bool:
    """Whether each iteration adds one op that initializes variables, and there are not certainly many: a trial begins
    so, which takes longer than any number of these ops."""
    most = repetition.runs_at_most(file, loop, loop)
    return (most is None or most <= limits.SHORT_RUN) and all(_initializes(file, op) for op in ops)


def _initializes(file: File, op: Node) -> bool:
    call = file.call(op) if isinstance(op, cst.Call) else None
    if call is None:
        return False
    if call.name == "tf.group":
        return bool(call.node.args) and all(_initializes(file, arg.value) for arg in call.node.args)
    return knowledge.in_group(call.name, "initializes_variables")


def _tries_items(file: File, loop: Node, ops: list[Node]) -> bool:
    """Whether a loop that the whole program runs once computes something small of each of a few items: a polynomial of
    fifteen numbers. Epochs and steps, which are more when they are in earnest, compute nothing of their number."""
    most = repetition.runs_in_all(file, loop)
    times = repetition.runs_at_most(file, loop, loop)
    if most is None or times is None or most * times > limits.SHORT_RUN:
        return False
    each = [loop] if isinstance(loop, cst.For) else walk(loop, cst.CompFor)
    items = {name.value for one in each for name in walk(one.target, cst.Name)}
    nodes = [node for op in ops for node in walk(op) if isinstance(node, (cst.Call, *OPERATIONS))]
    computed = all(_is_small_op(file, node) for node in nodes)
    return computed and most * times * len(nodes) <= MANY_NODES and all(_is_of(file, loop, op, items) for op in ops)


def _tries_structures(file: File, loop: Node, ops: list[Node]) -> bool:
    """Whether a loop over a few numbers, which nothing is seen to run again, builds in a function a graph for each that
    differs by the number: as many clusters, or another filter. It cannot be built once before."""
    most = repetition.runs_at_most(file, loop, loop)
    each = [loop] if isinstance(loop, cst.For) else list(walk(loop, cst.CompFor))
    if most is None or most > FEW_GRAPHS or not each or repetition.repeats(file, loop) is not None:
        return False
    if any(file.tree.contains(loop, op) for op in ops) or not all(_counts(file, one.iter) for one in each):
        return False
    items = {name.value for one in each for name in walk(one.target, cst.Name)}
    for call in calls(file, loop):
        function = call.target.node if isinstance(call.target, Function) else None
        named = [each.name.value for each in parameters(function)] if function is not None else []
        passed = {name: call.arg(name) for name in named}
        by = {name for name, arg in passed.items() if arg is not None and _names(arg.expression, items)}
        if function is not None and any(_names(op, by) for op in ops if file.tree.contains(function, op)):
            return True
    return False


def _counts(file: File, iterated: cst.BaseExpression) -> bool:
    """Whether a loop certainly goes over numbers: `range(2, 10)`, `[3, 5, 7]`."""
    if isinstance(iterated, (cst.List, cst.Tuple)):
        return all(integer(file.value(each.value)) is not None for each in iterated.elements)
    return isinstance(iterated, cst.Call) and file.call(iterated).name == "builtins.range"


def _names(code: Node, names: set[str]) -> bool:
    return any(name.value in names for name in walk(code, cst.Name))


def _is_small_op(file: File, node: Node) -> bool:
    if not isinstance(node, cst.Call):
        return True
    name = file.call(node).name or ""
    return name.startswith("np.") or any(knowledge.in_group(name, group) for group in SMALL_OPS)


def _is_of(file: File, loop: Node, op: Node, items: set[str]) -> bool:
    """Whether an op is made of the loop's item, itself or in a function that is given the item."""
    if file.tree.contains(loop, op):
        return not items.isdisjoint(name.value for name in walk(op, cst.Name))
    given = (arg.value for call in calls(file, loop) if isinstance(call.target, Function) for arg in call.node.args)
    return any(not items.isdisjoint(name.value for name in walk(value, cst.Name)) for value in given)


def _over_layers(loop: repetition.Repetition) -> bool:
    return any(isinstance(n, cst.Attribute) and n.attr.value == "layers" for each in loop.each for n in walk(each.iter))


def _over_parts(file: File, loop: repetition.Repetition, runs: set[cst.Call]) -> bool:
    """Whether a loop over a few things sums what it makes of each: the parts of a loss, which are built once."""
    sums = [n.value for n in walk(loop.place, cst.AugAssign) if not isinstance(file.value(n.value), Const)]
    return loop.few(limits.FEW_STEPS) and any(not any(n in runs for n in walk(value)) for value in sums)


SHRUGGED = (_only_initializes, _tries_items, _tries_structures, _adds_little)

growths = Fact(_growths, "run", "eval", "function")
