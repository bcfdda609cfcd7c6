"""NumPy arrays that a function reads from around it: where it is traced, each becomes a constant of its graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array
from tfmemlint.syntax.names import home_of
from tfmemlint.syntax.scopes import dotted, own_nodes, parameters, written
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File

DESCRIBES = frozenset({"shape", "dtype", "size", "ndim", "nbytes", "itemsize"})
"""Attributes that say something about an array, and are no part of a graph."""


@dataclass(frozen=True, slots=True)
class Capture:
    """An array that a function reads from outside: the first place `node` where it does, the dotted `path` that is
    written there, and `made`, the target that it was assigned to last; None where that is not one place."""

    node: cst.BaseExpression
    path: str
    array: Array
    made: Node | None


def captured_arrays(
    file: File, function: cst.FunctionDef | cst.Lambda, *, defaults: bool = False
) -> Iterator[Capture]:
    """The arrays that a function certainly reads from around it, each once: by names, attributes, and items of a
    dictionary with constant keys. `defaults`: of its parameters, too, which a library leaves as they are.

    Not those of which it only asks shape, dtype or length.
    """
    seen: set[str] = set()
    given = [p.default for p in parameters(function) if p.default is not None] if defaults else []
    for node in (*given, *own_nodes(function, cst.Name, cst.Attribute, cst.Subscript)):
        path = dotted(node)
        if path is None or path in seen or (node not in given and not _is_outer(file, function, node, path)):
            continue
        array = file.value(node)
        if isinstance(array, Array) and array.library == "np" and not _described(file, node):
            seen.add(path)
            yield Capture(node, path, array, _made(file, node, path))


def _is_outer(file: File, function: cst.FunctionDef | cst.Lambda, node: Node, path: str) -> bool:
    """Whether what a path stands for is bound outside of the function: of its own names only attributes of `self`."""
    parent, bindings = file.tree.parent(node), file.flow(function).bindings
    if path in bindings or (isinstance(parent, cst.Attribute) and parent.attr is node):
        return False
    if isinstance(parent, cst.Arg) and parent.keyword is node:
        return False
    return path.partition(".")[0].partition("[")[0] not in bindings or path.startswith("self.")


def _described(file: File, node: Node) -> bool:
    parent = file.tree.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value in DESCRIBES
    call = file.tree.parent(parent) if isinstance(parent, cst.Arg) else None
    return isinstance(call, cst.Call) and knowledge.in_group(file.call(call).name, "reads_shape")


def _made(file: File, node: Node, path: str) -> Node | None:
    if isinstance(node, cst.Attribute):
        assigned = [t.target for each in file.assigned_paths.get(path, ()) for t in each.targets]
        return assigned[0] if len(assigned) == 1 else None
    home = home_of(file, node) if isinstance(node, cst.Name) else file.module
    if isinstance(node, cst.Name) and file.scope_of(node) is home:
        last = written(file.definitions(node))
    else:
        last = written(file.flow(home).end.get(path, ()))
    return last[0].node if len(last) == 1 else None
