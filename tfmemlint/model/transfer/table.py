"""The table of modelled calls and the decorator that fills it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tfmemlint.model.values import Api, Array, Const, Length, Mapping, Sequence, Unknown, Value, integer
from tfmemlint.units import total_bytes

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

Transfer = Callable[["Call", Value], Value]
TABLE: dict[str, Transfer] = {}


def models(*names: str) -> Callable[[Transfer], Transfer]:
    """Register a function as the model of these canonical API names."""

    def register(function: Transfer) -> Transfer:
        for name in names:
            TABLE[name] = function
        return function

    return register


def shape_of(value: Value) -> tuple[int | None, ...] | None:
    """The shape that a shape argument means: a whole number, a tuple or list of sizes; None where it is not known."""
    if isinstance(value, Sequence) and not value.open:
        return tuple(integer(item) for item in value.items)
    size = integer(value)
    if size is not None:
        return (size,)
    return (None,) if isinstance(value, Length) else None


def dtype_of(value: Value, python_float: str) -> str | None:
    """The dtype that a dtype argument names; Python's `float` is `python_float` (float64 in NumPy, float32 in
    TensorFlow)."""
    name: object = None
    if isinstance(value, Api):
        library, _, name = value.name.rpartition(".")
        if library == "builtins":
            return {"float": python_float, "int": "int64", "bool": "bool"}.get(str(name))
        if library not in ("np", "tf", "tf.dtypes", "tf.experimental.numpy", "jax.numpy"):
            return None
    elif isinstance(value, Const):
        name = value.value
    if not isinstance(name, str):
        return None
    return {
        "double": "float64", "float_": "float64", "single": "float32", "half": "float16", "int": "int64",
        "<f8": "float64",
        "f8": "float64", "<f4": "float32", "f4": "float32", "f": "float32", "d": "float64", "uint": "uint64",
        "float": python_float, "int_": "int64", "bool_": "bool", "ubyte": "uint8", "byte": "int8",
    }.get(name, name)  # fmt: skip


def elements(value: Value) -> list[Value]:
    """The leaves of nested tuples, lists and dictionaries."""
    if isinstance(value, Sequence):
        return [leaf for item in value.items for leaf in elements(item)]
    if isinstance(value, Mapping):
        return [leaf for _, item in value.items for leaf in elements(item)]
    return [value]


def map_structure(function: Callable[[Value], Value], value: Value) -> Value:
    """The same structure with each leaf replaced."""
    if isinstance(value, Sequence) and not value.open:
        return Sequence(tuple(map_structure(function, item) for item in value.items), value.kind)
    if isinstance(value, Mapping) and not value.open:
        return Mapping(tuple((key, map_structure(function, item)) for key, item in value.items))
    return function(value)


def structure_bytes(value: Value) -> int | None:
    """Bytes of all leaves of a structure of arrays; see `total_bytes` for where some are not known, as of what may have
    been added to a list or dictionary. None also where nothing is seen in it."""
    sizes = [leaf.bytes if isinstance(leaf, Array) else None for leaf in elements(value)]
    return total_bytes([*sizes, None] if _may_hold_more(value) else sizes) if sizes else None


def _may_hold_more(value: Value) -> bool:
    """Whether a list or dictionary of a structure is not seen in full."""
    if isinstance(value, (Sequence, Mapping)):
        return value.open or any(map(_may_hold_more, value.parts))
    return False


def unknown(why: str) -> Transfer:
    """A model that says nothing, with a reason."""
    return lambda call, target: Unknown(why)
