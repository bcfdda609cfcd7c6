"""The weights of a layer: their shapes, and the words of the layer functions for numbers in arguments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfmemlint.estimate.step import Applied

Shape = tuple[int | None, ...]

FLOATS = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
ITEM_BYTES = FLOATS | {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
    "complex64": 8, "complex128": 16, "string": 16,
}  # fmt: skip
"""Bytes of one item of a tensor. Texts are handles on the device's side; their letters are on the host."""

UNFIT = (IndexError, ValueError, TypeError, ZeroDivisionError)
"""What arithmetic raises on arguments and shapes that do not fit each other, as a program may have them that fails."""


class Unknown(Exception):
    """A number is not known that bytes rest on; its text says what it is of."""


@dataclass(frozen=True, slots=True)
class Weight:
    """One weight of a layer. One that is not `trainable` by its nature, as a moving average, has no gradient."""

    shape: tuple[int, ...]
    trainable: bool = True

    @property
    def items(self) -> int:
        return math.prod(self.shape)


def item_bytes(dtype: str) -> int:
    """Bytes of one item; 4 where the dtype is none that is known."""
    return ITEM_BYTES.get(dtype, 4)


def number(arguments: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """A whole number of an argument. Raises Unknown where there is none."""
    value = arguments.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unknown(f"the {name}")
    return value


def numbers(arguments: Mapping[str, Any], name: str, rank: int, default: int | None = None) -> tuple[int, ...]:
    """A whole number for each of `rank` axes, of an argument that is one for all or one for each. Raises Unknown."""
    value = arguments.get(name, default)
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,) * rank
    if isinstance(value, Sequence) and all(isinstance(each, int) for each in value):
        return tuple(value) * (rank if len(value) == 1 else 1)
    raise Unknown(f"the {name}")


def known(size: int | None, what: str) -> int:
    """A size of a shape that must be known. Raises Unknown."""
    if size is None:
        raise Unknown(what)
    return size


def channels_last(applied: Applied) -> bool:
    return bool(applied.arguments.get("data_format") != "channels_first")


def channels(applied: Applied, shape: Shape) -> int:
    """The number of channels of an input. Raises Unknown."""
    if len(shape) < 2:
        raise Unknown("the number of channels")
    return known(shape[-1] if channels_last(applied) else shape[1], "the number of channels")


def flag(arguments: Mapping[str, Any], name: str, default: bool) -> bool:
    return bool(arguments.get(name, default))
