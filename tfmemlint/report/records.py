"""A finding as the JSON object that programs read: the stable contract of `json` and `jsonl`.

Rows and columns count from 1 in characters of the user's file, in a notebook of the cell. Where a related place or an
edit lies in another cell than the finding, it has a `cell` of its own.
"""

from __future__ import annotations

from typing import Any

from tfmemlint.finding import Elsewhere, Finding
from tfmemlint.report.base import FileResult, ReportOptions, absolute
from tfmemlint.report.notes import is_silenced
from tfmemlint.report.places import Place, place
from tfmemlint.report.rawedits import cell_replacements


def record(result: FileResult, finding: Finding, options: ReportOptions) -> dict[str, Any]:
    """The object for one finding."""
    where = place(result, finding.span)
    filename = absolute(result.path, options)
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "filename": filename,
        **_range(where, where.cell),
        "bytes": finding.bytes,
        "bytes_exact": None if finding.bytes is None else finding.bytes_exact,
        "url": options.url(finding.code),
        "related": [
            {"message": each.message, "filename": filename, **_range(place(result, each.span), where.cell)}
            if each.elsewhere is None
            else {"message": each.message, **_elsewhere(each.elsewhere, options)}
            for each in finding.related
        ],
        "fix": _fix(result, finding, where.cell),
        "cell": where.cell,
        **({} if options.silenced is None else {"suppressed": is_silenced(result, finding, options)}),
        **verification(result, finding, options),
    }


def verification(result: FileResult, finding: Finding, options: ReportOptions) -> dict[str, Any]:
    """What measuring showed, in a run that measured; the key is missing elsewhere."""
    if not options.verified:
        return {}
    found = options.verified.get((result.path, finding))
    if found is None:
        return {"verified": None}
    names = ("verdict", "reason", "contradicted", "metric", "unit", "before", "after")
    return {"verified": {name: getattr(found, name) for name in names}}


def _elsewhere(where: Elsewhere, options: ReportOptions) -> dict[str, Any]:
    return {
        "filename": absolute(where.path, options),
        "location": {"row": where.row, "column": where.column},
        "end_location": {"row": where.end_row, "column": where.end_column},
    }


def _fix(result: FileResult, finding: Finding, cell: int | None) -> dict[str, Any] | None:
    if finding.fix is None or result.source is None:
        return None
    replacements = cell_replacements(result.source, finding.fix)
    if replacements is None:
        return None
    return {
        "applicability": finding.fix.safety.value,
        "message": finding.fix.message,
        "edits": [{"content": each.content, **_range(each.place, cell)} for each in replacements],
    }


def _range(where: Place, cell: int | None) -> dict[str, Any]:
    made: dict[str, Any] = {
        "location": {"row": where.row, "column": where.column},
        "end_location": {"row": where.end_row, "column": where.end_column},
    }
    return made if where.cell == cell else {**made, "cell": where.cell}
