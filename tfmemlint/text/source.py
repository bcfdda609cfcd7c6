"""The program text of a file and the way back to the user's rows, columns and bytes.

`Source.text` is what is parsed: LF line ends, no byte order mark, no form feeds. All offsets of the tool count its
characters. Notebooks and documents, whose text is gathered from cells and fenced blocks, are subclasses in `blocks`.
"""

from __future__ import annotations

import bisect
import copy
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from tfmemlint.finding import Edit, Span
from tfmemlint.text.decoding import LINE_END, Decoded, RewriteError, SourceError, splice

__all__ = ["Block", "Position", "Program", "RewriteError", "Source", "SourceError"]

# A form feed sets the indentation back to nothing at the start of a line and is a space elsewhere; libcst does not
# give it back, so the text has neither.
_LEADING_FEED = re.compile(r"^[ \t\f]*\f", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in the user's file: row and column in characters, and a notebook's cell (of all cells), all from 1."""

    row: int
    column: int
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the text that must parse on its own: a whole file, a cell, a fenced block."""

    span: Span
    cell: int | None = None


@dataclass(frozen=True)
class Program:
    """One program of a file: its own source, and where its stretches stand in the text of the whole file."""

    source: Source
    starts: tuple[tuple[int, int], ...] = ((0, 0),)
    """For each stretch, in order: its first offset in the program's text and in the whole text."""

    def whole(self, offset: int) -> int:
        """The offset in the text of the whole file of one in the program's text."""
        own, whole = self.starts[bisect.bisect_right(self.starts, (offset, len(self.source.data))) - 1]
        return whole + offset - own

    def own(self, offset: int) -> int | None:
        """The offset in the program's text of one in the text of the whole file; None where another program stands."""
        if len(self.starts) == 1:  # however many cells that stretch has
            own, whole = self.starts[0]
            return own + offset - whole if 0 <= offset - whole <= len(self.source.text) - own else None
        for (own, whole), block in zip(self.starts, self.source.blocks, strict=True):
            if whole <= offset <= whole + block.span.end - block.span.start:
                return own + offset - whole
        return None


class Source:
    """The program text of one file, and the map from its offsets to the file's rows, columns and bytes."""

    kind = "python"

    def __init__(self, data: bytes, path: str, decoded: Decoded) -> None:
        self.data = data
        self.path = path
        self.decoded = decoded
        self.text = _plain(decoded.raw)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The parts of the text that must parse on their own, in order."""
        return (Block(Span(0, len(self.text))),)

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs of the file, in order: one, but for notebooks that write files and for documents."""
        return (Program(self),)

    def without_blocks(self, bad: Collection[int]) -> Source:
        """The same source with the numbered blocks blanked in the text; all offsets stay valid."""
        blocks = self.blocks
        blanks = []
        for index in sorted(bad):
            span = blocks[index].span
            blanks.append(Edit(span.start, span.end, re.sub(r"[^\n]", " ", self.text[span.start : span.end])))
        other = copy.copy(self)
        other.text = edited(self.text, blanks)
        return other

    @cached_property
    def line_starts(self) -> list[int]:
        """Offsets in the text at which its lines begin."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line_index(self, offset: int) -> int:
        """The number, from 0, of the text's line that holds `offset`."""
        return bisect.bisect_right(self.line_starts, offset) - 1

    def line_span(self, offset: int) -> Span:
        """The text's line that holds `offset`, without its line end."""
        start = self.line_starts[self.line_index(offset)]
        end = self.text.find("\n", start)
        return Span(start, len(self.text) if end < 0 else end)

    @cached_property
    def _raw_lines(self) -> list[tuple[int, int, int]]:
        """For each line: its offset in the raw characters, its length without line end, the leading characters that
        the text leaves out."""
        raw, lines, start = self.decoded.raw, [], 0
        for match in LINE_END.finditer(raw):
            lines.append((start, match.start() - start))
            start = match.end()
        lines.append((start, len(raw) - start))
        hidden: dict[int, int] = {}
        if "\f" in raw:
            for begin, length in lines:
                feed = _LEADING_FEED.match(raw[begin : begin + length])
                if feed:
                    hidden[begin] = feed.end()
        return [(begin, length, hidden.get(begin, 0)) for begin, length in lines]

    def position(self, offset: int) -> Position:
        """The row and column of the user's file at which the character at `offset` stands."""
        index = self.line_index(offset)
        return Position(index + 1, offset - self.line_starts[index] + self._raw_lines[index][2] + 1)

    def file_position(self, offset: int) -> Position:
        """The row and column of the file itself, which for a notebook are those of its JSON text."""
        return self.position(offset)

    def offset(self, row: int, column: int, cell: int | None = None) -> int:
        """The offset of a place of the user's file; places outside the text give the nearest one inside."""
        index = min(max(row, 1), len(self.line_starts)) - 1
        _, length, hidden = self._raw_lines[index]
        return self.line_starts[index] + max(min(column - 1, length) - hidden, 0)

    def line_text(self, row: int, cell: int | None = None) -> str:
        """A row of the user's file as it stands there, without its line end; empty for rows outside the file."""
        if not 1 <= row <= len(self._raw_lines):
            return ""
        start, length, _ = self._raw_lines[row - 1]
        return self.decoded.raw[start : start + length]

    def rewrite(self, edits: Sequence[Edit]) -> bytes:
        """The file's bytes with the edits made; every byte outside them stays as it is.

        LFs in the edits become the line end used at that place. Raises ValueError for edits that overlap or lie outside
        the text and RewriteError for edits that the file cannot take.
        """
        data, raw = splice(self.data, self.decoded, self._raw_edits(checked(edits, len(self.text))))
        if _plain(raw) != self.edited_text(edits):
            raise RewriteError("the repair would join line ends or form feeds of the file")
        return data

    def edited_text(self, edits: Sequence[Edit]) -> str:
        """The program text that `rewrite` gives with these edits."""
        return edited(_plain(self.decoded.raw), checked(edits, len(self.text)))

    def _raw_edits(self, edits: Sequence[Edit]) -> list[tuple[int, int, str]]:
        made = []
        for edit in edits:
            start = self._raw_offset(edit.start, after_hidden=True)
            end = start if edit.start == edit.end else self._raw_offset(edit.end, after_hidden=False)
            made.append((start, end, edit.content.replace("\n", self._line_end(edit.start))))
        return made

    def _raw_offset(self, offset: int, *, after_hidden: bool) -> int:
        index = self.line_index(offset)
        begin, _, hidden = self._raw_lines[index]
        column = offset - self.line_starts[index]
        return begin + column + (hidden if column or after_hidden else 0)

    def _line_end(self, offset: int) -> str:
        """The line end of the line at `offset`, or of the one before where the last line has none."""
        raw, index = self.decoded.raw, self.line_index(offset)
        for begin, length, _ in reversed(self._raw_lines[max(index - 1, 0) : index + 1]):
            found = LINE_END.match(raw, begin + length)
            if found:
                return found.group()
        return "\n"


def _plain(raw: str) -> str:
    """The characters of a Python file as they are parsed: LF line ends and no form feeds."""
    if "\r" in raw:
        raw = raw.replace("\r\n", "\n").replace("\r", "\n")
    if "\f" in raw:
        raw = _LEADING_FEED.sub("", raw).replace("\f", " ")
    return raw


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with the edits made, which are in order and apart from each other."""
    parts: list[str] = []
    done = 0
    for edit in edits:
        parts += (text[done : edit.start], edit.content)
        done = edit.end
    return "".join((*parts, text[done:]))


def checked(edits: Sequence[Edit], length: int) -> list[Edit]:
    """The edits in order. Raises ValueError when two overlap or one lies outside a text of this length."""
    ordered = sorted(edits)
    done = 0
    for edit in ordered:
        if edit.start < done or edit.end > length:
            raise ValueError(f"{edit} overlaps another edit or lies outside the text of {length} characters")
        done = edit.end
    return ordered
