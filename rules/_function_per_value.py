"""Traced functions that are made anew for another value, and methods that each object traces for itself."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._function_made_in_loop import sometimes

from tfmemlint.api import Call, Class, Does, File, Node, facts, knowledge, limits, repetition, uses, walk

TELLS = frozenset({"shape", "dtype", "ndim"})
"""Attributes of tensors that a traced function may ask for as well where the tensor is an argument."""


def values_closed_over(file: File, traced: facts.Wrapped) -> list[str]:
    """The numbers and tensors of which a loop makes one traced function each, called once; none where it is not certain
    that arguments would serve."""
    loop = file.contexts.loop(traced.made)
    again = next(repetition.repetitions(file, traced.made, calls=0), None)
    if loop is None or again is None or again.place is not loop or again.few(limits.FEW_RUNS):
        return []
    if traced.function is None or sometimes(file, traced.made, loop):
        return []
    used = list(uses(file, traced.made))
    if not used or any(each.does is not Does.CALL or file.contexts.loop(each.node) is not loop for each in used):
        return []
    names = repetition.bound_anew(file, traced.made, loop)
    return sorted(names) if names and all(_is_value(file, traced.function, name) for name in names) else []


def made_for_one_call(file: File, traced: facts.Wrapped) -> Call | None:
    """The call that makes an object in each iteration of which a traced method is called once, and nothing else."""
    owner = file.class_of(traced.made) if isinstance(traced.made, cst.FunctionDef) else None
    for node in file.tree.of(cst.Call) if owner is not None else ():
        made = file.call(node)
        if isinstance(made.target, Class) and made.target.node is owner and _serves_one_call(file, traced, made):
            return made
    return None


def _serves_one_call(file: File, traced: facts.Wrapped, made: Call) -> bool:
    again = next(repetition.repetitions(file, made.node, calls=0), None)
    if again is None or again.few(limits.FEW_RUNS) or sometimes(file, made.node, again.place):
        return False
    used, loop = list(uses(file, made.node)), file.contexts.loop(made.node)
    if loop is None or any(each.does is not Does.METHOD or file.contexts.loop(each.node) is not loop for each in used):
        return False
    return isinstance(traced.made, cst.FunctionDef) and [each.word for each in used] == [traced.made.name.value]


def _is_value(file: File, function: cst.FunctionDef | cst.Lambda, name: str) -> bool:
    """Whether a function only calculates with a name, takes items of it or gives it to TensorFlow."""
    read = [node for node in walk(function.body, cst.Name) if node.value == name]
    return bool(read) and all(_calculates(file, node) for node in read)


def _calculates(file: File, node: Node) -> bool:
    above = file.tree.parent(node)
    while isinstance(above, cst.Subscript) and above.value is node:
        node, above = above, file.tree.parent(above)
    if isinstance(above, cst.Attribute):
        return above.value is node and above.attr.value in TELLS
    if isinstance(above, cst.Arg):
        call = file.tree.parent(above)
        return isinstance(call, cst.Call) and knowledge.gives_tensor(file.call(call).name or "")
    return isinstance(above, (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.Return, cst.Lambda))
