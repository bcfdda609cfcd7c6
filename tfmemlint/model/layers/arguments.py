"""What layers' arguments say: sizes, flags and words, and what a layer does to its input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tfmemlint.model.calls import Call
from tfmemlint.model.layers.data_formats import image_data_format
from tfmemlint.model.values import Const, Sequence, Shape, Value, constant, integer


@dataclass(frozen=True, slots=True)
class Effect:
    """What a layer does to one input: the output's shape and the parameters it holds (0 for none, None for unknown)."""

    shape: Shape
    parameters: int | None


Model = Callable[[Call, Shape], Effect | None]


def whole(call: Call, name: str, default: int | None = None) -> int | None:
    """A whole number; None where it is given and not known."""
    if call.arg(name) is None:
        return default
    return integer(call.value_of(name))


def numbers(value: Value) -> tuple[int, ...] | None:
    """The whole numbers of a tuple or list, or None."""
    if not isinstance(value, Sequence) or value.open:
        return None
    found = tuple(integer(item) for item in value.items)
    return None if None in found else tuple(n for n in found if n is not None)


def sizes(call: Call, name: str, rank: int, default: int) -> tuple[int, ...] | None:
    """A size for each of `rank` axes, given as one number or as a tuple."""
    if call.arg(name) is None or call.value_of(name) == Const(None):
        return (default,) * rank
    value = call.value_of(name)
    if isinstance(value, Sequence):
        found = numbers(value)
        if found is not None and len(found) == 1:
            return found * rank
        return found if found is not None and len(found) == rank else None
    one = integer(value)
    return None if one is None else (one,) * rank


def flag(call: Call, name: str, default: bool) -> bool | None:
    """A truth value; None where it is given and not known."""
    if call.arg(name) is None:
        return default
    value = constant(call.value_of(name))
    return value if isinstance(value, bool) else None


def word(call: Call, name: str, default: str) -> str | None:
    """A string in small letters; None where it is given and not known."""
    if call.arg(name) is None:
        return default
    value = constant(call.value_of(name))
    return value.lower() if isinstance(value, str) else None


def data_format(call: Call) -> str | None:
    """Where a layer has its channels: "channels_last" or "channels_first"; None where that is not known."""
    if call.arg("data_format") is None or call.value_of("data_format") == Const(None):
        return image_data_format(call)
    return word(call, "data_format", "")
