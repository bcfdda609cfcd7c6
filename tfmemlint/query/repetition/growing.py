"""Lists and dictionaries that get longer, or other numbers, in a loop around."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Array, Const, Sequence
from tfmemlint.syntax.scopes import Binds, dotted
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File

ADDS = frozenset({"append", "extend", "insert", "add", "update"})
ADDS_SEVERAL = frozenset({"extend", "update"})
MAKERS = frozenset({"builtins.list", "builtins.dict", "collections.deque"})


def grows(
    file: File, container: cst.Name | cst.Attribute, holds: Callable[[cst.BaseExpression], bool] | None = None
) -> bool:
    """Whether a list or dictionary that is made before a loop certainly gets longer in it, or other numbers.

    Asked is about the loops around this use of it; False also where it is not known what it is. With `holds` only what
    that says of the items which are added one by one counts.
    """
    made, path = file.only_definition(container), dotted(container)
    if made is None or made.binds is not Binds.VALUE:
        return False
    called = file.call(made.value).name if isinstance(made.value, cst.Call) else None
    if not isinstance(made.value, (cst.List, cst.Dict)) and called not in MAKERS:
        return False
    loops = (loop for loop in file.contexts.loops(container) if not file.tree.contains(loop, made.node))
    return any(_adds(file, node, path, holds or _any) for loop in loops for node in walk(loop.body))


def _any(item: cst.BaseExpression) -> bool:
    return True


def _adds(file: File, node: Node, path: str | None, holds: Callable[[cst.BaseExpression], bool]) -> bool:
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        word, items = node.func.attr.value, [arg.value for arg in node.args]
        return word in ADDS and dotted(node.func.value) == path and (word in ADDS_SEVERAL or all(map(holds, items)))
    if isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Subscript):
        if dotted(node.target.value) != path:
            return False
        held = file.value(node.target.value)
        if isinstance(held, Sequence):
            assign = file.tree.parent(node)
            return isinstance(assign, cst.Assign) and _from_own(file, assign.value, node.target.value, held)
        return not isinstance(held, Array)
    if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Subscript):
        return dotted(node.target.value) == path and isinstance(file.value(node.target), Const)
    return False


def _from_own(file: File, value: cst.BaseExpression, container: cst.BaseExpression, held: Sequence) -> bool:
    """Whether what replaces a number of a list is calculated from the list: `rates[0] = rates[0] * 0.9`."""
    if not isinstance(value, cst.BinaryOperation) or not all(isinstance(item, Const) for item in held.items):
        return False
    sides = (value.left, value.right)
    own = [side for side in sides if isinstance(side, cst.Subscript) and dotted(side.value) == dotted(container)]
    return len(own) == 1 and all(side in own or isinstance(file.value(side), Const) for side in sides)
