"""How one use stores a value: the code that does it, and whether an attribute lets it go again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Const, Function
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.use import Use
from tfmemlint.syntax.names import home_of
from tfmemlint.syntax.scopes import dotted
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


def stands_beside_others(file: File, stored: Use) -> bool:
    """Whether a value is stored in a container, where others may be, too: not in a name or an attribute, nor as an item
    that each store replaces (`d["last"] = x`)."""
    if stored.place is None or not is_assigned(file, stored.place):
        return True
    return isinstance(stored.place, cst.Subscript) and dotted(stored.place) is None


def container_of(file: File, stored: Use) -> cst.BaseExpression | None:
    """The container that is there already when a value is stored in it: of `d[key] = x` it is `d`.

    The target itself where that is a name or an attribute; None for a comprehension, which makes a container.
    """
    place = stored.place
    if isinstance(place, cst.Subscript) and is_assigned(file, place):
        place = place.value
    return place if isinstance(place, cst.BaseExpression) and not isinstance(place, cst.BaseComp) else None


def begun_before(file: File, path: str, node: Node, within: Node) -> bool:
    """Whether each run of a function certainly assigns something else to an attribute before it comes to a node, in
    its own code or in a method of the object that it calls."""

    def comes_first(code: Node) -> bool:
        return file.tree.order(code) < file.tree.order(node) and file.contexts.function(code) is within

    assigned = file.assigned_paths.get(path, ())
    always = [each for each in assigned if not file.contexts.conditional(each, _home(file, each))]
    if any(comes_first(each) for each in always):
        return True
    called = [call for call in calls(file, within) if comes_first(call.node)]
    certain = (call for call in called if not file.contexts.conditional(call.node, within))
    reset = {target.node for call in certain if isinstance(target := call.target, Function)}
    return any(_home(file, each) in reset for each in always)


def _home(file: File, node: Node) -> Node:
    return file.contexts.function(node) or file.module


def only_binding(file: File, name: Node | None) -> Node | None:
    """What alone binds a name, in all of its scope; None where several places do, and for what is no name."""
    if not isinstance(name, cst.Name):
        return None
    found = file.flow(home_of(file, name)).bindings.get(name.value, ())
    return found[0].node if len(found) == 1 else None


def lets_go(file: File, attribute: cst.Attribute) -> bool:
    """Whether the file deletes an attribute of this name, or a function that is no `__init__` sets one to None.

    Of whichever object: False where the file certainly holds on to what the attribute was given, as far as it is seen.
    """
    return _lets_go(file, attribute.attr.value)


@once_per_file
def _lets_go(file: File, word: str) -> bool:
    named = (each for each in map(file.tree.parent, file.loads(word)) if isinstance(each, cst.Attribute))
    return any(_is_deleted(file, each) or _is_unset(file, each) for each in named if each.attr.value == word)


def _is_deleted(file: File, attribute: cst.Attribute) -> bool:
    return isinstance(file.tree.parent(attribute), cst.Del)


def _is_unset(file: File, attribute: cst.Attribute) -> bool:
    target, home = file.tree.parent(attribute), file.contexts.function(attribute)
    assign = file.tree.parent(target) if isinstance(target, cst.AssignTarget) else None
    begins = not isinstance(home, cst.FunctionDef) or home.name.value == "__init__"
    return isinstance(assign, cst.Assign) and not begins and file.value(assign.value) == Const(None)
