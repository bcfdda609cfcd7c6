"""Whole numbers that stay as small as those of a machine."""

from __future__ import annotations

from collections.abc import Iterable

LARGEST = 1 << 63
"""What whole numbers of the model stay below. No machine counts so many bytes or items, Python refuses to write out
much larger ones, and JSON has no room for them."""


def bounded(number: int) -> int | None:
    """The number, or None where it is beyond all that can be counted."""
    return number if abs(number) < LARGEST else None


def range_length(bounds: Iterable[int | None]) -> int | None:
    """The number of items of `range(*bounds)`; None where a bound is not known, Python refuses it or it is absurd."""
    numbers = list(bounds)
    known = [n for n in numbers if n is not None]
    if not 1 <= len(known) == len(numbers) <= 3 or known[2:] == [0]:
        return None
    items = range(*known)
    length = max(0, -(-(items.stop - items.start) // items.step))  # len(items) ends where a machine word does
    return bounded(length)
