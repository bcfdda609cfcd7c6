"""The statements that build a pipeline."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Call, Dataset, File, Node


def _chain_end(call: Call, file: File) -> cst.Call:
    """The whole chain of methods that starts with this call, or the call alone."""
    node = call.node
    while True:
        attribute = file.tree.parent(node)
        above = file.tree.parent(attribute) if isinstance(attribute, cst.Attribute) else None
        if not isinstance(above, cst.Call) or above.func is not attribute:
            return node
        node = above


def pipeline_parts(source: Call, within: Node, file: File, derived: bool = True) -> list[Node]:
    """The chain that starts at a source, and those that carry it on: `ds = ds.batch(32)` and, with `derived`, those
    under other names, `batches = ds.batch(32)`."""
    end = _chain_end(source, file)
    parts: list[Node] = [end]
    assign = file.tree.parent(end)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    if not isinstance(target, cst.Name):
        return parts
    bindings = file.flow(file.scope_of(end)).bindings
    waiting = [target.value]
    followed: set[str] = set()
    while waiting:
        name = waiting.pop()
        followed.add(name)
        for d in (d for made in bindings.values() for d in made):
            value = d.value
            if value is None or any(value is part for part in parts) or not file.tree.contains(within, d.node):
                continue
            if not _starts_with(value, name):
                continue
            if d.name == name or (derived and isinstance(file.value(value), Dataset)):
                parts.append(value)
                if d.name not in followed:
                    waiting.append(d.name)
    return parts


def _starts_with(node: Node, name: str) -> bool:
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
    return isinstance(node, cst.Name) and node.value == name
