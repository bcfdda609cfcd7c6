"""Histories that are put into containers, and storing their numbers instead."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Binds, Edit, File, Fix, Node, Safety, append_method, written


@dataclass(frozen=True, slots=True)
class Stored:
    """A History `item` that the node `where` puts into `container` (None: into what a comprehension makes)."""

    where: Node
    container: cst.BaseExpression | None
    item: cst.BaseExpression


def store_numbers(stored: Stored, file: File) -> Fix | None:
    """Store `.history`, and drop it where items of the container are read."""
    name = _container(stored, file)
    if (
        name is None
        or isinstance(file.tree.parent(stored.item), (cst.Element, cst.DictElement))
        or _named(stored, file)
    ):
        return None
    edits = [append_method(file, stored.item, ".history")]
    for use in file.loads(name.value):
        if file.tree.contains(file.tree.statement(stored.where), use) or _owner(use, file) is not _owner(name, file):
            continue
        reads = _reads(use, file)
        if reads is None:
            return None
        edits += reads
    return Fix("store the numbers", tuple(sorted(edits)), Safety.SAFE)


def _named(stored: Stored, file: File) -> bool:
    """Whether the History is an argument of `dict(...)`."""
    arg = file.tree.parent(stored.item)
    return isinstance(arg, cst.Arg) and arg.keyword is not None


def _owner(name: cst.Name, file: File) -> Node:
    """The scope whose variable a name is."""
    scope = file.scope_of(name)
    while name.value not in file.flow(scope).bindings and scope is not file.module:
        scope = file.scope_of(scope)
    return scope


def _container(stored: Stored, file: File) -> cst.Name | None:
    if isinstance(stored.container, cst.Name):
        return stored.container
    assign = file.tree.parent(stored.where) if stored.container is None else None
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    return target if isinstance(target, cst.Name) else None


def _reads(use: cst.Name, file: File) -> list[Edit] | None:
    """Edits that drop `.history` from the uses of one item; None where anything else of it is used."""
    over, path = _iterated(use, file)
    parent = file.tree.parent(over)
    if isinstance(parent, cst.Subscript) and parent.value is use:
        edit = _drop(parent, file)
        return [edit] if edit is not None else None
    if not isinstance(parent, (cst.For, cst.CompFor)) or parent.iter is not over:
        return None
    target: Node = parent.target
    for index in path:
        if not isinstance(target, (cst.Tuple, cst.List)) or index >= len(target.elements):
            return None
        target = target.elements[index].value
    if not isinstance(target, cst.Name):
        return None
    scope = file.scope_of(target)
    found = file.flow(scope).uses
    uses = [
        n
        for n in file.loads(target.value)
        if any(d.node is target and d.binds is Binds.ITEM for d in written(found.get(id(n), ())))
    ]
    edits = [_drop(n, file) for n in uses]
    return [e for e in edits if e is not None] if None not in edits and edits else None


def _iterated(use: cst.Name, file: File) -> tuple[Node, tuple[int, ...]]:
    """The expression that a loop goes over to reach the items of a container, and where in its items they are."""
    parent = file.tree.parent(use)
    call = file.tree.parent(parent) if parent is not None else None
    if isinstance(parent, cst.Attribute) and isinstance(call, cst.Call) and not call.args:
        return {"items": (call, (1,)), "values": (call, ())}.get(parent.attr.value, (use, ()))
    if isinstance(parent, cst.Arg) and isinstance(call, cst.Call) and isinstance(call.func, cst.Name):
        if call.func.value == "enumerate":
            return call, (1,)
        if call.func.value == "zip":
            return call, (call.args.index(parent),)
    return use, ()


def _drop(item: Node, file: File) -> Edit | None:
    attribute = file.tree.parent(item)
    if not isinstance(attribute, cst.Attribute) or attribute.value is not item or attribute.attr.value != "history":
        return None
    return Edit(file.span(item).end, file.span(attribute).end, "")
