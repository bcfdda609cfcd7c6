"""The Reviewdog Diagnostic Format: one JSON object, columns in bytes of UTF-8, repairs as suggestions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from tfmemlint.finding import Finding, Related, Safety
from tfmemlint.report.base import FileResult, ReportOptions, clean, ordered, relative
from tfmemlint.report.notes import details
from tfmemlint.report.places import Place, file_place, place
from tfmemlint.report.rawedits import lines_of, merged_replacement

if TYPE_CHECKING:
    from tfmemlint.text.source import Source

MOST_ROWS = 20
"""A suggestion is one stretch of the file; a repair that reaches over more rows is only described."""


def render(results: Sequence[FileResult], stream: TextIO, *, options: ReportOptions) -> None:
    """Write the object, in ASCII so that it reads the same whatever the stream's encoding."""
    diagnostics = [_diagnostic(result, finding, options) for result, finding in ordered(results, options)]
    stream.write(json.dumps({"source": {"name": "tfmemlint"}, "diagnostics": diagnostics}, indent=2) + "\n")


def _diagnostic(result: FileResult, finding: Finding, options: ReportOptions) -> dict[str, Any]:
    url, seen = options.url(finding.code), place(result, finding.span)
    code = {"value": finding.code}
    message = clean(finding.message) if seen.cell is None else f"{seen}: {clean(finding.message)}"
    where = _range(result.source, file_place(result, finding.span))
    made: dict[str, Any] = {
        "message": details(result, finding, message, options),
        "location": {"path": relative(result.path, options), "range": where},
        "severity": finding.severity.value.upper(),
        "code": {**code, "url": url} if url else code,
    }
    if finding.related:
        made["related_locations"] = [
            {"message": clean(each.message), "location": _related(result, each, options)} for each in finding.related
        ]
    suggestions = _suggestions(result, finding)
    return {**made, "suggestions": suggestions} if suggestions else made


def _related(result: FileResult, related: Related, options: ReportOptions) -> dict[str, Any]:
    """A related place; of another file in lines, as columns in bytes need its text."""
    other = related.elsewhere
    if other is None:
        where = _range(result.source, file_place(result, related.span))
        return {"path": relative(result.path, options), "range": where}
    lines = {"start": {"line": other.row}, "end": {"line": other.end_row}}
    return {"path": relative(other.path, options), "range": lines}


def _suggestions(result: FileResult, finding: Finding) -> list[dict[str, Any]]:
    """The repair as one suggestion, so that no part of it can be taken alone; none for what is only ever shown."""
    if finding.fix is None or result.source is None or finding.fix.safety is Safety.DISPLAY:
        return []
    merged = merged_replacement(result.source, finding.fix)
    if merged is None or merged.place.end_row - merged.place.row >= MOST_ROWS:
        return []
    return [{"range": _range(result.source, merged.place), "text": merged.content}]


def _range(source: Source | None, where: Place) -> dict[str, Any]:
    return {
        "start": _position(source, where.row, where.column),
        "end": _position(source, where.end_row, where.end_column),
    }


def _position(source: Source | None, row: int, column: int) -> dict[str, int]:
    if source is None:
        return {"line": row, "column": column}
    start = lines_of(source.decoded.raw).starts[row - 1]
    before = source.decoded.raw[start : start + column - 1]
    return {"line": row, "column": len(before.encode("utf-8", "surrogatepass")) + 1}
