"""Where a gradient is used: by its name, by its place in a list, as the item of a loop."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._sparse import Sources

from tfmemlint.api import Binds, Call, Definition, File, Node, dotted, integer, written

WRAPS = frozenset({"builtins.zip", "builtins.enumerate", "builtins.list", "builtins.tuple", "builtins.reversed"})


def gradients_of(gradient: Call, sources: Sources, file: File) -> Iterator[Node]:
    """The places where a sparse gradient is used, in the order of the code."""
    if sources == "one":
        yield from _uses(gradient.node, file)
        return
    targets = _unpacked(gradient.node, file)
    for i, target in enumerate(targets):
        if isinstance(target, (cst.Name, cst.Attribute)) and not isinstance(sources, str) and i in sources:
            yield from _named(target, file)
    for use in _uses(gradient.node, file) if not targets else ():
        parent = file.tree.parent(use)
        if isinstance(parent, cst.Subscript) and parent.value is use and len(parent.slice) == 1:
            index = parent.slice[0].slice
            at = integer(file.value(index.value)) if isinstance(index, cst.Index) else None
            listed = at is not None and not isinstance(sources, str) and at in sources
            if listed or (isinstance(index, cst.Index) and _counts(index.value, file)):
                yield from _uses(parent, file)
        elif isinstance(sources, str) or len(sources) == 1:
            yield from _items(use, file)


def _counts(index: cst.BaseExpression, file: File) -> bool:
    """Whether an index is what a loop counts: all items of a list have their turn."""
    found = file.definitions(index) if isinstance(index, cst.Name) else ()
    return bool(found) and all(
        d.binds is Binds.ITEM
        and isinstance(d.value, cst.Call)
        and file.call(d.value).name in ("builtins.range", "builtins.enumerate")
        for d in found
    )


def _uses(node: Node, file: File) -> list[Node]:
    """The uses of an expression's value: itself, or those of the name that it is given."""
    assign = file.tree.parent(node)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or assign.value is not node:
        return [node]
    target = assign.targets[0].target
    return _named(target, file) if isinstance(target, (cst.Name, cst.Attribute)) else []


def _unpacked(node: Node, file: File) -> list[Node]:
    """The targets of `a, b = node`."""
    assign = file.tree.parent(node)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
    return [e.value for e in target.elements] if isinstance(target, (cst.Tuple, cst.List)) else []


def _named(target: cst.Name | cst.Attribute, file: File) -> list[Node]:
    name = dotted(target) or ""
    made = [d for d in file.flow(file.scope_of(target)).bindings.get(name, ()) if _binds(d, target, file)]
    return [use for d in made for use in file.uses_of(d)]


def _binds(d: Definition, target: Node, file: File) -> bool:
    return d.node is target or file.tree.contains(d.node, target)


def _items(use: Node, file: File) -> Iterator[Node]:
    """The uses of each gradient where a loop or comprehension runs over a list of them."""
    parent, below = file.tree.parent(use), use
    position: list[int] = []
    while isinstance(parent, cst.Arg) and isinstance(call := file.tree.parent(parent), cst.Call):
        name = file.call(call).name
        if name not in WRAPS:
            return
        if name == "builtins.zip":
            position.insert(0, list(call.args).index(parent))
        elif name == "builtins.enumerate":
            position.insert(0, 1)
        below, parent = call, file.tree.parent(call)
    if isinstance(parent, (cst.For, cst.CompFor)) and parent.iter is below:
        target: Node = parent.target
        for at in position:
            if not isinstance(target, (cst.Tuple, cst.List)) or at >= len(target.elements):
                return
            target = target.elements[at].value
        if isinstance(target, cst.Name):
            yield from _item_reads(target, parent, file)


def _item_reads(target: cst.Name, loop: cst.For | cst.CompFor, file: File) -> Iterator[Node]:
    for node in file.loads(target.value):
        if node is not target and any(
            file.tree.contains(d.node, target) or d.node is target for d in written(file.definitions(node))
        ):
            yield node
