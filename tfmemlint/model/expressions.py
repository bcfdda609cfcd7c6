"""Values of literals, displays, operators and subscripts: the expressions whose value depends on their parts alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint.model import decided
from tfmemlint.model.functions import Frame
from tfmemlint.model.transfer.devices import chosen_devices
from tfmemlint.model.values import (
    BOTTOM,
    COMPREHENSION,
    LONGEST_TEXT,
    Array,
    Const,
    Function,
    Iterator,
    Length,
    Mapping,
    Sequence,
    Unknown,
    Value,
    number,
    one_of,
)
from tfmemlint.syntax.literals import whole_number

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator


ELEMENTWISE = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual, cst.Equal, cst.NotEqual)
"""Comparisons that arrays make element by element."""


def _subscript(evaluator: Evaluator, node: cst.Subscript, frame: Frame | None) -> Value:
    followed = evaluator.followed(node, frame)
    if followed is not None:
        return followed
    base = evaluator.value(node.value, frame)
    indices = [_index(evaluator, element.slice, frame) for element in node.slice]
    if isinstance(base, Unknown) and isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape":
        return Length(Unknown("something whose shape is not known")) if indices == [Const(0)] else base
    return base.subscript(indices)


def _index(evaluator: Evaluator, index: cst.BaseSlice, frame: Frame | None) -> Value | slice:
    if isinstance(index, cst.Index):
        return evaluator.value(index.value, frame)
    assert isinstance(index, cst.Slice)
    lower, upper = (evaluator.value(n, frame) if n is not None else Const(None) for n in (index.lower, index.upper))
    step = evaluator.value(index.step, frame) if index.step is not None else Const(None)
    return slice(lower, upper, step)


def _binary(evaluator: Evaluator, node: cst.BinaryOperation, frame: Frame | None) -> Value:
    left, right = evaluator.value(node.left, frame), evaluator.value(node.right, frame)
    return left.binary(type(node.operator).__name__, right)


def _comparison(evaluator: Evaluator, node: cst.Comparison, frame: Frame | None) -> Value:
    """`x > 0.5`: truth values of the shape of the arrays that are compared."""
    if len(node.comparisons) > 1 or not isinstance(node.comparisons[0].operator, ELEMENTWISE):
        return Unknown("a truth value")
    left = evaluator.value(node.left, frame)
    right = evaluator.value(node.comparisons[0].comparator, frame)
    return one_of(_compared(a, b) for a in left.options for b in right.options)


def _compared(left: Value, right: Value) -> Value:
    added = left.binary("Add", right) if Const(None) not in (left, right) else Unknown("compared with None")
    if not isinstance(added, Array):
        return BOTTOM if added is BOTTOM else Unknown("a truth value")
    return Array(added.library, "bool", added.shape)


def _unary(evaluator: Evaluator, node: cst.UnaryOperation, frame: Frame | None) -> Value:
    return evaluator.value(node.expression, frame).unary(type(node.operator).__name__)


def _boolean(evaluator: Evaluator, node: cst.BooleanOperation, frame: Frame | None) -> Value:
    left, right = evaluator.value(node.left, frame), evaluator.value(node.right, frame)
    if isinstance(left, Const):
        taken = left if bool(left.value) == isinstance(node.operator, cst.Or) else right
        return taken
    return one_of((left, right)) if left.known and right.known else Unknown("either side of and/or")


def _if_expression(evaluator: Evaluator, node: cst.IfExp, frame: Frame | None) -> Value:
    sure = decided.certain(evaluator, node.test, frame) if frame is not None else None
    if sure is not None:
        return evaluator.value(node.body if sure else node.orelse, frame)
    return one_of((evaluator.value(node.body, frame), evaluator.value(node.orelse, frame)))


def _display(evaluator: Evaluator, node: Any, frame: Frame | None) -> Value:
    items: list[Value] = []
    for element in node.elements:
        value = evaluator.value(element.value, frame)
        if not isinstance(element, cst.StarredElement):
            items.append(value)
        elif isinstance(value, Sequence) and not value.open:
            items += value.items
        else:
            return Sequence((), type(node).__name__.lower(), open=True)
    return Sequence(tuple(items), type(node).__name__.lower())


def _dict(evaluator: Evaluator, node: cst.Dict, frame: Frame | None) -> Value:
    items: dict[object, Value] = {}
    unsure = False
    for element in node.elements:
        value = evaluator.value(element.value, frame)
        key = evaluator.value(element.key, frame) if isinstance(element, cst.DictElement) else None
        if isinstance(key, Const):
            items[key.value] = value
        elif key is None and isinstance(value, Mapping):
            items.update(value.items)
            unsure = unsure or value.open
        else:
            items, unsure = {}, True  # it may stand for any of those before
    return Mapping(tuple(items.items()), unsure)


def _comprehension(evaluator: Evaluator, node: Any, frame: Frame | None) -> Value:
    item = evaluator.value(node.elt, frame)
    of = evaluator.value(node.for_in.iter, frame)
    chosen = chosen_devices(of, node) if isinstance(node, cst.ListComp) else None
    if node.for_in.inner_for_in is not None:
        of = Unknown("several loops in one comprehension")
    return chosen or Iterator(of, item, COMPREHENSION)


def _walrus(evaluator: Evaluator, node: cst.NamedExpr, frame: Frame | None) -> Value:
    return evaluator.value(node.value, frame)


def _lambda(evaluator: Evaluator, node: cst.Lambda, frame: Frame | None) -> Value:
    return Function(node, frame=frame)


def _ellipsis(evaluator: Evaluator, node: cst.Ellipsis, frame: Frame | None) -> Value:
    return Const(Ellipsis)


def _number(evaluator: Evaluator, node: cst.Integer | cst.Float | cst.Imaginary, frame: Frame | None) -> Value:
    found = whole_number(node) if isinstance(node, cst.Integer) else node.evaluated_value
    return number(found) if found is not None else Unknown("too large a number")


def _string(evaluator: Evaluator, node: cst.SimpleString | cst.ConcatenatedString, frame: Frame | None) -> Value:
    text = node.evaluated_value
    return Const(text) if text is not None else Unknown("a formatted string")


def _formatted(evaluator: Evaluator, node: cst.FormattedString, frame: Frame | None) -> Value:
    text = ""
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            text += part.value.replace("{{", "{").replace("}}", "}")
            continue
        assert isinstance(part, cst.FormattedStringExpression)
        value = evaluator.value(part.expression, frame)
        plain = part.format_spec is None and part.conversion is None
        if not isinstance(value, Const) or not plain or not isinstance(value.value, (str, int)):
            return Unknown("a formatted string")
        text += str(value.value)
        if len(text) > LONGEST_TEXT:
            return Unknown("too long a string")
    return Const(text)


EXPRESSIONS: dict[type, Callable[[Evaluator, Any, Frame | None], Value]] = {
    cst.Subscript: _subscript, cst.BinaryOperation: _binary, cst.UnaryOperation: _unary, cst.Comparison: _comparison,
    cst.BooleanOperation: _boolean, cst.IfExp: _if_expression, cst.Tuple: _display,
    cst.List: _display, cst.Set: _display, cst.Dict: _dict, cst.ListComp: _comprehension,
    cst.SetComp: _comprehension, cst.GeneratorExp: _comprehension, cst.NamedExpr: _walrus, cst.Lambda: _lambda,
    cst.Integer: _number, cst.Float: _number, cst.Imaginary: _number, cst.Ellipsis: _ellipsis,
    cst.FormattedString: _formatted, cst.SimpleString: _string, cst.ConcatenatedString: _string,
}  # fmt: skip
"""The value of an expression of each of these classes, in a frame."""
