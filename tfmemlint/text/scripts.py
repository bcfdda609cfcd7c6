"""Python files with lines that only IPython understands, as exports of notebooks have them, read as cells are.

Only files that Python refuses as they stand, and accepts without those lines; all others are read as they are.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from tfmemlint.finding import Span
from tfmemlint.text import limits, magics
from tfmemlint.text.blocks import BlockSource
from tfmemlint.text.decoding import LINE_END, Decoded, decode_python, splice
from tfmemlint.text.lines import Line, Part, Replacement
from tfmemlint.text.source import Source


class ScriptSource(BlockSource):
    """A file whose program text is its lines without the commands of IPython."""

    kind = "script"

    @property
    def commands(self) -> tuple[Span, ...]:
        """Where the commands stood, in order: what the text has in their place."""
        (part,) = self.parts
        places = zip(self.line_starts, part.lines, strict=False)
        return tuple(
            Span(start + line.cut_start, start + line.stand_in_end) for start, line in places if line.is_masked
        )

    def _read_again(self, data: bytes) -> Source:
        decoded = decode_python(data)
        return read(data, self.path, decoded) or Source(data, self.path, decoded)

    def _write(self, changes: Sequence[tuple[Part, Sequence[Replacement]]]) -> bytes:
        return splice(self.data, self.decoded, [edit for _, edits in changes for edit in edits])[0]


def read(data: bytes, path: str, decoded: Decoded) -> ScriptSource | None:
    """The file without its lines for IPython; None where it has none, where Python reads it with them, and where it is
    no Python without them either."""
    plain = Source(data, path, decoded).text
    if not magics.may_have(plain):
        return None
    lines = _lines(decoded.raw)
    if not any(line.is_masked for line in lines) or _is_python(plain):
        return None
    source = ScriptSource(data, path, decoded, [Part(decoded.raw, lines, line_end=lines[0].line_end or "\n")])
    return source if _is_python(source.text) else None


def _lines(raw: str) -> tuple[Line, ...]:
    rows, start = [], 0
    for match in LINE_END.finditer(raw):
        rows.append((start, raw[start : match.start()], match.group()))
        start = match.end()
    if start < len(raw):
        rows.append((start, raw[start:], ""))
    masked = zip(rows, magics.masks([text for _, text, _ in rows]), strict=True)
    return tuple(
        Line(start, "", text, line_end, mask.start, mask.end, mask.stand_in) for (start, text, line_end), mask in masked
    )


def _is_python(text: str) -> bool:
    try:
        limits.check(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (limits.TooMuch, SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
        return False
    return True
