"""NumPy's arithmetic by name and its reductions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.arithmetic import FLOATS, INTEGERS
from tfmemlint.model.transfer.shapes import axes_of, reduced
from tfmemlint.model.transfer.table import dtype_of, models
from tfmemlint.model.values import Array, Const, Method, Unknown, Value, array_binary

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

OPERATORS = {
    "divide": "Divide", "true_divide": "Divide", "multiply": "Multiply", "subtract": "Subtract", "add": "Add",
    "power": "Power", "maximum": "Add", "minimum": "Add",
}  # fmt: skip
"""NumPy functions and the operator whose dtype and shape they have."""


@models(*(f"np.{name}" for name in OPERATORS))
def _binary(call: Call, target: Value) -> Value:
    left, right = call.value_of(0), call.value_of(1)
    if not (isinstance(left, Array) or isinstance(right, Array)):
        return Unknown("arithmetic on values that are not known")
    result = array_binary(OPERATORS[str(getattr(target, "name", "")).rpartition(".")[2]], left, right)
    if isinstance(result, Array) and call.arg("dtype") is not None:
        return replace(result, dtype=dtype_of(call.value_of("dtype"), "float64"), explicit=True, cast=call)
    return result if call.arg("out") is None and not call.open else Unknown("written into another array")


@models("np.sqrt", "np.exp", "np.log", "np.log1p", "np.log2", "np.log10", "np.expm1", "np.sin", "np.cos", "np.tan",
        "np.tanh", "np.arctan", "np.cbrt")  # fmt: skip
def _float_unary(call: Call, target: Value) -> Value:
    data = call.value_of(0)
    if isinstance(data, Const):
        return Array("np", "float64", (), call)  # a NumPy number, which widens float32 arrays
    if not isinstance(data, Array):
        return Unknown("a function of something not known")
    wide = {"uint8": "float16", "int8": "float16", "uint16": "float32", "int16": "float32"}
    dtype = wide.get(data.dtype or "", "float64") if data.dtype in INTEGERS else data.dtype
    return replace(data, dtype=dtype)


@models("np.square", "np.negative", "np.sign", "np.round", "np.around", "np.floor", "np.ceil", "np.cumsum", "np.sort",
        "np.nan_to_num", "np.random.permutation", "np.ndarray.round")  # fmt: skip
def _same(call: Call, target: Value) -> Value:
    data = target.receiver if isinstance(target, Method) else call.value_of(0)
    return data if isinstance(data, Array) else Unknown("a function of something not known")


@models("np.max", "np.min", "np.amax", "np.amin", "np.ndarray.max", "np.ndarray.min")
def _extreme(call: Call, target: Value) -> Value:
    return _reduced(call, target, None)


@models("np.mean", "np.std", "np.var", "np.median", "np.nanmean", "np.ndarray.mean", "np.ndarray.std", "np.ndarray.var")
def _average(call: Call, target: Value) -> Value:
    return _reduced(call, target, "float64")


def _reduced(call: Call, target: Value, of_integers: str | None) -> Value:
    """What is left of an array after a reduction; `of_integers` is the dtype that integers get, None if their own."""
    data = target.receiver if isinstance(target, Method) else call.value_of(0)
    if not isinstance(data, Array) or call.open:
        return Unknown("a reduction of something not known")
    dtype = data.dtype
    if of_integers is not None and dtype is not None and dtype not in FLOATS:
        dtype = of_integers
    if call.arg("dtype") is not None:
        dtype = dtype_of(call.value_of("dtype"), "float64")
    keeps = not call.lacks("keepdims") and call.value_of("keepdims") != Const(False)
    shape = reduced(data.shape, axes_of(call), keeps)
    return Array(data.library, dtype, shape, data.origin, data.explicit)
