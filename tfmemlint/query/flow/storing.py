"""How one use stores a value: the code that does it, and whether an attribute lets it go again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Const
from tfmemlint.query.flow.use import Use
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


def storing_code(file: File, stored: Use) -> Call | Node:
    """The code to point at where a value is stored: the call that is given it, or the assignment. The expression that
    stands for the value itself where a comprehension collects it or `with` binds it."""
    if stored.call is not None:
        return stored.call
    if isinstance(stored.place, cst.BaseComp):
        return stored.node
    assignments = (cst.Assign, cst.AugAssign, cst.AnnAssign)
    return next((a for a in file.tree.ancestors(stored.node) if isinstance(a, assignments)), stored.node)


def is_assigned(file: File, place: Node) -> bool:
    """Whether an expression is the target of a plain assignment."""
    return isinstance(file.tree.parent(place), cst.AssignTarget)


def lets_go(file: File, attribute: cst.Attribute) -> bool:
    """Whether the file deletes an attribute of this name, or a function that is no `__init__` sets one to None.

    Of whichever object: False where the file certainly holds on to what the attribute was given, as far as it is seen.
    """
    named = (each for each in file.tree.of(cst.Attribute) if each.attr.value == attribute.attr.value)
    return any(_is_deleted(file, each) or _is_unset(file, each) for each in named)


def _is_deleted(file: File, attribute: cst.Attribute) -> bool:
    return isinstance(file.tree.parent(attribute), cst.Del)


def _is_unset(file: File, attribute: cst.Attribute) -> bool:
    target, home = file.tree.parent(attribute), file.contexts.function(attribute)
    assign = file.tree.parent(target) if isinstance(target, cst.AssignTarget) else None
    begins = not isinstance(home, cst.FunctionDef) or home.name.value == "__init__"
    return isinstance(assign, cst.Assign) and not begins and file.value(assign.value) == Const(None)
