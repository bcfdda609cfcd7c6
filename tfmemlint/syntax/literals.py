"""Literals as the source writes them."""

from __future__ import annotations

import libcst as cst

from tfmemlint.syntax.numbers import bounded

_LONGEST = 100
"""Characters of a whole number that is looked at; Python refuses to read one of many thousand digits."""


def whole_number(node: cst.Integer) -> int | None:
    """The value of a literal, None where it is beyond all that can be counted."""
    if len(node.value) > _LONGEST:
        return None
    try:
        return bounded(int(node.value, 0))  # as Python reads it; libcst would have it parsed
    except ValueError:
        return None


def texts(node: cst.BaseExpression) -> list[str] | None:
    """The texts in a display of nothing else, `["a", "b"]`; None for any other expression."""
    if not isinstance(node, (cst.List, cst.Tuple)):
        return None
    values = [each.value.evaluated_value for each in node.elements if isinstance(each.value, cst.SimpleString)]
    return [str(value) for value in values] if len(values) == len(node.elements) else None
