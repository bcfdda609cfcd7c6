"""The parts of an index: `x[:, None, ..., 0]`."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from tfmemlint.syntax.scopes import dotted
from tfmemlint.verify.plan.sizes import ConflictError, Seen, Size


def is_free(index: cst.BaseExpression | None) -> bool:
    """Whether a part of an index makes a new axis."""
    name = dotted(index) if isinstance(index, (cst.Name, cst.Attribute)) else None
    return name is not None and name.rpartition(".")[2] in ("None", "newaxis")


def takes(each: cst.SubscriptElement) -> int:
    """Axes that a part of an index stands for."""
    index = each.slice.value if isinstance(each.slice, cst.Index) else None
    return 0 if isinstance(index, cst.Ellipsis) or is_free(index) else 1


def taken(node: cst.Subscript) -> int:
    """Axes that all parts of an index stand for."""
    return sum(map(takes, node.slice))


def dots(node: cst.Subscript) -> int:
    """Which part of an index is the ellipsis; one past the end where there is none."""
    found = (
        n
        for n, each in enumerate(node.slice)
        if isinstance(each.slice, cst.Index) and isinstance(each.slice.value, cst.Ellipsis)
    )
    return next(found, len(node.slice))


def item(value: tuple[Seen, ...], node: cst.Subscript, read: Callable[[cst.BaseExpression], Seen]) -> Seen:
    """What an index takes out of a tuple: one item, or a part of it; `read` says what an expression comes to.

    Raises ConflictError where the tuple has no such item.
    """
    first = node.slice[0].slice
    if isinstance(first, cst.Index):
        at = read(first.value)
        if not isinstance(at, Size) or at.number is None:
            return None
        if not -len(value) <= at.number < len(value):
            raise ConflictError
        return value[at.number]
    if not isinstance(first, cst.Slice) or first.step is not None:
        return None
    ends = (read(end) if end is not None else None for end in (first.lower, first.upper))
    lower, upper = (at.number if isinstance(at, Size) else None for at in ends)
    return value[lower:upper]
