"""Element-wise operations on all pairs of rows: `x[:, None, :] - y[None, :, :]`."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst
from tfmemlint_rules._axes import EXPANDS, KEEPS_SHAPE, inserted_axes

from tfmemlint.api import Array, Call, Const, File, Length, Sequence, integer
from tfmemlint.model.transfer.table import shape_of

MODULES = ("tf", "tf.math", "tf.keras.ops", "tf.keras.backend")
DIFFERENCES = frozenset(f"{module}.{name}" for module in MODULES for name in ("subtract", "squared_difference"))
PRODUCTS = frozenset(f"{module}.multiply" for module in MODULES)
OTHERS = frozenset(
    f"{module}.{name}" for module in MODULES
    for name in ("equal", "not_equal", "less", "greater", "less_equal", "greater_equal", "maximum", "minimum", "add")
)  # fmt: skip
SQUARES = frozenset(f"{module}.{name}" for module in MODULES for name in ("square", "pow", "power"))
COPIES = frozenset({"tf.tile", "tf.repeat", "tf.broadcast_to", "tf.keras.ops.tile", "tf.keras.ops.repeat"})


@dataclass(frozen=True, slots=True)
class Pairs:
    """An operation on all pairs: its expression, and whether a matrix product gives what is left of it."""

    node: cst.BaseExpression
    product: bool


def pairs(node: cst.BaseExpression, axis: int, file: File, squared: bool = False, depth: int = 8) -> Pairs | None:
    """The operation on all pairs that an expression is computed from, element by element, where `axis` is the axis of
    the features; `squared` says that squares of the numbers are asked for."""
    node = file.written(node)
    if depth == 0:
        return None
    if isinstance(node, cst.BinaryOperation):
        if isinstance(node.operator, cst.Power):
            return pairs(node.left, axis, file, True, depth - 1)
        if _crossed(node.left, node.right, axis, not isinstance(node.operator, cst.Subtract), file):
            product = isinstance(node.operator, cst.Multiply) or (squared and isinstance(node.operator, cst.Subtract))
            return Pairs(node, product)
        both = file.text(node.left) == file.text(node.right)
        sides = [side for side in (node.left, node.right) if not isinstance(file.value(side), (Const, Length))]
        squared = squared or (both and isinstance(node.operator, cst.Multiply))
        found = next(
            (p for p in (pairs(side, axis, file, squared, depth - 1) for side in sides) if p is not None), None
        )
        weighted = len(sides) == 2 and not both  # by another tensor, for which no matrix product allows
        return Pairs(found.node, False) if found is not None and weighted else found
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        crossed = _crossed(node.left, node.comparisons[0].comparator, axis, True, file)
        return Pairs(node, False) if crossed else None
    if not isinstance(node, cst.Call) or not node.args:
        return None
    call = file.call(node)
    name = call.name or ""
    if name in DIFFERENCES | PRODUCTS | OTHERS and len(node.args) >= 2:
        left, right = node.args[0].value, node.args[1].value
        if not _crossed(left, right, axis, name not in DIFFERENCES, file):
            return None
        return Pairs(node, name in PRODUCTS or name.endswith("squared_difference") or (squared and name in DIFFERENCES))
    if name in KEEPS_SHAPE | SQUARES or name.startswith("tf.keras.backend."):
        return pairs(node.args[0].value, axis, file, squared or name in SQUARES, depth - 1)
    return None


def _crossed(left: cst.BaseExpression, right: cst.BaseExpression, axis: int, strict: bool, file: File) -> bool:
    """Whether one side is spread along the rows and the other along the columns, in front of the axis of features.

    `strict` asks that the axis of features is seen: `a[:, None] < b[None]` is a mask more often than not.
    """
    sides = (_spread(left, file), _spread(right, file))
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
    plain, spread = (right, first) if first else (left, second)
    return spread == rows and (first == set()) != (second == set()) and _is_matrix(plain, left, right, file)


def _is_matrix(plain: cst.BaseExpression, left: cst.BaseExpression, right: cst.BaseExpression, file: File) -> bool:
    """Whether the side that is not expanded has two axes: it is known to, or it is the other side's own tensor."""
    value = file.value(plain)
    if isinstance(value, Array) and value.shape is not None:
        return len(value.shape) == 2
    other = file.written(right if plain is left else left)
    if isinstance(other, cst.Subscript):
        return len(other.slice) < 4 and file.text(other.value) == file.text(plain)
    return isinstance(other, cst.Call) and bool(other.args) and file.text(other.args[0].value) == file.text(plain)


@dataclass(frozen=True, slots=True)
class Spread:
    """The axes of size 1 that an operand inserts, and its number of axes where it is seen."""

    axes: frozenset[int]
    rank: int | None


def _spread(node: cst.BaseExpression, file: File) -> Spread:
    node = file.written(node)
    value = file.value(node)
    known = len(value.shape) if isinstance(value, Array) and value.shape is not None else None
    if isinstance(node, cst.Call) and node.args:
        call = file.call(node)
        if call.name in COPIES or call.name in KEEPS_SHAPE:
            inner = _spread(node.args[0].value, file)
            return inner if call.name in KEEPS_SHAPE else _tiled(call, inner)
        if call.name in EXPANDS:
            at = integer(call.value_of("axis"))
            inner = _spread(node.args[0].value, file)
            if at is None or (inner.axes and at < 0):
                return Spread(frozenset(), known)
            return Spread(frozenset({at, *inner.axes}), known)
        if call.name in ("tf.reshape", "tf.keras.ops.reshape"):
            given = call.arg("shape", "newshape")
            shape = _sizes(given.expression, file) if given is not None else None
            ones = (i for i, size in enumerate(shape or ()) if size == 1)
            return Spread(frozenset(ones), len(shape) if shape is not None else known)
    if isinstance(node, cst.Subscript):
        front, back = inserted_axes(node, file)
        whole = not any(isinstance(e.slice, cst.Index) and isinstance(e.slice.value, cst.Ellipsis) for e in node.slice)
        seen = len(node.slice) if whole and len(node.slice) > 2 else None
        return Spread(frozenset(front | back), known or seen)
    if isinstance(value, Array) and value.shape is not None:
        return Spread(frozenset(i for i, n in enumerate(value.shape[:-1]) if n == 1), known)
    return Spread(frozenset(), None)


def _sizes(node: cst.BaseExpression, file: File) -> tuple[int | None, ...] | None:
    node = file.written(node)
    if isinstance(node, cst.Call) and file.call(node).name in ("tf.stack", "tf.convert_to_tensor") and node.args:
        return _sizes(node.args[0].value, file)
    value = file.value(node)
    return shape_of(value) if isinstance(value, Sequence) else None


def _tiled(call: Call, inner: Spread) -> Spread:
    times = call.arg(1, "multiples", "repeats")
    sizes = _sizes(times.expression, times.evaluator.file) if times is not None else None
    return Spread(inner.axes, inner.rank or (len(sizes) if sizes is not None and len(sizes) > 1 else None))
