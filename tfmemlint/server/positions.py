"""Places of a text as editors count them: lines and columns from 0, columns in code units of the agreed encoding."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import NamedTuple

from lsprotocol.types import Position, Range

from tfmemlint.text.decoding import LINE_END


class Encoding(NamedTuple):
    """How columns count: `name` as the protocol has it, and the units of a text."""

    name: str
    units: Callable[[str], int]


def _utf16(text: str) -> int:
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


UTF16 = Encoding("utf-16", _utf16)
ENCODINGS = {each.name: each for each in (UTF16, Encoding("utf-8", _utf8), Encoding("utf-32", len))}


class Lines:
    """The lines of a text. Only CR, LF and both end one, as the protocol says and as Python does: a form feed does not.

    Any position is taken: what lies outside of the text is the nearest place inside.
    """

    def __init__(self, text: str, encoding: Encoding = UTF16) -> None:
        self.text = text
        self._units = encoding.units
        ends = [(match.start(), match.end()) for match in LINE_END.finditer(text)]
        self._starts = [0, *(end for _, end in ends)]
        self._ends = [*(start for start, _ in ends), len(text)]

    def offset(self, position: Position) -> int:
        """The index of a position in the text; within a character, that of the character."""
        if position.line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[max(position.line, 0)], self._ends[max(position.line, 0)]
        line = self.text[start:end]
        if position.character >= self._units(line):
            return end
        low, high = 0, len(line)
        while low < high:  # the last column that lies at the position or before it
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._units(line[:middle]) <= position.character else (low, middle - 1)
        return start + low

    def position(self, offset: int) -> Position:
        """The position of an index of the text."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect.bisect_right(self._starts, offset) - 1
        return Position(line, self._units(self.text[self._starts[line] : offset]))

    def at(self, row: int, column: int) -> Position:
        """The position of a row and column in characters, both from 1. They are those of a program, whose first row
        does not count a byte order mark; the text has it where an editor left it there."""
        line = min(max(row, 1), len(self._starts)) - 1
        column += not line and self.text.startswith("\ufeff")
        start = self._starts[line]
        return Position(line, self._units(self.text[start : min(start + max(column, 1) - 1, self._ends[line])]))

    def range(self, start: int, end: int) -> Range:
        """The range between two indices of the text."""
        return Range(self.position(start), self.position(end))

    def line(self, number: int) -> str:
        """A line by its number, from 0; empty where there is none."""
        return self.text[self._starts[number] : self._ends[number]] if 0 <= number < len(self._starts) else ""


def touches(one: Range, other: Range) -> bool:
    """Whether two ranges share a place; one without characters is a place, too."""
    return _key(one.start) <= _key(other.end) and _key(other.start) <= _key(one.end)


def _key(position: Position) -> tuple[int, int]:
    return position.line, position.character
