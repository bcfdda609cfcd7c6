"""Bytes for people: how they are shown, and what people write for them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)\s*", re.IGNORECASE)
_LONGEST = 40
"""Characters of a text that can be a size."""
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
LEAST_KNOWN = 2049
"""Bytes from which on a lower bound says something: more than the labels of 256 examples."""
_MOST = (1 << 63) - 1
_MOST_SHOWN = 1 << 80
"""Bytes that are worth telling apart; a float ends later, where division would fail."""


class Size(int):
    """A number of bytes, written in a configuration as a number or as "64MiB", "8 GiB", "1.5GB" or "512k"."""


class AtLeast(int):
    """A number of bytes that is a lower bound: of what is weighed some part has no known size. So is what sums,
    multiples and parts of it give."""

    def __add__(self, other: int) -> AtLeast:
        return AtLeast(int(self) + int(other))

    __radd__ = __add__

    def __mul__(self, other: int) -> AtLeast:
        return AtLeast(int(self) * int(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> AtLeast:
        return AtLeast(int(self) // int(other))


def at_most(size: int | None, limit: int) -> bool:
    """Whether a number of bytes is known to be no more than a limit, which a lower bound never is."""
    return size is not None and not isinstance(size, AtLeast) and size <= limit


def total_bytes(sizes: Iterable[int | None], worth: int = LEAST_KNOWN) -> int | None:
    """The sum of some numbers of bytes. Where some are not known it is a lower bound, and None if that is less than
    what is `worth` a word: labels, numbers and boxes of a batch beside images of unknown size."""
    found = list(sizes)
    known = sum(size for size in found if size is not None)
    if None not in found:
        return known
    return AtLeast(known) if known >= worth else None


def parse_size(value: str | int) -> Size:
    """The bytes that a size stands for. `KiB`, `MiB`, `GiB` and single letters are powers of 1024, `kB`, `MB`, `GB` of
    1000. Raises ValueError for anything else and for more than fits into 63 bits."""
    size: float
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        size = value
    else:
        match = _SIZE.fullmatch(value) if isinstance(value, str) and len(value) <= _LONGEST else None
        unit = match[2].lower() if match else ""
        letter = unit.removesuffix("b").removesuffix("i")
        if not match or letter not in _POWERS or unit == "i" or unit == "ib":
            hint = "write a number of bytes or a text such as '64MiB' or '8GiB'"
            raise ValueError(f"{shortened(repr(value))} is not a size; {hint}")
        decimal = unit.endswith("b") and not unit.endswith("ib") and bool(letter)
        size = float(match[1]) * (1000 if decimal else 1024) ** _POWERS[letter]
    if size > _MOST:
        raise ValueError(f"{shortened(repr(value))} is more than any memory; the most is 8191PiB")
    return Size(size)


def shortened(text: str, most: int = 60) -> str:
    """A text of at most this many characters, what is left out being three dots at its end."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def show_bytes(count: int) -> str:
    """A number of bytes in binary units, below 10 with a decimal unless it is whole: 188 MiB, 1.5 GiB, 1 byte; a lower
    bound with that word: at least 18 GiB."""
    if isinstance(count, AtLeast):
        return f"at least {show_bytes(int(count))}"
    if count > _MOST_SHOWN:
        return f"over {show_bytes(_MOST_SHOWN)}"
    if count < 1024:
        return "1 byte" if count == 1 else f"{count} bytes"
    size, index = count / 1024, 0
    while round(size) >= 1024 and index + 1 < len(_UNITS):
        size, index = size / 1024, index + 1
    exact = size == int(size)
    return f"{size:.1f} {_UNITS[index]}" if round(size, 1) < 10 and not exact else f"{size:.0f} {_UNITS[index]}"


def show_each(size: int | None, count: int | None) -> str:
    """What things weigh, behind their number: ` of 6 MiB: 1.5 GiB` for 256 of `size` bytes each; nothing where that is
    not known."""
    return f" of {show_bytes(size)}: {show_bytes(size * count)}" if size is not None and count is not None else ""


def show_halved(count: int | None) -> str:
    """What a number of bytes would become at half the width, for the end of a message: ": 2 MiB instead of 1 MiB".
    Nothing where it is not known."""
    return "" if count is None else f": {show_bytes(count)} instead of {show_bytes(int(count) // 2)}"
