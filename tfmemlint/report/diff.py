"""A repair as a small diff of the lines that it changes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint.finding import Edit, Fix, Span
from tfmemlint.report.frame import window
from tfmemlint.report.style import Style

if TYPE_CHECKING:
    from tfmemlint.text.source import Source


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a diff: `sign` is `-`, `+` or a blank; `row` is that of the user's file, None for a new line."""

    sign: str
    row: int | None
    text: str
    cell: int | None = None


def show_diff(source: Source, fix: Fix, cell: int | None, style: Style, limit: int) -> Iterator[str]:
    """The diff of a repair, a line each; places that lie apart are parted by dots, other cells than `cell` named."""
    hunks = list(diff(source, fix))
    gutter = max((len(str(line.row)) for hunk in hunks for line in hunk if line.row is not None), default=1)
    for number, hunk in enumerate(hunks):
        here = next((line.cell for line in hunk if line.row is not None), cell)
        if here != cell:
            yield f" {style(f'cell {here}', 'dim')}"
        elif number:
            yield f" {style('.' * gutter, 'dim')}"
        cell = here
        focus = _focus(hunk)
        for line in hunk:
            row = "" if line.row is None else str(line.row)
            text = window(line.text, focus, focus + 1, max(limit - gutter - 4, 20)).show(line.text)
            shown = f"{line.sign} {text}".rstrip()
            if line.sign != " ":
                shown = style(shown, "red" if line.sign == "-" else "green")
            yield f" {style(f'{row:>{gutter}}', 'dim')} {shown}".rstrip()


def _focus(hunk: Sequence[Line]) -> int:
    """The column at which the first old and the first new line part; lines that are cut are cut around it."""
    old = next((line.text for line in hunk if line.sign == "-"), "")
    new = next((line.text for line in hunk if line.sign == "+"), "")
    if not old or not new:
        return 0
    return next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def diff(source: Source, fix: Fix) -> Iterator[list[Line]]:
    """The changed lines of a repair in one list for each place; an insertion has a line of context."""
    for span, edits in _stretches(source, fix.edits):
        old = source.text[span.start : span.end]
        new, done = "", span.start
        for edit in edits:
            new += source.text[done : edit.start] + edit.content
            done = edit.end
        new += source.text[done : span.end]
        yield from _hunks(source, span, old.split("\n"), new.split("\n"))


def _stretches(source: Source, edits: Sequence[Edit]) -> list[tuple[Span, list[Edit]]]:
    """The edits by the whole lines that they touch, together where at most a line lies between these."""
    made: list[tuple[Span, list[Edit]]] = []
    for edit in edits:
        start, end = source.line_span(edit.start).start, source.line_span(edit.end).end
        if made and _is_near(source, made[-1][0].end, start):
            span, members = made[-1]
            made[-1] = (Span(span.start, max(end, span.end)), [*members, edit])
        else:
            made.append((Span(start, end), [edit]))
    return made


def _is_near(source: Source, end: int, start: int) -> bool:
    between = source.text.count("\n", end, start)
    before, after = source.position(end), source.position(start)
    return between <= 2 and before.cell == after.cell and after.row - before.row <= between


def _hunks(source: Source, span: Span, old: list[str], new: list[str]) -> Iterator[list[Line]]:
    """The differences of the lines of a span, those less than three lines apart together."""
    starts = [span.start]
    for text in old:
        starts.append(starts[-1] + len(text) + 1)

    def line(sign: str, index: int) -> Line:
        position = source.position(starts[index])
        return Line(sign, position.row, old[index], position.cell)

    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(1):
        lines: list[Line] = []
        for kind, first, last, begin, end in group:
            lines += [line(" " if kind == "equal" else "-", index) for index in range(first, last)]
            if kind != "equal":
                lines += [Line("+", None, text) for text in new[begin:end]]
        only_adds = all(each.sign != "-" for each in lines)
        yield _in_context(source, span, lines) if only_adds else _bare(lines)


def _bare(lines: list[Line]) -> list[Line]:
    """The lines without the context at their ends."""
    changed = [index for index, line in enumerate(lines) if line.sign != " "]
    return lines[changed[0] : changed[-1] + 1]


def _in_context(source: Source, span: Span, lines: list[Line]) -> list[Line]:
    """New lines with one old line that says where they go: the one below, or above where there is none."""
    bare = _bare(lines)
    last, first = lines[-1], lines[0]
    if last.sign == " " and last.text.strip():
        return [*bare, last]
    if first.sign == " " and first.text.strip():
        return [first, *bare]
    above = source.line_span(span.start - 1) if span.start else span
    text = source.text[above.start : above.end]
    position = source.position(above.start)
    same_cell = position.cell == source.position(span.start).cell
    return [Line(" ", position.row, text, position.cell), *bare] if text.strip() and same_cell else bare
