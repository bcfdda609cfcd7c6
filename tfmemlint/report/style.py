"""Colours of a terminal, and how wide text is on one."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from tfmemlint.finding import Severity
from tfmemlint.report.base import clean

TAB = 4
"""Columns between tab stops."""

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "cyan": "36",
}
_SEVERITY = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


@dataclass(frozen=True, slots=True)
class Style:
    """Puts ANSI colours around text, or leaves it alone."""

    color: bool

    def __call__(self, text: str, *styles: str) -> str:
        if not self.color or not text:
            return text
        return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"

    def severity(self, text: str, severity: Severity) -> str:
        """The text in the colour of a severity."""
        return self(text, "bold", _SEVERITY[severity])


def cells(line: str) -> list[str]:
    """What to print for each character of a line: tabs as blanks, controls as escapes."""
    shown, column = [], 0
    for char in line:
        piece = " " * (TAB - column % TAB) if char == "\t" else clean(char)
        shown.append(piece)
        column += width(piece)
    return shown


def width(text: str) -> int:
    """The columns of a terminal that a text takes: two for wide East Asian characters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(map(_char_width, text))


def _char_width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
