"""The lines that make a cell's or fenced block's part of the program text, and what edits make of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from tfmemlint.finding import Edit
from tfmemlint.text.decoding import RewriteError

Replacement = tuple[int, int, str]
"""A range of the characters that a part was read from, and what comes in its place."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a part: where it stands in the file, and what the program text has for it.

    The text is `raw` with the characters `cut_start` to `cut_end` replaced by `stand_in`; nothing is cut in most lines.
    """

    start: int
    """Offset of `prefix` in the characters that the part was read from."""
    prefix: str
    """What stands before the code and is no part of it: a fence's indentation, a prompt."""
    raw: str
    line_end: str
    cut_start: int = 0
    cut_end: int = 0
    stand_in: str = ""

    @property
    def text(self) -> str:
        """The line of program text, without line end."""
        text = self.raw[: self.cut_start] + self.stand_in + self.raw[self.cut_end :]
        # Half surrogate pairs, which JSON can hold, are no text that a parser takes.
        return text if text.isascii() and "\f" not in text else re.sub("[\f\ud800-\udfff]", " ", text)

    @property
    def end(self) -> int:
        """Offset of the line end in the characters that the part was read from."""
        return self.start + len(self.prefix) + len(self.raw)

    @property
    def stand_in_end(self) -> int:
        """Column of the text at which `raw` goes on after the cut."""
        return self.cut_start + len(self.stand_in)

    @property
    def is_masked(self) -> bool:
        """Whether a range of the text that covers the cut would lose characters that the text does not show."""
        return bool(self.stand_in or self.raw[self.cut_start : self.cut_end].strip())

    def raw_column(self, column: int, *, before_cut: bool = False) -> int:
        """The column in `raw` of a column of the text; at the cut, the side that is asked for."""
        if column < self.cut_start or (before_cut and column == self.cut_start):
            return column
        if column < self.stand_in_end:
            return self.cut_start
        return self.cut_end + column - self.stand_in_end

    def text_column(self, raw_column: int) -> int:
        """The column of the text for a column of `raw`, the nearest one for characters that the text does not show."""
        if raw_column <= self.cut_start:
            return raw_column
        return self.stand_in_end + max(raw_column - self.cut_end, 0)


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of one cell or fenced block; `row` is the row of its first line in the cell or the document."""

    origin: str
    lines: tuple[Line, ...]
    row: int = 1
    cell: int | None = None
    prefix: str = ""
    """What to write before new lines."""
    line_end: str = "\n"
    """What ends new lines where no line before them says it."""
    is_doctest: bool = False
    program: str = ""
    """The program that the part belongs to, of those that the file holds; nothing for the file's own."""

    @property
    def text(self) -> str:
        """The program text of this part, with an LF after each line."""
        return "".join(f"{line.text}\n" for line in self.lines)


def replacements(part: Part, edits: Sequence[Edit]) -> list[Replacement]:
    """What changes in the origin of a part; the edits are in order and count from the start of the part's text.

    Raises RewriteError for edits that touch characters which the text hides or replaces.
    """
    starts = [0]
    for line in part.lines:
        starts.append(starts[-1] + len(line.text) + 1)

    def place(offset: int) -> tuple[int, int]:
        index = bisect_right(starts, offset) - 1
        return index, offset - starts[index]

    clusters: list[tuple[int, int, list[_Placed]]] = []
    for edit in edits:
        (first, column), (last, end_column) = place(edit.start), place(edit.end)
        placed = _Placed(first, column, last, end_column, edit.content)
        if clusters and first <= clusters[-1][1]:
            begin, _, members = clusters[-1]
            clusters[-1] = (begin, last, [*members, placed])
        else:
            clusters.append((first, last, [placed]))
    return [_trimmed(part.origin, *_rebuild(part, *cluster)) for cluster in clusters]


@dataclass(frozen=True, slots=True)
class _Placed:
    """An edit with its ends as line and column of the part."""

    first: int
    column: int
    last: int
    end_column: int
    content: str


def _rebuild(part: Part, first: int, last: int, edits: Sequence[_Placed]) -> Replacement:
    """Replace the lines `first` to `last` of a part by what the edits make of them."""
    behind = Line(part.lines[-1].end, "", "", "")
    lines = (*part.lines, behind)
    made: list[str] = []
    current, done = "", 0
    for edit in edits:
        start, end = _raw_columns(lines, edit)
        head, *more = edit.content.split("\n")
        current += lines[edit.first].raw[done:start] + head
        for piece in more:
            made.append(current)
            current = piece
        done = end
    made.append(current + lines[last].raw[done:])
    if last == len(part.lines) and not made[-1]:
        made.pop()
    line_end = next((line.line_end for line in reversed(lines[: first + 1]) if line.line_end), part.line_end)
    complete = [_prefix(part, lines, first, last, index, made) + text for index, text in enumerate(made)]
    if first == len(part.lines):
        return behind.start, behind.start, "".join(line_end + text for text in complete)
    if not complete:
        start = part.lines[first - 1].end if first else part.lines[0].start
        return start, behind.start + (0 if first else len(part.lines[-1].line_end)), ""
    return lines[first].start, lines[last].end, line_end.join(complete)


def _raw_columns(lines: Sequence[Line], edit: _Placed) -> tuple[int, int]:
    """The columns in the raw first and last line between which an edit's content comes."""
    first, last = lines[edit.first], lines[edit.last]
    if (edit.first, edit.column) == (edit.last, edit.end_column):
        if first.cut_start < edit.column < first.stand_in_end:
            raise RewriteError("the repair would change a magic command")
        column = first.raw_column(edit.column, before_cut="\n" in edit.content or bool(first.stand_in))
        return column, column
    spans_lines = edit.last > edit.first
    covered = list(lines[edit.first + 1 : edit.last])
    if spans_lines:
        covered += [first] if edit.column <= first.cut_start or edit.column < first.stand_in_end else []
        covered += [last] if edit.end_column > last.cut_start else []
    elif edit.end_column > first.cut_start and (edit.column < first.cut_start or edit.column < first.stand_in_end):
        covered.append(first)
    if any(line.is_masked for line in covered):
        raise RewriteError("the repair would change a magic command or an output")
    start = first.raw_column(edit.column, before_cut=spans_lines)
    return start, last.raw_column(edit.end_column, before_cut=True)


def _prefix(part: Part, lines: Sequence[Line], first: int, last: int, index: int, made: Sequence[str]) -> str:
    """What to write before the new line `index` of those that replace the lines `first` to `last`."""
    text = made[index]
    if index == 0 and lines[first].raw.strip():
        own = lines[first].prefix
    elif index == len(made) - 1 and lines[last].raw.strip():
        own = lines[last].prefix
    elif part.is_doctest:
        own = part.prefix + ("... " if text[:1] in (" ", "\t", ")", "]", "}", "") else ">>> ")
    else:
        own = part.prefix
    return own if text else own.rstrip()


def _trimmed(origin: str, start: int, end: int, content: str) -> Replacement:
    """The same replacement without the characters that it has in common with what is there."""
    while end > start and content and origin[end - 1] == content[-1]:
        end -= 1
        content = content[:-1]
    same = 0
    while same < min(end - start, len(content)) and origin[start + same] == content[same]:
        same += 1
    return start + same, end, content[same:]
