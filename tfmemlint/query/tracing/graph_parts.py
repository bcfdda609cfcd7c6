"""Loops that add to a graph for each of its parts: a layer, a variable, a term of a loss. There is one for each, and
none to be built before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Array, Const, Function, Value, integer
from tfmemlint.query.limits import FEW_STEPS
from tfmemlint.query.tracing.graphs import ops_built
from tfmemlint.syntax.names import names_any
from tfmemlint.syntax.tree import Node, called_word, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.query.repetition.repeats import Repetition

GIVES_PART = frozenset({"get_layer", "get_operation_by_name", "get_tensor_by_name", "get_variable"})
"""Words of calls that find a part of a graph by its name."""

RANGES = frozenset({"builtins.range", "np.arange", "np.linspace", "np.logspace", "np.geomspace"})
"""What gives numbers one after the other."""

OF_PARTS = frozenset({
    "assign", "assign_add", "assign_sub", "get_shape", "initializer", "input", "kernel", "op", "output", "weights",
})  # fmt: skip
"""Attributes of layers, variables and tensors of a graph that data does not have."""


def is_of_graph_parts(file: File, loop: Node, ops: list[Node]) -> bool:
    """Whether each iteration adds ops for another part of the graph that is there already: for the layer that a name
    finds, the variable that is the loop's item, or one of the scope that an item names. There is one for each, and none
    to be built before. Loops around such a one are asked by themselves."""
    if not isinstance(loop, cst.For) or not all(file.tree.contains(loop, op) for op in ops):
        return False
    items = {name.value for name in walk(loop.target, cst.Name)}
    parts = {n.value.value for n in walk(loop.body, cst.Attribute) if isinstance(n.value, cst.Name) and _marks_part(n)}
    outer = _names_of_scopes(file, loop)
    found = False
    for made in walk(loop.body, cst.Assign, cst.For):
        source = made.value if isinstance(made, cst.Assign) else made.iter
        gives = [each for each in walk(source, cst.Call) if called_word(each) in GIVES_PART]
        in_scope = any(_in_scope_of(file, each, items | outer) for each in gives)
        if in_scope or names_any(source, items):
            targets = [each.target for each in made.targets] if isinstance(made, cst.Assign) else [made.target]
            items |= {name.value for target in targets for name in walk(target, cst.Name)}
            found |= in_scope or any(names_any(each, items) for each in gives)
    return (found or bool(parts & items)) and all(names_any(op, items) for op in ops)


def _names_of_scopes(file: File, loop: cst.For) -> set[str]:
    """The items of loops around one that goes over what belongs to such an item: `for array in arrays[layer]:`."""
    if goes_over_numbers(file, loop.iter):
        return set()  # steps, as many as the layer asks for
    around = (each for each in file.contexts.loops(loop) if isinstance(each, cst.For))
    items = (name.value for each in around for name in walk(each.target, cst.Name))
    return {name for name in items if names_any(loop.iter, {name})}


def _in_scope_of(file: File, call: cst.Call, items: set[str]) -> bool:
    """Whether a call stands in a scope of variables that one of these items names."""
    scopes = (item.item for block in file.contexts.withs(call) for item in block.items)
    named = (each for each in scopes if isinstance(each, cst.Call) and names_any(each, items))
    return any(called_word(each) == "variable_scope" for each in named)


def _marks_part(node: cst.Attribute) -> bool:
    return node.attr.value in OF_PARTS


def is_of_items(loop: Repetition, made: Call) -> bool:
    """Whether each iteration makes a function of its own item, of a layer or one more output: there is one for each."""
    return any(names_any(arg.value, loop.items) for arg in made.node.args)


def over_graph_parts(file: File, loop: Repetition, runs: set[cst.Call]) -> bool:
    """Whether a loop over a few things sums or lists what it makes of each: the parts of a loss, which are built once.
    A sum of tensors is such a loss unless the loop is known to be long."""
    few, place = loop.few(FEW_STEPS), loop.place
    sums = [n.value for n in walk(place, cst.AugAssign) if not isinstance(file.value(n.value), Const)]
    if few and any(not any(n in runs for n in walk(value)) for value in sums):
        return True
    listed = [place.elt] if few and isinstance(place, (cst.ListComp, cst.GeneratorExp)) else []
    return (few or loop.count is None) and any(_is_part(file, value, runs) for value in (*sums, *listed))


def _is_part(file: File, node: cst.BaseExpression, runs: set[cst.Call]) -> bool:
    """Whether an expression is a tensor of the graph, or calculated with what a function makes that only builds ops."""
    value = file.value(node)
    if isinstance(value, Array) and value.library == "tf":
        return True
    for part in walk(node, cst.Name, cst.Call):
        made = file.written(part) if isinstance(part, cst.Name) else part
        target = file.call(made).target if isinstance(made, cst.Call) else None
        if isinstance(target, Function) and any(ops_built(file, target.node)):
            return not any(inner in runs for inner in walk(target.node))
    return False


def goes_over_numbers(file: File, iterated: cst.BaseExpression) -> bool:
    """Whether a loop certainly goes over numbers: `range(2, 10)`, `[3, 5, 7]`, `np.arange(0.5, 1.0, 0.05)`."""
    if isinstance(iterated, (cst.List, cst.Tuple)):
        return all(_is_number(file.value(each.value)) for each in iterated.elements)
    return isinstance(iterated, cst.Call) and file.call(iterated).name in RANGES


def _is_number(value: Value) -> bool:
    return integer(value) is not None or (isinstance(value, Const) and isinstance(value.value, float))
