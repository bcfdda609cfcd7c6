"""Values that are one of a few, and joins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tfmemlint.model.values.value import BOTTOM, Composite, Unknown, Value, hashed_once

MOST_OPTIONS = 8
"""Alternatives that a join keeps apart: three optional steps, or two and a loop. Of more it keeps what all share."""


@hashed_once
@dataclass(frozen=True, slots=True)
class OneOf(Composite):
    """One of a few values, by the path that was taken."""

    values: tuple[Value, ...]

    @property
    def parts(self) -> Iterable[Value]:
        return self.values

    @property
    def options(self) -> tuple[Value, ...]:
        return self.values

    def attribute(self, name: str) -> Value:
        return one_of(value.attribute(name) for value in self.values)

    def subscript(self, indices: list[Value | slice]) -> Value:
        return one_of(value.subscript(indices) for value in self.values)

    def item_at(self, index: Value) -> Value:
        return one_of(value.item_at(index) for value in self.values)

    def iterated(self) -> Value:
        return one_of(value.iterated() for value in self.values)

    def binary(self, name: str, other: Value) -> Value:
        return one_of(value.binary(name, other) for value in self.values)

    def reflected(self, name: str, other: Value) -> Value:
        return one_of(other.binary(name, value) for value in self.values)

    def in_place(self, name: str, other: Value) -> Value:
        return one_of(value.in_place(name, other) for value in self.values)


def one_of(values: Iterable[Value]) -> Value:
    """The join: equal values are one, a few different ones are kept, of too many only what all have in common; an
    unknown one makes it Unknown."""
    found: dict[Value, None] = {}
    for value in values:
        for option in value.options:
            if option is BOTTOM:
                continue
            if not option.known:
                return option
            found[option] = None
    if not found:
        return BOTTOM
    if len(found) == 1:
        return next(iter(found))
    return OneOf(tuple(found)) if len(found) <= MOST_OPTIONS else shared(tuple(found))


def shared(options: tuple[Value, ...]) -> Value:
    """What alternatives have in common that are too many to be told apart."""
    first, *others = options
    if any(other.__class__ is not first.__class__ for other in others):
        return Unknown(f"{len(options)} different values meet")
    return first.shared(others)
