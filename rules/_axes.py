"""Axes of size 1 that an expression is seen to have, also where nothing is known of the tensor that it is made of."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Array, Call, Const, File, Length, Sequence, integer
from tfmemlint.model.transfer.table import shape_of

KEEPS_SHAPE = frozenset({
    "tf.cast", "tf.identity", "tf.stop_gradient", "tf.convert_to_tensor", "tf.constant", "tf.abs", "tf.math.abs",
    "tf.sqrt", "tf.math.sqrt", "tf.square", "tf.math.square", "tf.exp", "tf.math.exp", "tf.math.log", "tf.negative",
    "tf.math.negative", "tf.sigmoid", "tf.math.sigmoid", "tf.nn.sigmoid", "tf.tanh", "tf.math.tanh", "tf.nn.tanh",
    "tf.nn.relu", "tf.nn.softmax", "tf.math.softplus", "tf.nn.softplus", "tf.math.rsqrt", "tf.math.reciprocal",
    "tf.logical_not", "tf.math.logical_not", "tf.clip_by_value", "tf.keras.ops.cast", "tf.keras.ops.exp",
    "tf.keras.ops.sqrt", "tf.keras.ops.square", "tf.keras.ops.abs", "tf.keras.ops.log", "tf.keras.ops.sigmoid",
})  # fmt: skip
"""Ops of one tensor, the first argument, that keep its shape."""

EXPANDS = frozenset({"tf.expand_dims", "tf.keras.ops.expand_dims", "tf.keras.backend.expand_dims", "np.expand_dims"})


def size_one(node: cst.BaseExpression, axis: int, rank: int | None, file: File) -> bool:
    """Whether the axis certainly has size 1; `rank` is the number of axes, where it is known."""
    node = file.written(node)
    value = file.value(node)
    if isinstance(value, Array) and value.shape is not None:
        return -len(value.shape) <= axis < len(value.shape) and value.shape[axis] == 1
    if isinstance(node, cst.Subscript):
        front, back = inserted_axes(node, file)
        return axis in front or axis in back or (rank is not None and (axis - rank in back or axis + rank in front))
    if isinstance(node, cst.BinaryOperation):
        sides = (node.left, node.right)
        tensors = [side for side in sides if not isinstance(file.value(side), (Const, Length))]
        return bool(tensors) and all(size_one(side, axis, rank, file) for side in tensors)
    if isinstance(node, cst.Call):
        return _call_one(file.call(node), axis, rank, file)
    return False


def _call_one(call: Call, axis: int, rank: int | None, file: File) -> bool:
    if call.name in KEEPS_SHAPE and call.node.args:
        return size_one(call.node.args[0].value, axis, rank, file)
    if call.name in EXPANDS and call.node.args:
        at = integer(call.value_of("axis"))
        if at is None:
            return False
        if at == axis or (rank is not None and (at - axis) in (rank, -rank)):
            return True
        if at < 0 or axis < 0:
            return False
        return size_one(call.node.args[0].value, axis - (axis > at), rank - 1 if rank is not None else None, file)
    if call.method == "reshape":
        given = call.arg("shape", "newshape")
        shape = shape_of(given.value) if given is not None else None
        return shape is not None and -len(shape) <= axis < len(shape) and shape[axis] == 1
    if (call.method or "").startswith("reduce_") and call.value_of("keepdims") == Const(True):
        return axis in _axes(call, rank) or call.lacks("axis")
    return False


def _axes(call: Call, rank: int | None) -> set[int]:
    given = call.value_of("axis")
    items = given.items if isinstance(given, Sequence) else (given,)
    found = {i for i in map(integer, items) if i is not None}
    return found | ({i + rank if i < 0 else i - rank for i in found} if rank is not None else set())


def inserted_axes(node: cst.Subscript, file: File) -> tuple[set[int], set[int]]:
    """The axes that `x[:, None, ...]` inserts, counted from the front and, negative, from the end where that is known;
    both empty where an index is not understood."""
    kinds = [_kind(element.slice, file) for element in node.slice]
    if "?" in kinds or kinds.count("...") > 1:
        return set(), set()
    kept = [kind for kind in kinds if kind != "int"]
    cut = kept.index("...") if "..." in kept else len(kept)
    front = {i for i, kind in enumerate(kept[:cut]) if kind == "new"}
    back = {i - len(kept) for i, kind in enumerate(kept) if kind == "new" and i > cut}
    return front, back


def _kind(index: cst.BaseSlice, file: File) -> str:
    if isinstance(index, cst.Slice):
        return "slice"
    if not isinstance(index, cst.Index):
        return "?"
    value = file.value(index.value)
    if value == Const(None):
        return "new"
    if isinstance(index.value, cst.Ellipsis) or value == Const(Ellipsis):
        return "..."
    return "int" if integer(value) is not None else "?"
