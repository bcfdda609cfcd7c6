"""Repairs as replacements in the user's file: what an editor or a service can apply without knowing this tool."""

from __future__ import annotations

import bisect
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tfmemlint.finding import Edit, Fix
from tfmemlint.report.places import Place

if TYPE_CHECKING:
    from tfmemlint.text.source import Source


@dataclass(frozen=True, slots=True)
class Replacement:
    """A stretch of the file, or of one cell, and the characters that replace it, with the file's own line ends."""

    place: Place
    content: str


def cell_replacements(source: Source, fix: Fix) -> list[Replacement] | None:
    """The repair as a reader sees it, notebooks cell by cell; None where the file cannot take it."""
    return _in_cells(source, fix) if source.kind == "notebook" else file_replacements(source, fix)


def file_replacements(source: Source, fix: Fix) -> list[Replacement] | None:
    """The repair in the file as it is stored; None where the file cannot take it."""
    edits = _raw_edits(source, fix)
    if edits is None:
        return None
    lines = lines_of(source.decoded.raw)
    return [Replacement(lines.place(edit.start, edit.end), edit.content) for edit in edits]


def merged_replacement(source: Source, fix: Fix) -> Replacement | None:
    """The repair as one replacement from its first changed character to the last; None where it cannot be."""
    edits = _raw_edits(source, fix)
    if edits is None:
        return None
    raw, content, done = source.decoded.raw, "", edits[0].start
    for edit in edits:
        content += raw[done : edit.start] + edit.content
        done = edit.end
    return Replacement(lines_of(raw).place(edits[0].start, done), content)


@dataclass(frozen=True, slots=True)
class RawEdit:
    """Replaces characters of the file's decoded text, line ends as they are in it."""

    start: int
    end: int
    content: str


def _raw_edits(source: Source, fix: Fix) -> list[RawEdit] | None:
    try:
        rewritten = source.rewrite(fix.edits)
    except ValueError:
        return None
    if source.kind == "python":
        lines = lines_of(source.decoded.raw)
        return [_python_edit(source, lines, edit) for edit in fix.edits]
    decoded = source.decoded
    return difference(decoded.raw, rewritten[decoded.bom :].decode(decoded.encoding)) or None


def _python_edit(source: Source, lines: Lines, edit: Edit) -> RawEdit:
    first = source.position(edit.start)
    start = end = lines.starts[first.row - 1] + first.column - 1
    if edit.end > edit.start:
        last = source.position(edit.end)
        at_line_start = source.text[edit.end - 1] == "\n"
        end = lines.starts[last.row - 1] + (0 if at_line_start else last.column - 1)
    return RawEdit(start, end, edit.content.replace("\n", lines.line_end(first.row)))


def difference(old: str, new: str) -> list[RawEdit]:
    """The edits that make `new` of `old`, each as short as whole lines trimmed at both ends give."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    middle, made = before[head : len(before) - tail], after[head : len(after) - tail]
    starts = [sum(map(len, before[:head]))]
    for line in middle:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, middle, made, autojunk=False)
    return [
        _trimmed(old, starts[first], starts[last], "".join(made[begin:end]))
        for kind, first, last, begin, end in matcher.get_opcodes()
        if kind != "equal"
    ]


def _trimmed(old: str, start: int, end: int, content: str) -> RawEdit:
    tail = _shared(old[start:end][::-1], content[::-1])
    end, content = end - tail, content[: len(content) - tail]
    head = _shared(old[start:end], content)
    return RawEdit(start + head, end, content[head:])


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike; a minified notebook is one line of megabytes."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _in_cells(source: Source, fix: Fix) -> list[Replacement] | None:
    """A notebook's repair in the characters of its cells, of whose text an edit may see less than the user does."""
    from tfmemlint.text.blocks import BlockSource
    from tfmemlint.text.lines import replacements

    assert isinstance(source, BlockSource)
    starts = [block.span.start for block in source.blocks]
    by_part: dict[int, list[Edit]] = {}
    for edit in fix.edits:
        index = bisect.bisect_right(starts, edit.start) - 1
        if index < 0 or edit.end > source.blocks[index].span.end:
            return None
        shifted = Edit(edit.start - starts[index], edit.end - starts[index], edit.content)
        by_part.setdefault(index, []).append(shifted)
    made: list[Replacement] = []
    try:
        source.rewrite(fix.edits)
        for index, edits in by_part.items():
            part = source.parts[index]
            lines = lines_of(part.origin)
            for start, end, content in replacements(part, edits):
                made.append(Replacement(lines.place(start, end, part.cell), content))
    except ValueError:
        return None
    return made


@lru_cache(maxsize=4)
def lines_of(raw: str) -> Lines:
    """The lines of a text; kept for the next finding in the same file."""
    return Lines(raw)


class Lines:
    """Rows and columns of a text whose lines may end in any of LF, CRLF and CR."""

    def __init__(self, raw: str) -> None:
        from tfmemlint.text.decoding import LINE_END

        found = list(LINE_END.finditer(raw))
        self.starts: Sequence[int] = [0, *(match.end() for match in found)]
        self._ends = [match.group() for match in found]

    def place(self, start: int, end: int, cell: int | None = None) -> Place:
        """The rows and columns, from 1, of the characters `start` to `end`."""
        return Place(*self._position(start), *self._position(end), cell)

    def _position(self, offset: int) -> tuple[int, int]:
        row = bisect.bisect_right(self.starts, offset)
        return row, offset - self.starts[row - 1] + 1

    def line_end(self, row: int) -> str:
        """The line end of a row, or of the one before where the last row has none."""
        return (self._ends[:row][-1:] or ["\n"])[0]
