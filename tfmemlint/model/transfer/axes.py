"""Shapes of arrays that are joined, and of NumPy's and TensorFlow's functions that drop, copy or reorder axes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.transfer.shapes import reduced
from tfmemlint.model.transfer.structures import as_tensor
from tfmemlint.model.transfer.table import models, shape_of
from tfmemlint.model.values import Array, Const, Method, Shape, Unknown, Value, integer

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


def concatenated(shapes: list[Shape | None], axis: int | None) -> Shape | None:
    """The shape of arrays that are joined along an axis that they have."""
    known = [shape for shape in shapes if shape is not None]
    ranks = {len(shape) for shape in known}
    if axis is None or len(known) != len(shapes) or len(ranks) != 1 or not -len(known[0]) <= axis < len(known[0]):
        return None
    at = axis % len(known[0])
    columns = list(zip(*known, strict=True))
    return tuple(_total(c) if i == at else _common(c) for i, c in enumerate(columns))


def stacked(shapes: list[Shape | None], axis: int | None) -> Shape | None:
    """The shape of arrays that are joined along a new axis."""
    known = [shape for shape in shapes if shape is not None]
    if axis is None or not known or len({len(shape) for shape in known}) != 1 or not -len(known[0]) <= axis + 1:
        return None
    common = [_common(column) for column in zip(*known, strict=True)]
    at = axis if axis >= 0 else axis + len(common) + 1
    return (*common[:at], len(shapes), *common[at:]) if at <= len(common) else None


def _total(sizes: tuple[int | None, ...]) -> int | None:
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _common(sizes: tuple[int | None, ...]) -> int | None:
    found = {size for size in sizes if size is not None}
    return found.pop() if len(found) == 1 else None


def joined_shape(call: Call, name: str, shapes: list[Shape | None]) -> Shape | None:
    """The shape that `concat`, `stack`, `vstack` ... give."""
    if call.open or call.arg("out") is not None:
        return None
    axis = integer(call.value_of("axis")) if call.arg("axis") is not None else 0
    if name == "stack":
        return stacked(shapes, axis)
    if name in ("concat", "concatenate"):
        return concatenated(shapes, axis)
    flat = any(shape is None or len(shape) < 2 for shape in shapes)
    return None if flat or name not in ("vstack", "hstack") else concatenated(shapes, 0 if name == "vstack" else 1)


def _data(call: Call, target: Value) -> Array | None:
    data = target.receiver if isinstance(target, Method) else call.value_of(0)
    if not isinstance(target, Method) and getattr(target, "name", "").startswith("tf."):
        data = as_tensor(data)
    return data if isinstance(data, Array) else None


@models("np.argmax", "np.argmin", "np.ndarray.argmax", "np.ndarray.argmin", "tf.math.argmax", "tf.math.argmin",
        "tf.argmax", "tf.argmin")  # fmt: skip
def _place(call: Call, target: Value) -> Value:
    data = _data(call, target)
    library = "tf" if getattr(target, "name", "").startswith("tf.") else "np"
    default = (0,) if library == "tf" else None
    axis = (integer(call.value_of("axis")),) if call.arg("axis") is not None else default
    plain = data is not None and not call.open and call.arg("keepdims") is None and call.arg("output_type") is None
    if not plain or data is None:
        return Array(library) if library == "tf" else Unknown("a place in something not known")
    return Array(library, "int64", reduced(data.shape, axis, False))


@models("np.sum", "np.ndarray.sum")
def _summed(call: Call, target: Value) -> Value:
    data = _data(call, target)
    if data is None or call.open or any(call.arg(word) is not None for word in ("keepdims", "out", "where", "dtype")):
        return Unknown("a sum of something not known")
    axis = (integer(call.value_of("axis")),) if call.arg("axis") is not None else None
    if call.value_of("axis") == Const(None):
        axis = None
    wide = {"bool": "int64", "int8": "int64", "int16": "int64", "int32": "int64", "uint8": "uint64",
            "uint16": "uint64", "uint32": "uint64"}  # fmt: skip
    return Array(data.library, wide.get(data.dtype or "", data.dtype), reduced(data.shape, axis, False), data.origin)


@models("np.squeeze", "tf.squeeze")
def _squeezed(call: Call, target: Value) -> Value:
    data = _data(call, target)
    if data is None:
        return Array("tf") if getattr(target, "name", "") == "tf.squeeze" else Unknown("squeezes something not known")
    shape = data.shape
    if shape is not None:
        if call.lacks("axis"):
            shape = None if None in shape else tuple(size for size in shape if size != 1)
        else:
            axis = integer(call.value_of("axis"))
            shape = reduced(shape, (axis,), False) if axis is not None else None
    return replace(data, shape=shape)


@models("np.transpose")
def _transposed(call: Call, target: Value) -> Value:
    data = _data(call, target)
    if data is None:
        return Unknown("transposes something not known")
    shape, order = data.shape, shape_of(call.value_of("axes")) if call.arg("axes") is not None else None
    if shape is not None and not call.lacks("axes"):
        known = [i for i in order or () if i is not None]
        shape = tuple(shape[i] for i in known) if sorted(known) == list(range(len(shape))) else None
    elif shape is not None:
        shape = shape[::-1]
    return replace(data, library="np", shape=shape)


@models("tf.gather")
def _gathered(call: Call, target: Value) -> Value:
    data, indices = as_tensor(call.value_of(0)), as_tensor(call.value_of("indices"))
    plain = call.lacks("axis") and call.lacks("batch_dims")
    if not isinstance(data, Array):
        return Array("tf")
    shape = None
    if plain and data.shape and isinstance(indices, Array) and indices.shape is not None:
        shape = (*indices.shape, *data.shape[1:])
    return Array("tf", data.dtype, shape, data.origin)
