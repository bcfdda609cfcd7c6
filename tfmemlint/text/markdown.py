"""Markdown, MyST, Quarto and reStructuredText: the fenced Python blocks of a document as one program.

Only blocks from the first one that imports TensorFlow or Keras on are read. Positions are those of the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tfmemlint.text import magics
from tfmemlint.text.blocks import BlockSource
from tfmemlint.text.decoding import LINE_END, decode_utf8, splice
from tfmemlint.text.lines import Line, Part, Replacement
from tfmemlint.text.source import Source

_FENCE = re.compile(r"(?P<prefix>[ \t>]*)(?P<fence>`{3,}(?=[^`]*$)|~{3,}|:{3,}(?=\{code))[ \t]*(?P<info>.*)$")
_PYTHON = frozenset(("python", "py", "python3", "py3", "ipython", "ipython3", "pycon", "python-repl", "pycon3"))
_DIRECTIVE = re.compile(r"\{(?P<name>[\w-]+)\}[ \t]*(?P<argument>[\w-]*)")
_ATTRIBUTES = re.compile(r"\{[ ]*\.?(?P<language>[\w-]+)")
_WORD = re.compile(r"[\w-]+")
_OPTION = re.compile(r"[ \t]*:[\w-]+:")
_RST_DIRECTIVE = re.compile(
    r"(?P<indent>[ \t]*)\.\. (?:code-block|code|sourcecode|testcode|ipython)::[ \t]*(?P<language>[\w-]*)[ \t]*$"
)
_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |$)")
_FIRST_PROMPT = re.compile(r"[ \t]*>>>(?: |$)")
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t][^#\n]*?\b(?:tensorflow|keras|tf_keras)\b", re.MULTILINE)

_WHOLE_IMPORT = re.compile(r"^(?:import|from)[ \t](?=[^#\n]*?\b(?:tensorflow|keras|tf_keras)\b)[^#\n]*", re.MULTILINE)
"""An import of TensorFlow or Keras that stands in no block."""


class MarkdownSource(BlockSource):
    """A document whose program text is its Python blocks in order."""

    kind = "markdown"

    @cached_property
    def _document(self) -> list[str]:
        return LINE_END.split(self.decoded.raw)

    def line_text(self, row: int, cell: int | None = None) -> str:
        return self._document[row - 1] if 1 <= row <= len(self._document) else ""

    def _read_again(self, data: bytes) -> Source:
        return read(data, self.path)

    def _write(self, changes: Sequence[tuple[Part, Sequence[Replacement]]]) -> bytes:
        return splice(self.data, self.decoded, [edit for _, edits in changes for edit in edits])[0]


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the document: its offset, its characters and its line end."""

    start: int
    text: str
    line_end: str


@dataclass(frozen=True, slots=True)
class _Fenced:
    """The rows `first` to `last` (excluded) between two fences, and what stands before each."""

    first: int
    last: int
    prefix: str


def read(data: bytes, path: str) -> MarkdownSource:
    """Read a document. Raises SourceError when it is not UTF-8."""
    decoded = decode_utf8(data)
    rows, start = [], 0
    for match in LINE_END.finditer(decoded.raw):
        rows.append(_Row(start, decoded.raw[start : match.start()], match.group()))
        start = match.end()
    rows.append(_Row(start, decoded.raw[start:], ""))
    found = _rst_blocks(rows) if path.lower().endswith(".rst") else _fenced_blocks(rows)
    parts = [part for block in found if (part := _part(decoded.raw, rows, block))]
    first = next((index for index, part in enumerate(parts) if _IMPORT.search(part.text)), len(parts))
    return MarkdownSource(data, path, decoded, list(_programs(parts[first:])))


def _programs(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts, each with its program: where a block imports again what the program has imported, a new one begins,
    as chapters and separate examples do."""
    seen: set[str] = set()
    count = 0
    for part in parts:
        imports = {match.group().strip() for match in _WHOLE_IMPORT.finditer(part.text)}
        if imports & seen:
            seen, count = set(), count + 1
        seen |= imports
        yield replace(part, program=f"{count or ''}")


def _fenced_blocks(rows: Sequence[_Row]) -> Iterator[_Fenced]:
    """The Python blocks between fences; other fenced blocks are passed over whole."""
    index = 0
    while index < len(rows):
        opening = _FENCE.match(rows[index].text)
        index += 1
        if not opening:
            continue
        prefix, fence = opening["prefix"], opening["fence"]
        closing = re.compile(rf"(?:[ \t]|>)*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
        quoted = prefix.count(">")
        first = index
        while index < len(rows):
            text = rows[index].text
            if closing.match(text) or text[: len(prefix)].count(">") < quoted:
                break
            index += 1
        info = opening["info"].strip()
        if _is_python(info) or (not info and _is_session(rows[first:index], prefix)):
            yield _Fenced(_behind_options(rows, first, index, info), index, prefix)
        index += 1


def _is_session(rows: Sequence[_Row], prefix: str) -> bool:
    """Whether a block that names no language begins with a prompt."""
    bodies = (row.text[len(_shared(prefix, row.text)) :] for row in rows)
    return next((bool(_FIRST_PROMPT.match(body)) for body in bodies if body.strip()), False)


def _is_python(info: str) -> bool:
    """Whether a fence's info string names Python: `python`, `{python}`, `{code-cell} ipython3`, `{.python}`."""
    info = info.strip().lower()
    directive = _DIRECTIVE.match(info)
    if directive and directive["name"] == "code-cell":
        return directive["argument"] in _PYTHON or not directive["argument"]
    if directive and directive["name"] in ("code", "code-block", "sourcecode"):
        return directive["argument"] in _PYTHON
    attributes = _ATTRIBUTES.match(info)
    if attributes:
        return attributes["language"] in _PYTHON
    word = _WORD.match(info)
    return word is not None and word.group() in _PYTHON


def _behind_options(rows: Sequence[_Row], first: int, last: int, info: str) -> int:
    """The row behind a MyST directive's options: `:key: value` lines or a YAML block between `---` lines."""
    if not _DIRECTIVE.match(info.strip()):
        return first
    if first < last and rows[first].text.strip(" \t>") == "---":
        for index in range(first + 1, last):
            if rows[index].text.strip(" \t>") == "---":
                return index + 1
    while first < last and _OPTION.match(rows[first].text):
        first += 1
    return first


def _rst_blocks(rows: Sequence[_Row]) -> Iterator[_Fenced]:
    """The indented bodies of Python directives, and doctests that stand in the text."""
    index = 0
    while index < len(rows):
        text = rows[index].text
        directive = _RST_DIRECTIVE.match(text)
        if directive:
            index, block = _directive_body(rows, index + 1, len(directive["indent"].expandtabs()))
            name = text.split("::")[0].split()[-1]
            if block and (directive["language"].lower() or ("python" if name != "code" else "")) in _PYTHON:
                yield block
        elif _FIRST_PROMPT.match(text):
            first = index
            while index < len(rows) and rows[index].text.strip():
                index += 1
            yield _Fenced(first, index, _indent(text))
        else:
            index += 1


def _directive_body(rows: Sequence[_Row], index: int, outer: int) -> tuple[int, _Fenced | None]:
    """The row behind a directive whose options begin at `index`, and the rows of its content."""

    def belongs(row: _Row) -> bool:
        return not row.text.strip() or len(_indent(row.text).expandtabs()) > outer

    while index < len(rows) and _OPTION.match(rows[index].text) and belongs(rows[index]):
        index += 1
    while index < len(rows) and not rows[index].text.strip():
        index += 1
    first = last = index
    while index < len(rows) and belongs(rows[index]):
        index += 1
        if rows[index - 1].text.strip():
            last = index
    return index, _Fenced(first, last, _indent(rows[first].text)) if last > first else None


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip(" \t"))]


def _part(raw: str, rows: Sequence[_Row], block: _Fenced) -> Part | None:
    """The lines of a block as program text, or None when it is empty or not Python after all."""
    block_rows = rows[block.first : block.last]
    prefixes = [_shared(block.prefix, row.text) for row in block_rows]
    bodies = [row.text[len(prefix) :] for row, prefix in zip(block_rows, prefixes, strict=True)]
    opening = next((body for body in bodies if body.strip()), None)
    if opening is None:
        return None
    if _FIRST_PROMPT.match(opening):
        lines = _doctest_lines(block_rows, prefixes, bodies)
        prefix = block.prefix + _indent(opening)
        return Part(raw, lines, row=block.first + 1, prefix=prefix, line_end=rows[0].line_end or "\n", is_doctest=True)
    if not magics.runs_python(bodies):
        return None
    made = zip(block_rows, prefixes, bodies, magics.masks(bodies), strict=True)
    lines = tuple(
        Line(row.start, prefix, body, row.line_end, mask.start, mask.end, mask.stand_in)
        for row, prefix, body, mask in made
    )
    return Part(raw, lines, row=block.first + 1, prefix=block.prefix, line_end=rows[0].line_end or "\n")


def _shared(prefix: str, text: str) -> str:
    """As much of a fence's indentation as a line of its block has."""
    if text.startswith(prefix):
        return prefix
    size = 0
    while size < min(len(prefix), len(text)) and text[size] == prefix[size]:
        size += 1
    return prefix[:size]


def _doctest_lines(rows: Sequence[_Row], prefixes: Sequence[str], bodies: Sequence[str]) -> tuple[Line, ...]:
    """The lines of a doctest block: prompts are no part of the code, and outputs are hidden."""
    lines, in_example = [], False
    for row, prefix, body in zip(rows, prefixes, bodies, strict=True):
        prompt = _PROMPT.match(body)
        if prompt and (in_example or _FIRST_PROMPT.match(body)):
            in_example = True
            prefix += prompt.group()
            lines.append(Line(row.start, prefix, row.text[len(prefix) :], row.line_end))
        else:
            in_example = False
            lines.append(Line(row.start, prefix, body, row.line_end, 0, len(body)))
    return tuple(lines)
