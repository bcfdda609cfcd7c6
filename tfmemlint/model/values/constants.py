"""Numbers, strings and lengths, and the arithmetic on them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite

from tfmemlint.model.values.callables import Method
from tfmemlint.model.values.value import Composite, Unknown, Value, hashed_once
from tfmemlint.syntax.numbers import bounded

PYTHON: dict[str, Callable[[object, object], object]] = {
    "Add": operator.add, "Subtract": operator.sub, "Multiply": operator.mul, "Divide": operator.truediv,
    "FloorDivide": operator.floordiv, "Modulo": operator.mod, "Power": operator.pow, "LeftShift": operator.lshift,
    "RightShift": operator.rshift, "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
}  # fmt: skip

LONGEST_TEXT = 1 << 16
"""Characters up to which strings are joined: a name that is doubled in each line would fill the memory."""


@dataclass(frozen=True, slots=True)
class Const(Value):
    """A Python number, string, boolean, None or bytes."""

    value: object

    @property
    def weight(self) -> int:
        return 1 + len(self.value) // 64 if isinstance(self.value, (str, bytes)) else 1

    def unary(self, name: str) -> Value:
        return Const(not self.value) if name == "Not" else _signed(name, self)

    def binary(self, name: str, other: Value) -> Value:
        return _computed(name, self, other)


@hashed_once
@dataclass(frozen=True, slots=True)
class Length(Composite):
    """`len(x)`, `x.shape[0]` or a dataset's cardinality: `count` where it is known, and of what."""

    of: Value
    count: int | None = None

    @property
    def parts(self) -> Iterable[Value]:
        return (self.of,)

    def attribute(self, name: str) -> Value:
        if name == "numpy":  # a cardinality is a tensor
            return Method(self, "tf.Tensor.numpy")
        return Value.attribute(self, name)

    def unary(self, name: str) -> Value:
        return _signed(name, self)

    def binary(self, name: str, other: Value) -> Value:
        return _computed(name, self, other)


def number(found: complex) -> Value:
    """The constant, or Unknown for a whole number beyond all that can be counted, and for no number at all."""
    if isinstance(found, int) and bounded(found) is None:
        return Unknown("too large a number")
    if isinstance(found, float) and not isfinite(found):
        return Unknown("not a finite number")
    return Const(found)


def constant(value: Value) -> object | None:
    """The Python object of a constant; a length counts where it is known; None otherwise."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Length):
        return value.count
    return None


def integer(value: Value) -> int | None:
    """The whole number that the value is, or None."""
    found = constant(value)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def least(value: Value) -> int | None:
    """The smallest whole number that a value may be, where all that it may be are whole numbers."""
    numbers = [integer(option) for option in value.options]
    known = [number for number in numbers if number is not None]
    return min(known) if known and len(known) == len(numbers) else None


def _signed(name: str, value: Value) -> Value:
    """`-value` and `+value`."""
    found = constant(value)
    if isinstance(found, (int, float)) and name in ("Minus", "Plus"):
        return number(-found if name == "Minus" else found)
    return Value.unary(value, name)


def _computed(name: str, left: Value, right: Value) -> Value:
    a, b = constant(left), constant(right)
    if a is None or b is None or name not in PYTHON:
        return Value.binary(left, name, right)
    return fold(name, a, b)


def fold(name: str, a: object, b: object) -> Value:
    """The constant `a op b`, or Unknown where it raises or is absurdly large."""
    if name == "Add" and isinstance(a, str) and isinstance(b, str):
        return Const(a + b) if len(a) + len(b) <= LONGEST_TEXT else Unknown("too long a string")
    if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
        return Unknown("arithmetic on other things than numbers")
    if name in ("Power", "LeftShift") and (abs(a) > 1 << 20 or abs(b) > 128):
        return Unknown("too large a power")
    try:
        result = PYTHON[name](a, b)
    except (ArithmeticError, TypeError, ValueError):
        return Unknown("arithmetic that raises")
    if not isinstance(result, (int, float)):  # a negative base of a broken power
        return Unknown("a complex number")
    return number(result)
