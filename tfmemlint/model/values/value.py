"""What all abstract values have in common, and the two that stand for no knowledge.

Values that hold others know what they weigh and remember their hash: a few lines of code can share one value so often
that no walk over all of its parts would end.

`super()` finds no class with slots that dataclasses make, so that kinds name their base: `Value.binary(self, ...)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

HEAVIEST = 1 << 14
"""The weight of the largest value that is followed: `x = (x, x)`, written forty times, is too large for any memory."""


@dataclass(frozen=True, slots=True)
class Value:
    """Base of all values."""

    @property
    def options(self) -> tuple[Value, ...]:
        """The alternatives: the value itself, or each of a `OneOf`."""
        return (self,)

    @property
    def known(self) -> bool:
        return True

    @property
    def weight(self) -> int:
        """How much there is to walk over, parts that occur twice counted twice."""
        return 1

    def shared(self, others: Sequence[Any]) -> Value:
        """What this value and others of its class have in common, whatever their order; Unknown where that says
        nothing."""
        return Unknown("several values of which nothing is shared")

    # -- what Python's own operations make of it; a kind overrides those that it knows -------------------------------

    def attribute(self, name: str) -> Value:
        """`self.name`, where it is no attribute that the file sets."""
        return Unknown(f"attribute {name} of a {type(self).__name__.lower()}") if self.known else self

    def subscript(self, indices: list[Value | slice]) -> Value:
        """`self[...]` with any indices and slices; the bounds of a slice are values."""
        match indices:
            case [Value() as index]:
                return self.item_at(index)
            case [slice() as bounds]:
                return self.sliced(bounds)
        return Unknown("a slice") if self.known else self

    def item_at(self, index: Value) -> Value:
        """`self[index]`, in subscripts with one index and in unpacking."""
        return Unknown(f"item of a {type(self).__name__.lower()}") if self.known else self

    def sliced(self, bounds: slice) -> Value:
        """`self[start:stop:step]`."""
        return Unknown("a slice") if self.known else self

    def starred(self, bounds: slice) -> Value:
        """What a starred target of an unpacking gets: a list of the items within bounds that are whole numbers."""
        return Unknown("the rest of something not known")

    def iterated(self) -> Value:
        """One element of it, in a loop over it."""
        return Unknown("an item of an iterable") if self.known else self

    def unary(self, name: str) -> Value:
        """`-self`, `+self`, `not self`, `~self`; `name` is libcst's operator class."""
        return Unknown("a truth value" if name == "Not" else "a unary operation")

    def binary(self, name: str, other: Value) -> Value:
        """`self op other`; `name` is libcst's operator class: Add, Divide, MatrixMultiply, ...

        A kind that does not know the other leaves the answer to it.
        """
        return other.reflected(name, self)

    def reflected(self, name: str, other: Value) -> Value:
        """`other op self`, where the left side does not know this value."""
        return Unknown("arithmetic on values that are not known")

    def in_place(self, name: str, other: Value) -> Value:
        """What `self op= other` leaves in its target."""
        return self.binary(name, other)


@dataclass(frozen=True, slots=True)
class Composite(Value):
    """A value that holds others. It is weighed once and hashed once: its parts may be shared by many."""

    _weight: int = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_weight", 1 + sum(part.weight for part in self.parts))

    @property
    def parts(self) -> Iterable[Value]:
        """The values that it holds."""
        return ()

    @property
    def weight(self) -> int:
        return self._weight


AgreedT = TypeVar("AgreedT")
CompositeT = TypeVar("CompositeT", bound=type[Composite])


def hashed_once(cls: CompositeT) -> CompositeT:
    """Let values of a class remember their hash."""
    compute = cls.__hash__

    def remembered(self: Composite) -> int:
        try:
            return self._hash
        except AttributeError:
            found = compute(self)
            object.__setattr__(self, "_hash", found)
            return found

    cls.__hash__ = remembered  # type: ignore[method-assign, assignment]
    return cls


@dataclass(frozen=True, slots=True)
class Unknown(Value):
    """Nothing is known; `why` is for `dump-model`."""

    why: str = ""

    @property
    def known(self) -> bool:
        return False

    @property
    def weight(self) -> int:
        return HEAVIEST if self.why == _TOO_LARGE else 1  # what holds one is too large, too

    def binary(self, name: str, other: Value) -> Value:
        return BOTTOM if self is BOTTOM else Value.binary(self, name, other)

    def reflected(self, name: str, other: Value) -> Value:
        return BOTTOM if self is BOTTOM else Value.reflected(self, name, other)


def agreed(values: Iterable[AgreedT]) -> AgreedT | None:
    """The one thing that all of these are, or None."""
    found = list(values)
    return found[0] if all(value == found[0] for value in found) else None


_TOO_LARGE = "too large a value"
TOO_LARGE = Unknown(_TOO_LARGE)

BOTTOM = Unknown("not computed yet")
"""Stands for a value that depends on itself while it is being computed; joins leave it out."""
