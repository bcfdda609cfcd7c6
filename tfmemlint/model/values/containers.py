"""Tuples, lists, dictionaries, and what goes through them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tfmemlint.model.values.alternatives import one_of
from tfmemlint.model.values.callables import Method
from tfmemlint.model.values.constants import Const, Length, constant, integer
from tfmemlint.model.values.value import Composite, Unknown, Value, hashed_once

MOST_ITEMS = 1 << 12
"""Items up to which lists and tuples are joined."""

LONGEST_REPETITION = 100
"""Items up to which `[x] * n` is written out."""

COMPREHENSION = "comprehension"
"""The `function` of an Iterator that is made of other items than those of `of`, or of fewer."""


@hashed_once
@dataclass(frozen=True, slots=True)
class Sequence(Composite):
    """A tuple, list or set display; `open` means that more items may have been added."""

    items: tuple[Value, ...]
    kind: str = "tuple"
    open: bool = False

    @property
    def parts(self) -> Iterable[Value]:
        return self.items

    def with_item(self, item: Value) -> Sequence:
        """This and one item more at its end, without weighing again what is here: long lists are made item by item."""
        made = object.__new__(Sequence)
        new = {"items": (*self.items, item), "kind": self.kind, "open": self.open, "_weight": self.weight + item.weight}
        for name, value in new.items():
            object.__setattr__(made, name, value)
        return made

    def item_at(self, index: Value) -> Value:
        position = constant(index)
        if isinstance(position, int) and not self.open and -len(self.items) <= position < len(self.items):
            return self.items[position]
        return one_of(self.items) if self.items and not self.open else Unknown("item of a sequence")

    def sliced(self, bounds: slice) -> Value:
        given = [constant(bound) for bound in (bounds.start, bounds.stop, bounds.step)]
        whole = [bound for bound in given if bound is None or isinstance(bound, int)]
        if self.open or len(whole) < len(given) or whole[2] == 0:
            return Value.sliced(self, bounds)
        return Sequence(self.items[whole[0] : whole[1] : whole[2]], self.kind)

    def starred(self, bounds: slice) -> Value:
        return Value.starred(self, bounds) if self.open else Sequence(self.items[bounds], "list")

    def iterated(self) -> Value:
        return one_of(self.items) if self.items and not self.open else Value.iterated(self)

    def binary(self, name: str, other: Value) -> Value:
        if name == "Add" and isinstance(other, Sequence):
            return self._joined(other)
        if name == "Multiply" and isinstance(other, (Const, Length)):
            return self._repeated(integer(other))
        return Value.binary(self, name, other)

    def _joined(self, other: Sequence) -> Value:
        if len(self.items) + len(other.items) > MOST_ITEMS:
            return Sequence((), self.kind, open=True)
        return Sequence(self.items + other.items, self.kind, self.open or other.open)

    def _repeated(self, times: int | None) -> Value:
        """`[x] * 3`."""
        if times is None or self.open or times * len(self.items) > LONGEST_REPETITION:
            return Unknown("a sequence repeated too often, or how often is not known")
        return Sequence(self.items * times, self.kind)


@hashed_once
@dataclass(frozen=True, slots=True)
class Mapping(Composite):
    """A dictionary display with constant keys; `open` means that more may be in it."""

    items: tuple[tuple[object, Value], ...]
    open: bool = False

    @property
    def parts(self) -> Iterable[Value]:
        return (value for _, value in self.items)

    def get(self, key: object) -> Value:
        for known, value in self.items:
            if known == key:
                return value
        return Unknown("no such key")

    def attribute(self, name: str) -> Value:
        if name in ("items", "values", "get"):
            return Method(self, f"builtins.dict.{name}")
        return Value.attribute(self, name)

    def item_at(self, index: Value) -> Value:
        key = constant(index)
        found = self.get(key)
        return found if found.known else Unknown(f"key {key!r}")

    def binary(self, name: str, other: Value) -> Value:
        if name == "BitOr" and isinstance(other, Mapping):
            return Mapping(tuple({**dict(self.items), **dict(other.items)}.items()), self.open or other.open)
        return Value.binary(self, name, other)


@hashed_once
@dataclass(frozen=True, slots=True)
class Iterator(Composite):
    """`iter(x)`, `enumerate(x)`, `zip(...)`, a comprehension: `item` is one element, `of` what is iterated.

    `function` is the last part of the name of what is called, or COMPREHENSION.
    """

    of: Value
    item: Value
    function: str = "iter"

    @property
    def parts(self) -> Iterable[Value]:
        return (self.of, self.item)

    def item_at(self, index: Value) -> Value:
        return self.item

    def sliced(self, bounds: slice) -> Value:
        listed = self.function in ("list", "tuple", "sorted", COMPREHENSION) and self.item.known
        return Iterator(self, self.item, COMPREHENSION) if listed else Value.sliced(self, bounds)

    def iterated(self) -> Value:
        return self.item


def unpacked(value: Value, path: tuple[int | slice, ...]) -> Value:
    """The part of a value that an unpacking target at `path` is bound to; a slice stands for a starred target."""
    for index in path:
        value = value.starred(index) if isinstance(index, slice) else value.item_at(Const(index))
    return value
