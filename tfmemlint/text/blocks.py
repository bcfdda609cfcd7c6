"""Program text gathered from several places of one file: the cells of a notebook, the fenced blocks of a document.

Each part of the text keeps the lines it was made of. An edit rebuilds only the lines that it touches, with the
indentation or prompt that stands before them in the file; the subclasses write the changed stretches back.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from tfmemlint.finding import Edit, Span
from tfmemlint.text.decoding import Decoded, RewriteError
from tfmemlint.text.lines import Part, Replacement, replacements
from tfmemlint.text.source import Block, Position, Program, Source, checked, edited


class BlockSource(Source, ABC):
    """A source whose text is joined from parts, with one empty line between each two.

    That line is the place after the last line of the part before it: text added there belongs to that part.
    """

    def __init__(self, data: bytes, path: str, decoded: Decoded, parts: Sequence[Part]) -> None:
        self.data = data
        self.path = path
        self.decoded = decoded
        self._join(tuple(part for part in parts if part.lines))

    def _join(self, parts: tuple[Part, ...]) -> None:
        """Take the parts as the source's, and their lines as its text."""
        self.parts = parts
        texts = [part.text for part in self.parts]
        self.text = "\n".join(texts)
        self._part_starts: list[int] = []
        start = 0
        for text in texts:
            self._part_starts.append(start)
            start += len(text) + 1
        self._part_lengths = [len(text) for text in texts]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One block a part."""
        places = zip(self.parts, self._part_starts, self._part_lengths, strict=True)
        return tuple(Block(Span(start, start + length), part.cell) for part, start, length in places)

    @property
    def programs(self) -> tuple[Program, ...]:
        """One program for each name that the parts give theirs."""
        groups: dict[str, list[int]] = {}
        for index, part in enumerate(self.parts):
            groups.setdefault(part.program, []).append(index)
        if len(groups) < 2:
            return super().programs
        return tuple(self._program(group) for group in groups.values())

    def _program(self, group: Sequence[int]) -> Program:
        source = copy.copy(self)
        for name in ("line_starts", "_first_lines"):
            source.__dict__.pop(name, None)
        source._join(tuple(self.parts[index] for index in group))
        starts = [self._part_starts[index] for index in group]
        return Program(source, tuple(zip(source._part_starts, starts, strict=True)))

    @cached_property
    def _first_lines(self) -> list[int]:
        """The index among the text's lines of each part's first line."""
        return [self.line_index(start) for start in self._part_starts]

    def _line_at(self, offset: int) -> tuple[int, int, int]:
        """Part, line in the part and column of an offset; the line after the last is the place behind the part."""
        part = bisect_right(self._part_starts, offset) - 1
        index = self.line_index(offset)
        return part, index - self._first_lines[part], offset - self.line_starts[index]

    def position(self, offset: int) -> Position:
        if not self.parts:
            return Position(1, 1)
        part_index, index, column = self._line_at(offset)
        part = self.parts[part_index]
        if index >= len(part.lines):
            index, column = len(part.lines) - 1, len(part.lines[-1].text)
        line = part.lines[index]
        return Position(part.row + index, len(line.prefix) + line.raw_column(column) + 1, part.cell)

    def offset(self, row: int, column: int, cell: int | None = None) -> int:
        for part_index, part in enumerate(self.parts):
            if part.cell != cell or row >= part.row + len(part.lines):
                continue
            if row < part.row:
                return self._part_starts[part_index]
            index = row - part.row
            line = part.lines[index]
            column = min(max(column - 1 - len(line.prefix), 0), len(line.raw))
            return self.line_starts[self._first_lines[part_index] + index] + line.text_column(column)
        return len(self.text)

    def line_text(self, row: int, cell: int | None = None) -> str:
        for part in self.parts:
            if part.cell == cell and part.row <= row < part.row + len(part.lines):
                line = part.lines[row - part.row]
                return line.prefix + line.raw
        return ""

    def rewrite(self, edits: Sequence[Edit]) -> bytes:
        by_part = self._by_part(edits)
        data = self._write([(self.parts[index], replacements(self.parts[index], by_part[index])) for index in by_part])
        if self._read_again(data).text != self.edited_text(edits):
            raise RewriteError("the repair would change what the file's other lines mean")
        return data

    def edited_text(self, edits: Sequence[Edit]) -> str:
        by_part = self._by_part(edits)
        texts = [_with_line_end(edited(part.text, by_part.get(index, ()))) for index, part in enumerate(self.parts)]
        return "\n".join(filter(None, texts))

    def _by_part(self, edits: Sequence[Edit]) -> dict[int, list[Edit]]:
        """The edits of each part, counted from its start. Raises RewriteError for one that reaches over its end."""
        by_part: dict[int, list[Edit]] = {}
        for edit in checked(edits, len(self.text)):
            if not self.parts:
                raise RewriteError("the file has no code to edit")
            index = bisect_right(self._part_starts, edit.start) - 1
            start = self._part_starts[index]
            if edit.end - start > self._part_lengths[index]:
                raise RewriteError("the repair reaches over the end of a cell or block")
            by_part.setdefault(index, []).append(Edit(edit.start - start, edit.end - start, edit.content))
        return by_part

    @abstractmethod
    def _read_again(self, data: bytes) -> Source:
        """The source that this file's new bytes make."""

    @abstractmethod
    def _write(self, changes: Sequence[tuple[Part, Sequence[Replacement]]]) -> bytes:
        """The file's bytes with these ranges of the parts' origins replaced."""


def _with_line_end(text: str) -> str:
    return f"{text}\n" if text and not text.endswith("\n") else text
