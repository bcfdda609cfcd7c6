"""Shapes whose sizes are not numbers yet: which sizes must be the same, and which are given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

NUMBER = 0
"""In place of the number of axes: no array, a whole number that sizes are made of. Negative: a model, with the axes of
what it gives."""


class ConflictError(Exception):
    """A shape that the code cannot mean."""


class Size:
    """One size of a shape, or a number that becomes one. Sizes that `same` has put together are one and the same."""

    __slots__ = ("_number", "_other")

    def __init__(self, number: int | None = None) -> None:
        self._number = number
        self._other: Size | None = None

    @property
    def root(self) -> Size:
        """The size that stands for all those that are the same."""
        found = self
        while found._other is not None:
            found = found._other
        return found

    @property
    def number(self) -> int | None:
        """What it is, None where any number will do."""
        return self.root._number

    def same(self, other: Size) -> None:
        """Put two sizes together. Raises ConflictError where they are different numbers."""
        mine, others = self.root, other.root
        if mine is others:
            return
        if mine._number is not None and others._number is not None and mine._number != others._number:
            raise ConflictError
        if mine._number is None:
            mine._other = others
        else:
            others._other = mine


@dataclass(frozen=True)
class Tensor:
    """An array or tensor, and the parameters (by number) that its data comes from."""

    sizes: tuple[Size, ...]
    sources: frozenset[int] = frozenset()
    whole: bool = False
    """Whether it holds whole numbers, as far as the code says so."""
    dtype: str = ""
    """What an operation made of its data, as flags of a comparison; empty where it is as its sources are."""

    @property
    def alike(self) -> frozenset[int]:
        """The parameters that hold what it holds."""
        return frozenset() if self.dtype else self.sources

    @property
    def rank(self) -> int:
        return len(self.sizes)

    def shaped(self, sizes: Sequence[Size]) -> Tensor:
        """The same data in another shape."""
        return replace(self, sizes=tuple(sizes))


@dataclass(frozen=True)
class Output:
    """A model: what it gives has these sizes, after as many rows as it is called with."""

    sizes: tuple[Size, ...]

    def of(self, given: Seen) -> Tensor:
        """What it gives for an argument."""
        rows = given.sizes[0] if isinstance(given, Tensor) and given.rank else Size()
        return Tensor((rows, *self.sizes))


Seen = Tensor | Size | Output | tuple["Seen", ...] | None
"""What an expression is: a tensor, a number, a model, several of them, or nobody knows."""


def axis_of(tensor: Tensor, axis: int, more: int = 0) -> int:
    """The axis that a number names, in an array that has `more` axes than this one. Raises ConflictError."""
    rank = tensor.rank + more
    if not -rank <= axis < rank:
        raise ConflictError
    return axis % rank


def broadcast(left: Tensor, right: Tensor) -> Tensor:
    """What arithmetic makes of two arrays. Raises ConflictError."""
    longer, shorter = (left, right) if left.rank >= right.rank else (right, left)
    head = longer.rank - shorter.rank
    sizes = [*longer.sizes[:head]]
    for one, two in zip(longer.sizes[head:], shorter.sizes, strict=True):
        if one.number != 1 and two.number != 1:
            one.same(two)
        sizes.append(two if one.number == 1 else one)
    return Tensor(tuple(sizes), left.sources | right.sources)


def reduced(tensor: Tensor, axes: Sequence[int] | None, keep: bool) -> Tensor:
    """What is left of an array after a sum over these axes, None for all. Raises ConflictError."""
    gone = set(range(tensor.rank)) if axes is None else {axis_of(tensor, axis) for axis in axes}
    sizes = [Size(1) if axis in gone else size for axis, size in enumerate(tensor.sizes) if keep or axis not in gone]
    return tensor.shaped(sizes)


def product(left: Tensor, right: Tensor) -> Tensor:
    """The matrix product of two arrays. Raises ConflictError."""
    if left.rank < 2 or right.rank < 2:
        raise ConflictError
    left.sizes[-1].same(right.sizes[-2])
    outer = broadcast(left.shaped(left.sizes[:-2]), right.shaped(right.sizes[:-2]))
    return outer.shaped((*outer.sizes, left.sizes[-2], right.sizes[-1]))


def joined(parts: Sequence[Tensor], axis: int) -> Tensor:
    """Arrays one behind the other along an axis. Raises ConflictError."""
    first = parts[0]
    along = axis_of(first, axis)
    for other in parts[1:]:
        if other.rank != first.rank:
            raise ConflictError
        for number, (one, two) in enumerate(zip(first.sizes, other.sizes, strict=True)):
            if number != along:
                one.same(two)
    sources = frozenset().union(*(part.sources for part in parts))
    return Tensor(tuple(Size() if n == along else size for n, size in enumerate(first.sizes)), sources)


def stacked(parts: Sequence[Tensor], axis: int) -> Tensor:
    """Arrays of one shape along a new axis. Raises ConflictError."""
    whole = parts[0]
    for other in parts[1:]:
        if other.rank != whole.rank:
            raise ConflictError
        whole = broadcast(whole, other)
    sizes = list(whole.sizes)
    sizes.insert(axis_of(whole, axis, 1), Size(len(parts)))
    return whole.shaped(sizes)


def repeated(tensor: Tensor, times: Sequence[Seen]) -> Tensor:
    """`tf.tile`. Raises ConflictError where there is not one number for each axis."""
    if len(times) != tensor.rank:
        raise ConflictError
    sizes = []
    for size, count in zip(tensor.sizes, times, strict=True):
        once = isinstance(count, Size) and count.number == 1
        given = count if isinstance(count, Size) and size.number == 1 else Size()
        sizes.append(size if once else given)
    return tensor.shaped(sizes)


def reshaped(tensor: Tensor, shape: Sequence[Seen]) -> Tensor:
    """The same elements in another shape. Where it has as many sizes as before, those of 1 left out, they are the same
    ones; where all but the first are numbers, the last axis is cut into those. Raises ConflictError."""
    sizes = [each if isinstance(each, Size) and each.number != -1 else Size() for each in shape]
    before, after = ([size for size in side if size.number != 1] for side in (tensor.sizes, sizes))
    if len(before) == len(after) and all(isinstance(each, Size) and each.number != -1 for each in shape):
        for one, two in zip(before, after, strict=True):
            one.same(two)
    first, rest = (shape[0] if shape else None), math.prod(size.number or 0 for size in sizes[1:])
    if rest and len(sizes) > 1 and isinstance(first, Size) and first.number == -1 and tensor.rank > 1:
        if tensor.rank == 2 or tensor.sizes[-1].number is None:
            tensor.sizes[-1].same(Size(rest))
    return tensor.shaped(sizes)


def of_kind(kind: int, key: int) -> Seen:
    """What a parameter is at first, of a kind; its sizes are not numbers yet."""
    if kind < 0:
        return Output(tuple(Size() for _ in range(-kind - 1)))
    return Size() if kind == NUMBER else Tensor(tuple(Size() for _ in range(kind)), frozenset((key,)))
