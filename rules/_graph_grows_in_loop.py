"""Which loops add ops to the graph in each of many iterations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import libcst as cst

from tfmemlint.api import (
    Call,
    Const,
    Fact,
    File,
    Function,
    Node,
    calls,
    knowledge,
    limits,
    names_any,
    parameters,
    repetition,
    tracing,
    walk,
)

FEW_NODES = 32
"""Nodes that a short loop adds one by one: measured beside 30 layers, 32 assignments take 0.9 MiB with what the session
prepares anew for each."""

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
        built = tracing.ops_built(file, loop, leave_out=partial(_seldom, file, loop))
        ops = [op for op in built if op not in seen]
        if tracing.is_of_graph_parts(file, loop, ops):
            continue  # a loop around it makes all of them again
        seen.update(ops)
        if ops and not any(shrugged(file, loop, ops) for shrugged in SHRUGGED):
            yield Growth(loop, ops)


def _graph_loops(file: File) -> list[Node]:
    """What runs a graph, or makes functions that do, many times: loops and comprehensions, also around a call of its
    function."""
    found: dict[Node, None] = {}
    runs = [run for run in tracing.graph_runs(file) if not _sets_back(file, run)]
    nodes = {run.node for run in runs}
    for run in (*runs, *tracing.graph_functions(file)):
        for again in repetition.repetitions(file, run.node):
            if again.handler or again.few(limits.FEW_RUNS) or tracing.over_graph_parts(file, again, nodes):
                continue
            if tracing.over_devices(file, again) or (run not in runs and tracing.is_of_items(again, run)):
                continue
            if not tracing.begins_graph(file, again.place):
                found[again.place] = None
    return list(found)


def _sets_back(file: File, run: Call) -> bool:
    """Whether a run of a graph only initializes variables or tables, which no step does: a trial begins so, or a part
    of the graph that has just been built."""
    given = file.written(run.node.args[0].value) if run.node.args else None
    if isinstance(given, (cst.List, cst.Tuple)):
        return all(_initializes(file, file.written(each.value)) for each in given.elements)
    return given is not None and _initializes(file, given)


def _seldom(file: File, loop: Node, part: Node) -> bool:
    """Whether a condition lets part of a loop run in every n-th iteration only, and nothing says that these are many:
    `if step % 1000 == 0` in 20 000 steps, or in nobody knows how many."""
    among = repetition.once_in(file, part, loop) if file.tree.contains(loop, part) else 1
    most = repetition.runs_at_most(file, part, loop) if among != 1 else None
    return among is None or (among > 1 and (most is None or most <= limits.SHORT_RUN))


def _adds_little(file: File, loop: Node, ops: list[Node]) -> bool:
    """Whether a short loop, which nothing is seen to run again, adds only ops that are a node or two each: the rate of
    each of 20 epochs. Ops are not meant that may bring a network or its derivatives."""
    most = repetition.runs_at_most(file, loop, loop)
    if most is None or most * len(ops) > FEW_NODES:
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


def _copies_weights(file: File, loop: Node, ops: list[Node]) -> bool:
    """Whether each iteration makes a variable of a name of its own for something that is there already, as where the
    weights of another library are written to a checkpoint: there is one for each. Steps are none: they go on."""
    if not isinstance(loop, cst.For) or tracing.goes_over_numbers(file, loop.iter):
        return False
    made = (file.call(op) for op in ops if isinstance(op, cst.Call))
    names = [call.arg("name") or call.arg(0) for call in made if call.method == "get_variable"]
    return bool(names) and all(name is not None and not isinstance(name.value, Const) for name in names)


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
    if any(file.tree.contains(loop, op) for op in ops):
        return False
    if not all(tracing.goes_over_numbers(file, one.iter) for one in each):
        return False
    items = {name.value for one in each for name in walk(one.target, cst.Name)}
    for call in calls(file, loop):
        function = call.target.node if isinstance(call.target, Function) else None
        named = [each.name.value for each in parameters(function)] if function is not None else []
        passed = {name: call.arg(name) for name in named}
        by = {name for name, arg in passed.items() if arg is not None and names_any(arg.expression, items)}
        if function is not None and any(names_any(op, by) for op in ops if file.tree.contains(function, op)):
            return True
    return False


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


SHRUGGED = (_only_initializes, _copies_weights, _tries_items, _tries_structures, _adds_little)

growths = Fact(_growths, "run", "eval", "function")
