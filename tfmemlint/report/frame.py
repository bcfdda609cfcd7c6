"""A few lines of code with the place of a finding marked by carets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint.finding import Severity
from tfmemlint.report.places import Place
from tfmemlint.report.style import Style, cells, width

if TYPE_CHECKING:
    from tfmemlint.text.source import Source

CUT = "..."


@dataclass(frozen=True, slots=True)
class Window:
    """The columns of a terminal, `start` to `end`, that are shown of lines too long to be shown whole."""

    start: int
    end: int

    def show(self, line: str) -> str:
        """What is seen of a line, with dots where it is cut; wide characters on a cut are dropped."""
        shown, column, cut_end = "", 0, False
        for piece in cells(line):
            before, column = column, column + width(piece)
            if column > self.end:
                cut_end = True
                break
            if before >= self.start:
                shown = shown or " " * (before - self.start)
                shown += piece
        head = CUT if self.start and column > self.start else ""
        return (head + shown + (CUT if cut_end else "")).rstrip()

    def offset(self, column: int) -> int:
        """Where a column of the line is printed."""
        return column - self.start + (len(CUT) if self.start else 0)


def window(line: str, first: int, last: int, limit: int) -> Window:
    """The window of at most `limit` columns that shows the characters `first` to `last` of a line in their context."""
    pieces = cells(line)
    total = width("".join(pieces))
    if total <= limit:
        return Window(0, limit)
    room = max(limit - 2 * len(CUT), 10)
    before, within = width("".join(pieces[:first])), width("".join(pieces[first:last]))
    start = max(min(before - max((room - within) // 2, 0), total - room), 0)
    return Window(start, start + room)


def frame(source: Source, place: Place, severity: Severity, style: Style, limit: int) -> Iterator[str]:
    """The line of a place with a line of context on either side, and carets under the place."""
    line = source.line_text(place.row, place.cell)
    last = place.end_column if place.end_row == place.row else len(line.rstrip()) + 1
    first, last = place.column - 1, max(last - 1, place.column)
    gutter = len(str(place.row + 1))
    seen = window(line, first, last, max(limit - gutter - 4, 20))
    for row in (place.row - 1, place.row, place.row + 1):
        text = seen.show(source.line_text(row, place.cell))
        if text or row == place.row:
            yield f" {style(f'{row:>{gutter}} |', 'dim')} {text}".rstrip()
        if row == place.row:
            carets = _carets(line, first, last, seen)
            yield f" {style(' ' * gutter + ' |', 'dim')} {style.severity(carets, severity)}"


def _carets(line: str, first: int, last: int, seen: Window) -> str:
    pieces = cells(line)
    start = width("".join(pieces[:first]))
    end = min(start + max(width("".join(pieces[first:last])), 1), max(seen.end, start + 1))
    mark = "^" * (end - start)
    blank = " " * seen.offset(start)
    return blank + mark
