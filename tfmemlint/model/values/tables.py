"""Tables of pandas and the bundles in which scikit-learn gives data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint.model.values.array import Array
from tfmemlint.model.values.callables import Method, method_of
from tfmemlint.model.values.constants import constant
from tfmemlint.model.values.containers import Mapping, Sequence
from tfmemlint.model.values.value import BOTTOM, Value, hashed_once

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

OWNER = "pandas.DataFrame"
ARITHMETIC = frozenset({"Add", "Subtract", "Multiply", "Divide", "Power"})
PARTS = frozenset({"iloc", "loc", "T"})
CASTS = frozenset({"to_numpy", "astype"})
"""Methods that cast as NumPy's `astype` does, with the same parameter."""


@dataclass(frozen=True, slots=True)
class Table(Value):
    """A DataFrame or Series, read from a file by `call` with pandas' own dtypes: whole numbers, float64, texts.

    `floats` says that all of it is certainly float64, as after a division.
    """

    call: Call
    floats: bool = False

    @property
    def dtype(self) -> str | None:
        """The dtype of the array that has its numbers; None where it is not known."""
        return "float64" if self.floats else None

    @property
    def cells(self) -> Array:
        """The array of its numbers."""
        return Cells("np", self.dtype, None, self.call)

    def attribute(self, name: str) -> Value:
        if name == "values":
            return self.cells
        if name in CASTS:
            return Method(self if name == "to_numpy" else Array("np"), "np.ndarray.astype")
        return self if name in PARTS else method_of(self, OWNER, name)

    def subscript(self, indices: list[Value | slice]) -> Value:
        return self  # columns or rows

    def item_at(self, index: Value) -> Value:
        return self

    def sliced(self, bounds: slice) -> Value:
        return self

    def unary(self, name: str) -> Value:
        return self if name == "Minus" else Value.unary(self, name)

    def binary(self, name: str, other: Value) -> Value:
        if other is BOTTOM or name not in ARITHMETIC:
            return other.reflected(name, self) if other is BOTTOM else Value.reflected(self, name, other)
        wide = name == "Divide" or isinstance(constant(other), float) or (isinstance(other, Table) and other.floats)
        return Table(self.call, self.floats or wide)

    def reflected(self, name: str, other: Value) -> Value:
        return self.binary(name, other)


@dataclass(frozen=True, slots=True)
class DataFrame(Value):
    """A DataFrame or Series that the program puts together, of which only that is known: no cell of one."""

    def item_at(self, index: Value) -> Value:
        columns = isinstance(index, Sequence) and index.kind == "list"
        return self if columns else Value.item_at(self, index)

    def sliced(self, bounds: slice) -> Value:
        return self


@dataclass(frozen=True, slots=True)
class Cells(Array):
    """The array of a table's numbers: where its dtype is not known, of whole numbers or float64, no other floats."""

    def binary(self, name: str, other: Value) -> Value:
        return self._floats(name, other) or Array.binary(self, name, other)

    def reflected(self, name: str, other: Value) -> Value:
        return self._floats(name, other) or Array.reflected(self, name, other)

    def _floats(self, name: str, other: Value) -> Array | None:
        """What a division gives, or arithmetic with a Python float."""
        array = isinstance(other, Array) and other.library == "np"
        wide = name == "Divide" and (array or isinstance(constant(other), (int, float)))
        if self.dtype is not None or not (wide or isinstance(constant(other), float)):
            return None
        shape = self.shape if not array else None
        return Array("np", "float64", shape, self.origin)


@hashed_once
@dataclass(frozen=True, slots=True)
class Bunch(Mapping):
    """A dictionary whose items are its attributes, too."""

    def attribute(self, name: str) -> Value:
        found = self.get(name)
        return found if found.known else Mapping.attribute(self, name)
