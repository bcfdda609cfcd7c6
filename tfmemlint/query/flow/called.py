"""What code calls a value: words that say what a number is meant to be, and comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Const
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.scopes import parameters

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


def called(file: File, expression: cst.BaseExpression, *, through: int = FOLLOWED_CALLS) -> list[str]:
    """The names of a value where it is used: of a name, attribute or constant key itself, and of a parameter also what
    the callers call what they pass, so many calls out.

    Nothing for arithmetic and calls, whose result is another value than the names in them stand for.
    """
    if isinstance(expression, cst.Subscript) and isinstance(expression.slice[0].slice, cst.Index):
        key = file.value(expression.slice[0].slice.value)
        return [key.value] if isinstance(key, Const) and isinstance(key.value, str) else []
    if isinstance(expression, cst.Attribute):
        return [expression.attr.value]
    if not isinstance(expression, cst.Name):
        return []
    name, function = expression.value, file.contexts.function(expression)
    taken = function is not None and any(param.name.value == name for param in parameters(function))
    callers = file.call_graph.callers(function) if function is not None and taken and through else ()
    given = [argument.expression for call in callers or () if (argument := call.arg(name)) is not None]
    return [name, *(word for each in given for word in called(file, each, through=through - 1))]


def factors(file: File, expression: cst.BaseExpression) -> list[str] | None:
    """What the two sides of a product are called; None for what is no product."""
    if not isinstance(expression, cst.BinaryOperation) or not isinstance(expression.operator, cst.Multiply):
        return None
    return [*called(file, expression.left, through=0), *called(file, expression.right, through=0)]


def comments_at(file: File, call: Call) -> str:
    """The code of a call from the line of its name to its last, with the comments there, and with the lines above as
    long as they are comments."""
    text, start = file.source.text, file.source.line_span(file.span(call.name_node).start).start
    end = file.source.line_span(file.span(call.node).end).end
    while start > 0:
        above = file.source.line_span(start - 1)
        if not text[above.start : start].lstrip().startswith("#"):
            break
        start = above.start
    return text[start:end]
