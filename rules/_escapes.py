"""Where an object leaves the function that makes it: into a container, an attribute, a global, a result."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Call, File, Instance, Node

STORES = frozenset({"append", "add", "extend", "insert", "setdefault", "put", "appendleft"})
HOLDS = (cst.Tuple, cst.List, cst.Element, cst.Dict, cst.DictElement)
RECORD = "types.SimpleNamespace"


def escape(use: cst.Name, file: File, depth: int = 2) -> tuple[Node | Call | None, str]:
    """What gives an object away that a name stands for, as a call or a statement, and into what; None where nothing
    does."""
    parent, held = file.tree.parent(use), False
    while parent is not None and (isinstance(parent, HOLDS) or _in_record(parent, file)):
        parent, held = file.tree.parent(parent), True
    if held and depth and isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Name):
        holder = file.definition(parent.targets[0].target)
        leaving = file.uses_of(holder) if holder is not None else []
        ways = (escape(leaf, file, depth - 1) for leaf in leaving)
        return next((way for way in ways if way[0] is not None), (None, ""))
    if isinstance(parent, cst.Arg):
        call = file.tree.parent(parent)
        if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value in STORES:
            return file.call(call), "a container"
        return None, ""
    if isinstance(parent, cst.Assign):
        if any(isinstance(t, (cst.Attribute, cst.Subscript)) for t in _targets(parent, use, file)):
            return parent, "an attribute or container"
        if any(is_global(t.target, file) for t in parent.targets):
            return parent, "a global"
    if isinstance(parent, cst.AugAssign) and not isinstance(file.tree.parent(use), cst.AugAssign):
        return parent, "a container"
    if isinstance(parent, cst.Return):
        return parent, "the function's result"
    if isinstance(parent, cst.Yield):
        return parent, "the generator's items"
    return None, ""


def _in_record(node: Node, file: File) -> bool:
    """Whether this is, or is an argument in, a call that makes a record or an object of a data class."""
    call = file.tree.parent(node) if isinstance(node, cst.Arg) else node
    made = file.value(call) if isinstance(call, cst.Call) else None
    if not isinstance(made, Instance):
        return False
    return made.type_name == RECORD or (made.class_node is not None and file.values.classes.is_data(made.class_node))


def _targets(assign: cst.Assign, use: cst.Name, file: File) -> list[cst.BaseExpression]:
    """Where an assignment puts what a name stands for: the targets, or the part of them that gets this part."""
    found: list[cst.BaseExpression] = []
    for target in (t.target for t in assign.targets):
        parts = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
        values = assign.value.elements if isinstance(assign.value, (cst.Tuple, cst.List)) else ()
        pairs = zip(parts, values, strict=False)
        found += [p.value for p, v in pairs if file.tree.contains(v, use)] if parts else [target]
    return found


def is_global(target: cst.BaseExpression, file: File) -> bool:
    if not isinstance(target, cst.Name) or file.contexts.function(target) is None:
        return False
    return any(d.node is target for d in file.global_writes.get(target.value, ()))
