"""Names for findings that stay the same when lines move and code is reformatted.

A name is made of the code, the path, the statement with its layout taken out, and a number for findings that are alike
in all of these; it holds no row.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfmemlint.finding import Finding
from tfmemlint.report.base import FileResult, ReportOptions, relative

if TYPE_CHECKING:
    from tfmemlint.model.statements import Statements

_LAYOUT = re.compile(r"""\#[^\n]*|\\\n|\s+|\"{3}|'{3}|["']""")
_LAST_COMMA = re.compile(r",(?=[)\]}])")


class Fingerprints:
    """The names of all findings of a run, 32 hexadecimal digits each and no two alike."""

    def __init__(self, results: Iterable[FileResult], options: ReportOptions) -> None:
        self._made: dict[tuple[str, Finding], str] = {}
        for result in results:
            if result.findings:
                self._add(result, options)

    def of(self, result: FileResult, finding: Finding) -> str:
        """The name of a finding in a file."""
        return self._made[result.path, finding]

    def _add(self, result: FileResult, options: ReportOptions) -> None:
        statements = _statements(result)
        seen: Counter[tuple[str, str]] = Counter()
        for finding in sorted(result.findings, key=lambda each: each.sort_key):
            text = normalised(statements, finding.span.start) if statements else ""
            alike = (finding.code, text)
            parts = (finding.code, relative(result.path, options), text, str(seen[alike]))
            seen[alike] += 1
            digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
            self._made[result.path, finding] = digest[:32]


def _statements(result: FileResult) -> Statements | None:
    from tfmemlint.model.statements import Statements

    return Statements(result.source) if result.source else None


def normalised(statements: Statements, offset: int) -> str:
    """The statement at an offset without blanks, comments and line breaks, quotes and last commas all alike.

    Where several stand on one line it is the one at the offset; where none does, the text is empty.
    """
    from tfmemlint.model.statements import simple_parts, string_end

    index = statements.at(offset)
    if index is None:
        return ""
    line = statements.spans[index]
    whole = statements.text[line.start : line.end]
    part = next((part for part in simple_parts(whole) if offset - line.start < part.end), None)
    text = whole[part.start : part.end] if part else whole
    kept, position = "", 0
    while match := _LAYOUT.search(text, position):
        kept += text[position : match.start()]
        position = match.end()
        if match.group()[0] in "\"'":
            position = string_end(text, match.start(), match.group(), len(text))
            kept += text[match.start() : position].replace("'", '"')
    return _LAST_COMMA.sub("", kept + text[position:])
