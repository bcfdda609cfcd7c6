"""The arguments of operations, as far as shapes go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.arithmetic import INTEGERS
from tfmemlint.model.calls import Argument, Call
from tfmemlint.model.values import Array, Const, Value
from tfmemlint.model.values import Sequence as Items
from tfmemlint.verify.plan.sizes import Seen, Size, Tensor

if TYPE_CHECKING:
    from tfmemlint.verify.plan.reading import Reading


def operand(reading: Reading, call: Call, number: int, needs: bool = True) -> Tensor | None:
    """An argument that is an array; it has to be one where it `needs` to. Raises ConflictError."""
    argument = call.arg(number)
    if argument is None:
        return None
    value = reading.value(argument.expression)
    if needs:
        return reading.data(value)
    return value if isinstance(value, Tensor) else None


def first(reading: Reading, call: Call) -> Tensor | None:
    """The first argument, an array."""
    return operand(reading, call, 0)


def given(reading: Reading, call: Call, *names: str | int) -> Seen:
    """What the first of these parameters that is given comes to."""
    found = next((argument for name in names if (argument := call.arg(name)) is not None), None)
    return reading.value(found.expression) if found is not None else None


def numbers(value: Seen) -> list[int] | None:
    """The whole numbers that a value is made of, None where one is not known."""
    parts = value if isinstance(value, tuple) else (value,)
    numbers = [part.number if isinstance(part, Size) else None for part in parts]
    return None if None in numbers else [number for number in numbers if number is not None]


def axis(reading: Reading, call: Call, number: int, default: int | None = None) -> int | None:
    """The one axis that is named; `default` where none is."""
    argument = call.arg("axis") or call.arg(number)
    found = numbers(reading.value(argument.expression)) if argument is not None else None
    return found[0] if found and len(found) == 1 else (default if argument is None else None)


def is_true(call: Call, name: str) -> bool:
    """Whether a flag is set."""
    argument = call.arg(name)
    return argument is not None and isinstance(argument.expression, cst.Name) and argument.expression.value == "True"


def parts(reading: Reading, call: Call) -> list[Tensor] | None:
    """The arrays in a list that is the first argument, None where one is not known."""
    parts = given(reading, call, 0)
    if not isinstance(parts, tuple):
        reading.tells(parts)
        return None
    found = [reading.data(part) for part in parts]
    known = [part for part in found if part is not None]
    return known if len(known) == len(found) and known else None


def agree(reading: Reading, *arguments: Argument | None) -> None:
    """Note that what is put together with whole numbers is whole numbers, as TensorFlow converts none."""
    values = [reading.value(each.expression) for each in arguments if each is not None]
    if any(isinstance(value, Tensor) and value.whole for value in values):
        for value in values:
            reading.integers |= value.alike if isinstance(value, Tensor) else frozenset()


def known(value: Value) -> Seen:
    """What the linter knows an expression to be, as far as shapes go."""
    if isinstance(value, Const):
        return Size(value.value) if isinstance(value.value, int) and not isinstance(value.value, bool) else None
    if isinstance(value, Array):
        return (
            None
            if value.shape is None
            else Tensor(tuple(map(Size, value.shape)), whole=value.dtype in INTEGERS and value.library != "np")
        )
    if isinstance(value, Items) and not value.open:
        return tuple(known(item) for item in value.items)
    return None
