"""NumPy: what its constructors and methods make, with NumPy's default dtypes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.transfer.listed import listed, listed_count
from tfmemlint.model.transfer.table import dtype_of, models, shape_of
from tfmemlint.model.values import (
    Array,
    Const,
    DataFrame,
    Instance,
    Length,
    Method,
    Sequence,
    Table,
    Unknown,
    Value,
    constant,
    integer,
)
from tfmemlint.syntax.numbers import bounded

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


def numpy_dtype(call: Call, default: str | None) -> tuple[str | None, bool]:
    """The dtype of a NumPy constructor call and whether the user wrote it."""
    if call.arg("dtype") is None:
        return default if not call.open else None, False
    value = call.value_of("dtype")
    if value == Const(None):
        return default, False
    return dtype_of(value, "float64"), True


@models("np.zeros", "np.ones", "np.empty")
def _filled(call: Call, target: Value) -> Value:
    dtype, explicit = numpy_dtype(call, "float64")
    return Array("np", dtype, shape_of(call.value_of("shape")), call, explicit)


@models("np.full")
def _full(call: Call, target: Value) -> Value:
    fill = constant(call.value_of("fill_value"))
    default = {float: "float64", int: "int64", bool: "bool"}.get(type(fill))
    dtype, explicit = numpy_dtype(call, default)
    return Array("np", dtype, shape_of(call.value_of("shape")), call, explicit)


@models("np.eye", "np.identity")
def _eye(call: Call, target: Value) -> Value:
    n = integer(call.value_of(0))
    dtype, explicit = numpy_dtype(call, "float64")
    m = integer(call.value_of("M")) if call.arg("M") is not None else n
    return Array("np", dtype, (n, m), call, explicit)


@models("np.linspace", "np.logspace", "np.geomspace")
def _linspace(call: Call, target: Value) -> Value:
    n = integer(call.value_of("num")) if call.arg("num") is not None else 50
    dtype, explicit = numpy_dtype(call, "float64")
    return Array("np", dtype, (n,), call, explicit)


@models("np.arange")
def _arange(call: Call, target: Value) -> Value:
    bounds = [constant(call.value_of(i)) for i in range(3) if call.arg(i) is not None]
    default = None
    count = None
    if bounds and all(isinstance(b, (int, float)) for b in bounds):
        numbers = [b for b in bounds if isinstance(b, (int, float))]
        default = "float64" if any(isinstance(b, float) for b in numbers) else "int64"
        start, stop = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
        step = numbers[2] if len(numbers) == 3 else 1
        try:
            count = bounded(max(0, math.ceil((stop - start) / step)))
        except (ArithmeticError, ValueError):  # endless, or NumPy refuses it
            count = None
    dtype, explicit = numpy_dtype(call, default)
    return Array("np", dtype, (count,), call, explicit)


def literal_dtype(value: Value) -> str | None:
    """The dtype NumPy gives a nested list of Python numbers."""
    if isinstance(value, Sequence) and not value.open and value.items:
        found = {literal_dtype(item) for item in value.items}
        if None in found:
            return None
        return "float64" if "float64" in found else "int64" if found == {"int64"} else None
    if isinstance(value, Const):
        return {float: "float64", int: "int64", bool: "bool"}.get(type(value.value))
    return None


def literal_shape(value: Value) -> tuple[int | None, ...] | None:
    """The shape of a nested list."""
    if not isinstance(value, Sequence):
        return () if isinstance(value, Const) else None
    if value.open or not value.items:
        return None
    inner = literal_shape(value.items[0])
    return None if inner is None else (len(value.items), *inner)


@models("np.array", "np.asarray", "np.ascontiguousarray", "np.copy", "np.asanyarray")
def _array(call: Call, target: Value) -> Value:
    data = call.value_of(0)
    data = data.cells if isinstance(data, Table) else data
    if isinstance(data, Array):
        dtype, explicit = numpy_dtype(call, data.dtype)
        cast = call if explicit else data.cast
        return replace(data, library="np", dtype=dtype, explicit=explicit or data.explicit, variable=False, cast=cast)
    if isinstance(data, Instance) and data.type_name == "PIL.Image.Image":
        dtype, explicit = numpy_dtype(call, "uint8")
        return Array("np", dtype, None, call, explicit)
    data = Unknown("what a table holds") if isinstance(data, DataFrame) else data
    item = listed(call, data)
    if isinstance(item, Array):
        dtype, explicit = numpy_dtype(call, item.dtype)
        shape = None if item.shape is None else (listed_count(call), *item.shape)
        if explicit:
            return Array("np", dtype, shape, call, True)
        return Array("np", dtype, shape, item.origin, item.explicit, cast=item.cast)
    dtype, explicit = numpy_dtype(call, literal_dtype(data))
    return Array("np", dtype, literal_shape(data), call if data.known or explicit else None, explicit)


@models("np.zeros_like", "np.ones_like", "np.empty_like", "np.full_like")
def _like(call: Call, target: Value) -> Value:
    data = call.value_of(0)
    if not isinstance(data, Array):
        return Unknown("like something not known")
    dtype, explicit = numpy_dtype(call, data.dtype)
    return Array("np", dtype, data.shape, call, explicit)


@models(
    "np.float32",
    "np.float64",
    "np.float16",
    "np.int32",
    "np.int64",
    "np.uint8",
    "np.int8",
    "np.int16",
    "np.double",
    "np.single",
)
def _scalar(call: Call, target: Value) -> Value:
    dtype = dtype_of(target, "float64")
    data = call.value_of(0)
    shape = data.shape if isinstance(data, Array) else () if isinstance(data, (Const, Length)) else None
    return Array("np", dtype, shape, call, True)


@models("np.load")
def _load(call: Call, target: Value) -> Value:
    return Array("np", None, None, call)


@models("np.loadtxt", "np.genfromtxt")
def _text(call: Call, target: Value) -> Value:
    dtype, explicit = numpy_dtype(call, "float64")
    return Array("np", dtype, None, call, explicit)


@models("np.memmap", "np.lib.format.open_memmap")
def _memmap(call: Call, target: Value) -> Value:
    return Array("np", dtype_of(call.value_of("dtype"), "float64"), shape_of(call.value_of("shape")), call, True)


@models("np.expand_dims", "np.reshape", "np.clip", "np.absolute", "np.flip", "np.moveaxis",
        "np.swapaxes", "np.roll", "np.ravel", "np.rot90", "np.atleast_2d")  # fmt: skip
def _reshaped(call: Call, target: Value) -> Value:
    data = call.value_of(0)
    if not isinstance(data, Array):
        return Unknown("reshapes something not known")
    name = getattr(target, "name", "").rpartition(".")[2]
    shape = None
    if name in ("clip", "absolute", "flip", "roll"):
        shape = data.shape
    elif name == "expand_dims":
        shape = expanded(data.shape, integer(call.value_of("axis")))
    elif name == "reshape":
        shape = reshaped(data, shape_of(call.value_of(1)))
    return replace(data, library="np", shape=shape)


def expanded(shape: tuple[int | None, ...] | None, axis: int | None) -> tuple[int | None, ...] | None:
    """The shape with an axis of one inserted."""
    if shape is None or axis is None or not -len(shape) - 1 <= axis <= len(shape):
        return None
    at = axis if axis >= 0 else axis + len(shape) + 1
    return (*shape[:at], 1, *shape[at:])


def reshaped(data: Array, shape: tuple[int | None, ...] | None) -> tuple[int | None, ...] | None:
    """The shape asked for, -1 worked out where the size is known."""
    if shape is None or -1 not in shape:
        return shape
    known, total = math.prod(size or 1 for size in shape if size != -1), data.size
    missing = total // known if total is not None and None not in shape and shape.count(-1) == 1 else None
    return tuple(missing if size == -1 else size for size in shape)


@models("np.ndarray.astype")
def _astype(call: Call, target: Value) -> Value:
    data = target.receiver if isinstance(target, Method) else Unknown("array")
    if isinstance(data, Table) and call.lacks("dtype"):  # to_numpy()
        return replace(data.cells, origin=call)
    data = Array("np") if isinstance(data, Table) else data
    if not isinstance(data, Array):
        return data
    return replace(data, dtype=dtype_of(call.value_of("dtype"), "float64"), explicit=True, cast=call)


@models("np.ndarray.reshape", "np.ndarray.copy", "np.ndarray.flatten", "np.ndarray.ravel", "np.ndarray.transpose",
        "np.ndarray.squeeze", "np.ndarray.clip", "np.ndarray.view")  # fmt: skip
def _array_method(call: Call, target: Value) -> Value:
    data = target.receiver if isinstance(target, Method) else Unknown("array")
    name = getattr(target, "name", "").rpartition(".")[2]
    if not isinstance(data, Array):
        return data
    if name in ("copy", "clip"):
        return data
    if name == "reshape":
        sizes = call.value_of(0) if len(call.node.args) == 1 else Sequence(
            tuple(call.evaluator.value(arg.value, call.frame) for arg in call.node.args))  # fmt: skip
        return replace(data, shape=reshaped(data, shape_of(sizes)))
    if name in ("flatten", "ravel"):
        return replace(data, shape=(data.size,))
    return replace(data, shape=None)


@models("np.dot")
def _reduced(call: Call, target: Value) -> Value:
    return Unknown("a reduction")
