"""A notebook as a program that runs: its Python cells in order, without the commands of IPython, which are named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tfmemlint.files.bounded_read import SOURCES, read_regular
from tfmemlint.text import notebook
from tfmemlint.text.blocks import BlockSource
from tfmemlint.text.decoding import SourceError
from tfmemlint.text.lines import Part
from tfmemlint.text.source import Position
from tfmemlint.verify.run.interpreters import MeasureError


@dataclass(frozen=True)
class Notebook:
    """The text of the program, the place of each of its lines in the notebook, and what was left out, as
    `cell 3, line 1: !pip install x`."""

    text: str
    places: tuple[Position, ...]
    left_out: tuple[str, ...]

    def place(self, line: int) -> Position:
        """Where a line of the program, from 1, stands in the notebook."""
        return self.places[min(max(line, 1), len(self.places)) - 1]


def read_notebook(path: Path) -> Notebook:
    """Read a notebook. Raises MeasureError for a file that is none, and for one without Python cells."""
    try:
        source = notebook.read(read_regular(str(path), SOURCES), str(path))
    except OSError as error:
        raise MeasureError(f"cannot read {path}: {error.strerror or error}") from error
    except SourceError as error:
        raise MeasureError(f"{path}: {error}") from error
    # Files that cells write (%%writefile) are programs of their own, which have a name.
    own = [each.source for each in source.programs if isinstance(each.source, BlockSource) and _is_own(each.source)]
    if not own:
        raise MeasureError(f"{path}: no cells in Python")
    program = own[0]
    return Notebook(
        program.text,
        tuple(program.position(start) for start in program.line_starts),
        tuple(_left_out(json.loads(source.decoded.raw), program.parts)),
    )


def _is_own(source: BlockSource) -> bool:
    return bool(source.parts) and not source.parts[0].program


def _left_out(content: dict[str, object], parts: tuple[Part, ...]) -> Iterator[str]:
    """The cells that are no Python of the program, by their first line, and in the others the commands."""
    kept = {part.cell: part for part in parts}
    for number, cell in enumerate(_cells(content), start=1):
        part = kept.get(number)
        if part is not None:
            for row, line in enumerate(part.lines, start=part.row):
                if line.is_masked:
                    yield f"cell {number}, line {row}: {line.raw[line.cut_start : line.cut_end].strip()}"
        elif cell.get("cell_type") == "code":
            written = cell.get("source", cell.get("input", ""))
            text = "".join(written) if isinstance(written, list) else str(written)
            if first := text.strip().partition("\n")[0]:
                yield f"cell {number}: {first}"


def _cells(content: dict[str, object]) -> list[dict[str, object]]:
    """All cells; format 3 keeps them in worksheets."""
    sheets = [content] if "cells" in content else content["worksheets"]
    return [cell for sheet in sheets for cell in sheet.get("cells", [])]  # type: ignore[attr-defined]
