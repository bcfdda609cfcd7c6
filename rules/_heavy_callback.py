"""What code puts into containers, and what keeps them from growing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Call, File, Node, dotted, walk

ADDS = frozenset({"append", "appendleft", "extend", "insert", "add"})
TRIMS = frozenset({"pop", "popleft", "popitem", "clear"})


@dataclass(frozen=True, slots=True)
class Addition:
    """`item` is added to `container` by the statement or call at `where`."""

    where: Node | Call
    container: cst.BaseExpression
    item: cst.BaseExpression


def additions(file: File, body: Node) -> Iterator[Addition]:
    """What code adds to containers: `c.append(x)`, `c[k] = x` with a key that may change, `c += [x]`.

    By the words alone: what is called so may be something else than a container.
    """
    for node in walk(body, cst.Call, cst.Assign, cst.AugAssign):
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Attribute) and node.args and node.func.attr.value in ADDS:
                yield Addition(file.call(node), node.func.value, node.args[-1].value)
        elif isinstance(node, cst.AugAssign):
            if isinstance(node.operator, cst.AddAssign):
                yield Addition(node, node.target, node.value)
        elif isinstance(target := node.targets[0].target, cst.Subscript):
            index = target.slice[0].slice
            if not (isinstance(index, cst.Index) and isinstance(index.value, (cst.SimpleString, cst.Integer))):
                yield Addition(node, target.value, node.value)


def is_trimmed(body: Node, container: str) -> bool:
    """Whether code takes things out of a container (a dotted name) again, or starts it anew."""
    calls = (node.func for node in walk(body, cst.Call))
    emptied = (func.value for func in calls if isinstance(func, cst.Attribute) and func.attr.value in TRIMS)
    if any(dotted(each) == container for each in emptied):
        return True
    for node in walk(body, cst.AssignTarget, cst.Del):
        target: Node = node.target
        if isinstance(target, cst.Subscript) and isinstance(node, cst.Del):
            target = target.value  # `del c[0]`
        elif isinstance(target, cst.Subscript):
            continue
        if dotted(target) == container:
            return True
    return False


def is_bounded(body: Node, container: str) -> bool:
    """Whether code makes a container (a dotted name) as `deque(maxlen=...)`."""
    for node in walk(body, cst.Assign):
        if isinstance(node.value, cst.Call) and any(dotted(each.target) == container for each in node.targets):
            if any(arg.keyword is not None and arg.keyword.value == "maxlen" for arg in node.value.args):
                return True
    return False
