"""TensorFlow operations that only change a shape: copies along axes, other orders of the axes, reductions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.arithmetic import broadcast
from tfmemlint.model.transfer.structures import as_tensor
from tfmemlint.model.transfer.table import models, shape_of
from tfmemlint.model.values import Array, Const, Sequence, Shape, Value, integer

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


def _tensor(call: Call) -> Array:
    data = as_tensor(call.value_of(0))
    return data if isinstance(data, Array) else Array("tf")


@models("tf.tile")
def _tile(call: Call, target: Value) -> Value:
    data, times = _tensor(call), shape_of(call.value_of("multiples"))
    if data.shape is None or times is None or len(data.shape) != len(times):
        return Array("tf", data.dtype)
    sizes = zip(data.shape, times, strict=True)
    return Array("tf", data.dtype, tuple(None if n is None or m is None else n * m for n, m in sizes))


@models("tf.repeat")
def _repeat(call: Call, target: Value) -> Value:
    data, times, axis = _tensor(call), integer(call.value_of("repeats")), integer(call.value_of("axis"))
    if data.shape is None or axis is None or not -len(data.shape) <= axis < len(data.shape):
        return Array("tf", data.dtype)
    shape = list(data.shape)
    size = shape[axis]
    shape[axis] = None if size is None or times is None else size * times
    return Array("tf", data.dtype, tuple(shape))


@models("tf.broadcast_to")
def _broadcast_to(call: Call, target: Value) -> Value:
    return Array("tf", _tensor(call).dtype, shape_of(call.value_of("shape")))


@models("tf.linalg.diag")
def _diag(call: Call, target: Value) -> Value:
    data = _tensor(call)
    plain = data.shape and len(call.node.args) == 1
    return Array("tf", data.dtype, (*data.shape, data.shape[-1]) if plain and data.shape else None)


@models("tf.transpose")
def _transpose(call: Call, target: Value) -> Value:
    data = _tensor(call)
    if data.shape is None:
        return Array("tf", data.dtype)
    if call.lacks("perm") or call.value_of("perm") == Const(None):
        return Array("tf", data.dtype, data.shape[::-1])
    order = shape_of(call.value_of("perm"))
    if order is None or sorted(i for i in order if i is not None) != list(range(len(data.shape))):
        return Array("tf", data.dtype)
    return Array("tf", data.dtype, tuple(data.shape[i] for i in order if i is not None))


@models("tf.math.reduce_mean", "tf.math.reduce_sum", "tf.math.reduce_max", "tf.math.reduce_min", "tf.math.reduce_prod",
        "tf.reduce_mean", "tf.reduce_sum", "tf.reduce_max", "tf.reduce_min", "tf.reduce_prod", "tf.math.reduce_std",
        "tf.math.reduce_variance", "tf.norm", "tf.linalg.norm")  # fmt: skip
def _reduced(call: Call, target: Value) -> Value:
    data = _tensor(call)
    keeps = not call.lacks("keepdims") and call.value_of("keepdims") != Const(False)
    return Array("tf", data.dtype, None if call.open else reduced(data.shape, axes_of(call), keeps), data.origin)


def axes_of(call: Call) -> tuple[int | None, ...] | None:
    """The axes that are reduced: None for all of them."""
    if call.lacks("axis") or call.value_of("axis") == Const(None):
        return None
    given = call.value_of("axis")
    return tuple(integer(i) for i in given.items) if isinstance(given, Sequence) else (integer(given),)


def reduced(shape: Shape | None, axes: tuple[int | None, ...] | None, keeps: bool) -> Shape | None:
    """The shape that is left when these axes are reduced, or all axes."""
    if axes is None and not keeps:
        return ()
    if shape is None:
        return None
    known = range(len(shape)) if axes is None else [a for a in axes if a is not None and -len(shape) <= a < len(shape)]
    if axes is not None and len(known) != len(axes):
        return None
    gone = {a % len(shape) for a in known}
    return tuple(1 if i in gone else n for i, n in enumerate(shape) if keeps or i not in gone)


@models("tf.math.squared_difference", "tf.pow", "tf.math.pow")
def _pairs(call: Call, target: Value) -> Value:
    a, b = as_tensor(call.value_of(0)), as_tensor(call.value_of(1))
    if not (isinstance(a, Array) and isinstance(b, Array)):
        return Array("tf")
    return Array("tf", a.dtype if a.dtype == b.dtype or b.shape == () else None, broadcast(a.shape, b.shape), a.origin)
