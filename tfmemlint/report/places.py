"""Spans as rows and columns: in the cell that a reader looks at, and in the file that a program opens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint.finding import Span

if TYPE_CHECKING:
    from tfmemlint.report.base import FileResult
    from tfmemlint.text.source import Source


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of the user's file: rows and columns from 1 in characters, the end column excluded.

    In a notebook they count within the cell, unless `cell` is None.
    """

    row: int
    column: int
    end_row: int
    end_column: int
    cell: int | None = None

    def __str__(self) -> str:
        """Row and column behind a path: `12:5`, or `cell 3:5:1`."""
        place = f"{self.row}:{self.column}"
        return place if self.cell is None else f"cell {self.cell}:{place}"


def place(result: FileResult, span: Span) -> Place:
    """Where a span stands for a reader. The end lies in the cell of the start."""
    source = result.source
    if source is None:
        row, column = result.place or (1, 1)
        return Place(row, column, row, column)
    start = source.position(span.start)
    if span.end <= span.start:
        return Place(start.row, start.column, start.row, start.column, start.cell)
    row, column = _end(source, span)
    return Place(start.row, start.column, row, column, start.cell)


def _end(source: Source, span: Span) -> tuple[int, int]:
    # The end of a span that closes a cell is also the start of the next one: hence by its last character.
    last = source.position(span.end - 1)
    if source.text[span.end - 1 : span.end] != "\n":
        return last.row, last.column + 1
    behind = source.position(span.end)
    if behind.cell == last.cell and behind.row > last.row:
        return behind.row, 1
    return last.row, last.column


def file_place(result: FileResult, span: Span) -> Place:
    """Where a span stands in the file as it is stored: for a notebook, in its JSON text."""
    source = result.source
    if source is None or source.kind != "notebook":
        return place(result, span)
    start = source.file_position(span.start)
    if span.end <= span.start:
        return Place(start.row, start.column, start.row, start.column)
    # A line's end is written as an escape, behind which the next line's string begins: the span stops before it.
    closes_line = source.text[span.end - 1 : span.end] == "\n"
    end = source.file_position(span.end - 1 if closes_line else span.end)
    return Place(start.row, start.column, end.row, end.column)
