"""Element-wise operations on all pairs of rows: `x[:, None, :] - y[None, :, :]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.transfer.table import shape_of
from tfmemlint.model.values import Array, Const, Length, Sequence, Shape, integer
from tfmemlint.query.tensors.tensors import inserted_axes

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

FOLLOWED_OPS = 8
"""Ops behind each other that are seen through: a distance is a square, a root and a factor of a difference or two."""

SUBTRACTS = frozenset({"subtract", "squared_difference"})
PAIRED = SUBTRACTS | {
    "multiply", "add", "equal", "not_equal", "less", "greater", "less_equal", "greater_equal", "maximum", "minimum",
}  # fmt: skip
"""The words of ops that are computed for pairs."""

BACKEND = "tf.keras.backend."
EACH_NUMBER = ("elementwise_of_two", "keeps_shape", "keeps_values")
"""Groups of ops of which the result has as many numbers as what they are given."""

SQUARES = frozenset({"square", "pow", "power"})
SIGNS = frozenset({"abs", "negative"})
"""The words of ops that change no more than signs: what is a matrix product stays one, or one of absolute values."""

LISTS = frozenset({"tf.stack", "tf.convert_to_tensor"})


@dataclass(frozen=True, slots=True)
class Pairs:
    """An operation on all pairs: its expression, and whether a matrix product gives what a sum leaves of it."""

    node: cst.BaseExpression
    product: bool


def all_pairs(file: File, node: cst.BaseExpression, axis: int, *, squared: bool = False) -> Pairs | None:
    """The operation on all pairs that an expression is computed from, element by element, where `axis` is the axis of
    the features; `squared` says that squares of the numbers are asked for.

    None where none is seen: both operands must show the axes that they insert, or have known shapes.
    """
    return _pairs(file, node, axis, squared, FOLLOWED_OPS)


def _pairs(file: File, node: cst.BaseExpression, axis: int, squared: bool, left: int) -> Pairs | None:
    node = file.written(node)
    if left == 0:
        return None
    if isinstance(node, cst.BinaryOperation):
        return _of_operator(file, node, axis, squared, left)
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        crossed = _crossed(file, node.left, node.comparisons[0].comparator, axis, strict=True)
        return Pairs(node, False) if crossed else None
    return _of_call(file, file.call(node), axis, squared, left) if isinstance(node, cst.Call) and node.args else None


def _of_operator(file: File, node: cst.BinaryOperation, axis: int, squared: bool, left: int) -> Pairs | None:
    subtracts, multiplies = isinstance(node.operator, cst.Subtract), isinstance(node.operator, cst.Multiply)
    if isinstance(node.operator, cst.Power):
        return _pairs(file, node.left, axis, True, left - 1)
    if _crossed(file, node.left, node.right, axis, strict=not subtracts):
        return Pairs(node, multiplies or (squared and subtracts))
    both = file.text(node.left) == file.text(node.right)
    sides = [side for side in (node.left, node.right) if not isinstance(file.value(side), (Const, Length))]
    found = (_pairs(file, side, axis, squared or (both and multiplies), left - 1) for side in sides)
    pairs = next((each for each in found if each is not None), None)
    weighted = len(sides) == 2 and not both  # by another tensor, for which no matrix product allows
    return Pairs(pairs.node, False) if pairs is not None and weighted else pairs


def _of_call(file: File, call: Call, axis: int, squared: bool, left: int) -> Pairs | None:
    word, arguments = (call.name or "").rpartition(".")[2], [arg.value for arg in call.node.args]
    of_two = knowledge.in_group(call.name, "elementwise_of_two")
    if of_two and word in PAIRED and len(arguments) >= 2:
        if not _crossed(file, arguments[0], arguments[1], axis, strict=word not in SUBTRACTS):
            return None
        product = word in ("multiply", "squared_difference") or (squared and word == "subtract")
        return Pairs(call.node, product)
    squares = (of_two and word in SQUARES) or word == "square"
    backend = (call.name or "").startswith(BACKEND)
    if not (squares or backend or knowledge.in_group(call.name, "keeps_shape")):
        return None
    found = _pairs(file, arguments[0], axis, squared or squares, left - 1)
    bends = not squares and word not in SIGNS and not knowledge.in_group(call.name, "keeps_values")
    return Pairs(found.node, False) if found is not None and bends else found


def seen_through(call: Call) -> bool:
    """Whether an op is computed number by number, so that its result is as large as what it is given."""
    name = call.name or ""
    return name.startswith(BACKEND) or any(knowledge.in_group(name, group) for group in EACH_NUMBER)


def _crossed(file: File, left: cst.BaseExpression, right: cst.BaseExpression, axis: int, *, strict: bool) -> bool:
    """Whether one side is spread along the rows and the other along the columns, in front of the axis of features.

    `strict` asks that the axis of features is seen: `a[:, None] < b[None]` is a mask more often than not.
    """
    sides = (_spread(file, left), _spread(file, right))
    ranks = {side.rank for side in sides if side.rank is not None and side.axes}
    if len(ranks) > 1 or (strict and not ranks and axis < 0):
        return False
    rank = ranks.pop() if ranks else axis + 1 if axis > 1 else 3
    if rank < 3 or axis % rank != rank - 1 or -rank > axis or axis >= rank:
        return False
    first, second = ({a % rank for a in side.axes if -rank <= a < rank} for side in sides)
    rows, columns = {rank - 2}, {rank - 3}
    if (first, second) in ((rows, columns), (columns, rows)):
        return True
    plain, spread, other = (right, first, left) if first else (left, second, right)
    return spread == rows and (first == set()) != (second == set()) and _is_matrix(file, plain, other)


def _is_matrix(file: File, plain: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    """Whether the side that is not expanded has two axes: it is known to, or it is the other side's own tensor."""
    value = file.value(plain)
    if isinstance(value, Array) and value.shape is not None:
        return len(value.shape) == 2
    other = file.written(other)
    if isinstance(other, cst.Subscript):
        return len(other.slice) < 4 and file.text(other.value) == file.text(plain)
    return isinstance(other, cst.Call) and bool(other.args) and file.text(other.args[0].value) == file.text(plain)


def cut_features(file: File, pairs: Pairs) -> int | None:
    """The numbers that a slice leaves of each row in an operation on all pairs: 2 of `x[:, None, :2] - y[None, :, :2]`.
    None where no slice of the operands shows it."""
    found = (_cut(file, operand) for operand in operands(pairs))
    return next((length for length in found if length is not None), None)


def operands(pairs: Pairs) -> list[cst.BaseExpression]:
    """The two sides of an operation on all pairs, as they are written; none of a comparison."""
    node = pairs.node
    if isinstance(node, cst.BinaryOperation):
        return [node.left, node.right]
    return [arg.value for arg in node.args[:2]] if isinstance(node, cst.Call) else []


def _cut(file: File, node: cst.BaseExpression) -> int | None:
    node = file.written(node)
    if isinstance(node, cst.Call) and node.args and knowledge.in_group(file.call(node).name, "inserts_axis"):
        return _cut(file, node.args[0].value)
    last = node.slice[-1].slice if isinstance(node, cst.Subscript) and len(node.slice) > 1 else None
    if not isinstance(last, cst.Slice) or last.upper is None or last.step is not None:
        return None
    end, start = integer(file.value(last.upper)), 0 if last.lower is None else integer(file.value(last.lower))
    return end - start if end is not None and start is not None and 0 <= start < end else None


@dataclass(frozen=True, slots=True)
class Spread:
    """The axes of size 1 that an operand inserts, and its number of axes where it is seen."""

    axes: frozenset[int]
    rank: int | None


def _spread(file: File, node: cst.BaseExpression) -> Spread:
    node = file.written(node)
    value = file.value(node)
    shape = value.shape if isinstance(value, Array) else None
    known = len(shape) if shape is not None else None
    if isinstance(node, cst.Call) and node.args:
        found = _spread_by_call(file, file.call(node), known)
        if found is not None:
            return found
    if isinstance(node, cst.Subscript):
        front, back = inserted_axes(file, node)
        cut = any(isinstance(e.slice, cst.Index) and isinstance(e.slice.value, cst.Ellipsis) for e in node.slice)
        seen = len(node.slice) if not cut and len(node.slice) > 2 else None
        return Spread(frozenset(front | back), known or seen)
    return Spread(frozenset(i for i, n in enumerate((shape or ())[:-1]) if n == 1), known)


def _spread_by_call(file: File, call: Call, known: int | None) -> Spread | None:
    """The same of a call that inserts axes, keeps or copies them, or gives a shape; None for any other."""
    first = call.node.args[0].value
    if knowledge.in_group(call.name, "keeps_shape"):
        return _spread(file, first)
    if any(knowledge.in_group(call.name, group) for group in ("tiles", "repeats_rows", "broadcasts_to")):
        inner, times = _spread(file, first), call.arg(1, "multiples", "repeats")
        sizes = _sizes(file, times.expression) if times is not None else None
        return Spread(inner.axes, inner.rank or (len(sizes) if sizes is not None and len(sizes) > 1 else None))
    if knowledge.in_group(call.name, "inserts_axis"):
        at, inner = integer(call.value_of("axis")), _spread(file, first)
        if at is None or (inner.axes and at < 0):
            return Spread(frozenset(), known)
        return Spread(frozenset({at, *inner.axes}), known)
    if call.name in ("tf.reshape", "tf.keras.ops.reshape"):
        given = call.arg("shape", "newshape")
        shape = _sizes(file, given.expression) if given is not None else None
        ones = frozenset(i for i, size in enumerate(shape or ()) if size == 1)
        return Spread(ones, len(shape) if shape is not None else known)
    return None


def _sizes(file: File, node: cst.BaseExpression) -> Shape | None:
    node = file.written(node)
    if isinstance(node, cst.Call) and file.call(node).name in LISTS and node.args:
        return _sizes(file, node.args[0].value)
    value = file.value(node)
    return shape_of(value) if isinstance(value, Sequence) else None
