"""Jupyter notebooks: the code cells as one program, and edits of nothing but the changed source strings.

Cells are counted from 1 over all cells of the file, Markdown cells too. Outputs, metadata and the layout of the JSON
stay as they are byte for byte, whichever tool wrote them.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from tfmemlint.text import magics
from tfmemlint.text.blocks import BlockSource
from tfmemlint.text.decoding import LINE_END, Decoded, SourceError, decode_utf8, splice
from tfmemlint.text.jsonspans import JsonSource, items, members, read_source_strings
from tfmemlint.text.lines import Line, Part, Replacement
from tfmemlint.text.source import Position, Source

_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |$)")
_NON_ASCII_ESCAPE = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")


class NotebookSource(BlockSource):
    """A notebook whose program text is its Python code cells in order."""

    kind = "notebook"

    def __init__(
        self, data: bytes, path: str, decoded: Decoded, parts: Sequence[Part], sources: dict[int, JsonSource]
    ) -> None:
        super().__init__(data, path, decoded, parts)
        self._sources = sources

    def file_position(self, offset: int) -> Position:
        """Where the character at `offset` stands in the JSON text of the file."""
        place = self.position(offset)
        raw = self.decoded.raw
        if place.cell is None:
            return Position(1, 1)
        part = next(part for part in self.parts if part.cell == place.cell)
        at = _json_place(self._sources[place.cell], part.lines[place.row - 1].start + place.column - 1)
        before = LINE_END.split(raw[:at])
        return Position(len(before), len(before[-1]) + 1)

    def _read_again(self, data: bytes) -> Source:
        return read(data, self.path)

    def _write(self, changes: Sequence[tuple[Part, Sequence[Replacement]]]) -> bytes:
        edits: list[Replacement] = []
        for part, replaced in changes:
            assert part.cell is not None
            source = self._sources[part.cell]
            if not _replace(part.origin, replaced):
                edits.append((source.start, source.end, "[]" if source.is_list else '""'))
                continue
            edits += (self._json_edit(source, edit) for edit in replaced)
        return splice(self.data, self.decoded, edits)[0]

    def _json_edit(self, source: JsonSource, edit: Replacement) -> Replacement:
        start, end, content = edit
        raw = self.decoded.raw
        between = _separator(raw, source)
        pieces = content.split("\n")
        if end == len(source.value) and not pieces[-1] and len(pieces) > 1:
            pieces[-2:] = [pieces[-2] + "\n"]
        as_ascii = raw.isascii() and bool(_NON_ASCII_ESCAPE.search(raw))
        written = [json.dumps(piece, ensure_ascii=as_ascii)[1:-1] for piece in pieces]
        return _json_place(source, start), _json_place(source, end), f"\\n{between}".join(written)


def _replace(text: str, edits: Sequence[Replacement]) -> str:
    for start, end, content in reversed(edits):
        text = text[:start] + content + text[end:]
    return text


def _json_place(source: JsonSource, index: int) -> int:
    """The offset in the JSON text of the character `index` of a cell's source."""
    starts = [0, *accumulate(len(string.value) for string in source.strings)][:-1]
    number = bisect_right(starts, index) - 1
    return source.strings[number].place(index - starts[number])


def _separator(raw: str, source: JsonSource) -> str:
    """What stands between two lines of the source, from closing to opening quote; nothing for a single string."""
    strings = source.strings
    if not source.is_list or any("\n" in string.value[:-1] for string in strings):
        return ""
    if len(strings) > 1:
        return raw[strings[0].end - 1 : strings[1].start + 1]
    return '",' + raw[source.start + 1 : strings[0].start] + '"'


def read(data: bytes, path: str) -> NotebookSource:
    """Read a notebook; one whose kernel is not Python has no program text.

    Python files that its cells write (`%%writefile model.py`) are programs of their own, placed in their cells.

    Raises SourceError for bytes that are not UTF-8, text that is not JSON and JSON that is not a notebook.
    """
    decoded = decode_utf8(data)
    text = decoded.raw
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(f"the notebook is not valid JSON: {error.msg}", error.lineno, error.colno) from None
    except RecursionError:
        raise SourceError("the notebook's JSON is nested too deeply to be read") from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise SourceError(f"the notebook's JSON cannot be read: {error}") from None
    root = len(text) - len(text.lstrip(" \t\r\n"))
    cells = _cells(text, root, notebook)
    parts: list[Part] = []
    sources: dict[int, JsonSource] = {}
    files: dict[str, str] = {}
    if _is_python(notebook.get("metadata")):
        for number, (cell, place) in enumerate(cells, start=1):
            if not _holds_code(cell):
                continue
            key = "source" if "source" in cell else "input"
            sources[number] = read_source_strings(text, members(text, place)[key])
            part = _part(sources[number].value, number, files)
            if part:
                parts.append(part)
    return NotebookSource(data, path, decoded, parts, sources)


def _cells(text: str, root: int, notebook: Any) -> list[tuple[dict[str, Any], int]]:
    """The notebook's cells, each with the offset of its object; format 3 keeps them in worksheets."""
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells", notebook.get("worksheets")), list):
        raise SourceError("the file is not a Jupyter notebook: it has no list of cells")
    if "cells" in notebook:
        owners = [(notebook, root)]
    else:
        sheets = items(text, members(text, root)["worksheets"])
        owners = list(zip(notebook["worksheets"], sheets, strict=True))
    cells: list[tuple[dict[str, Any], int]] = []
    for owner, place in owners:
        listed = owner.get("cells", []) if isinstance(owner, dict) else None
        if not isinstance(listed, list):
            raise SourceError("the file is not a Jupyter notebook: it has no list of cells", *_place(text, place))
        if listed:
            cells += zip(listed, items(text, members(text, place)["cells"]), strict=True)
    for number, (cell, place) in enumerate(cells, start=1):
        if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str) or not _has_source(cell):
            reason = f"the file is not a Jupyter notebook: cell {number} has no type or no source"
            raise SourceError(reason, *_place(text, place))
    return cells


def _place(text: str, offset: int) -> tuple[int, int]:
    before = LINE_END.split(text[:offset])
    return len(before), len(before[-1]) + 1


def _has_source(cell: dict[str, Any]) -> bool:
    if cell["cell_type"] != "code":
        return True
    source = cell.get("source", cell.get("input"))
    return isinstance(source, str) or (isinstance(source, list) and all(isinstance(line, str) for line in source))


def _is_python(metadata: Any) -> bool:
    """Whether the notebook's kernel runs Python, as it does when nothing says otherwise."""
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        known = metadata.get(section) if isinstance(metadata, dict) else None
        language = known.get(key) if isinstance(known, dict) else None
        if isinstance(language, str) and language:
            return language.lower() in ("python", "python3", "ipython")
    return True


def _holds_code(cell: dict[str, Any]) -> bool:
    """Whether this is a code cell in Python; editors mark cells of other languages in the cell's metadata."""
    if cell["cell_type"] != "code":
        return False
    metadata = cell.get("metadata")
    marks = metadata.get("vscode") if isinstance(metadata, dict) else None
    marked = marks.get("languageId") if isinstance(marks, dict) else None
    return (marked or cell.get("language") or "python") == "python"


def _part(source: str, number: int, files: dict[str, str]) -> Part | None:
    """The lines of a code cell, or None when its first line hands the cell to something else than Python.

    `files` are the programs of the Python files that cells have written so far, by the file's name.
    """
    if not source:
        return None
    raw_lines = _split(source)
    indent = next((line[: len(line) - len(line.lstrip(" \t"))] for _, line, _ in raw_lines if line.strip()), "")
    prefixes = [indent if line.startswith(indent) else "" for _, line, _ in raw_lines]
    has_prompts = next((bool(_PROMPT.match(line)) for _, line, _ in raw_lines if line.strip()), False)
    if has_prompts:
        found = [_PROMPT.match(line) for _, line, _ in raw_lines]
        prefixes = [prompt.group() if prompt else own for prompt, own in zip(found, prefixes, strict=True)]
    bodies = [line[len(prefix) :] for prefix, (_, line, _) in zip(prefixes, raw_lines, strict=True)]
    program = ""
    written = magics.written_file(bodies)
    if written is not None:
        name, goes_on = written
        program = files[name] if goes_on and name in files else f"{name} {number}"
        files[name] = program
    elif not magics.runs_python(bodies):
        return None
    lines = []
    for prefix, body, mask, (start, _, line_end) in zip(prefixes, bodies, magics.masks(bodies), raw_lines, strict=True):
        lines.append(Line(start, prefix, body, line_end, mask.start, mask.end, mask.stand_in))
    return Part(source, tuple(lines), cell=number, prefix=indent, is_doctest=has_prompts, program=program)


def _split(source: str) -> list[tuple[int, str, str]]:
    """Start, characters and line end of each line."""
    lines, start = [], 0
    for match in LINE_END.finditer(source):
        lines.append((start, source[start : match.start()], match.group()))
        start = match.end()
    return [*lines, (start, source[start:], "")]
