"""GitLab's code quality report: a JSON array in the form of Code Climate's issues."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TextIO

from tfmemlint.finding import Elsewhere, Finding, Related, Severity
from tfmemlint.report.base import FileResult, ReportOptions, clean, ordered, relative
from tfmemlint.report.fingerprint import Fingerprints
from tfmemlint.report.places import Place, file_place, place

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(results: Sequence[FileResult], stream: TextIO, *, options: ReportOptions) -> None:
    """Write the array, in ASCII so that it reads the same whatever the stream's encoding; `[]` without findings."""
    names = Fingerprints(results, options)
    issues = [_issue(result, finding, names, options) for result, finding in ordered(results, options)]
    stream.write(json.dumps(issues, indent=2) + "\n")


def _lines_and_positions(where: Place | Elsewhere) -> dict[str, Any]:
    return {
        "lines": {"begin": where.row, "end": where.end_row},
        "positions": {
            "begin": {"line": where.row, "column": where.column},
            "end": {"line": where.end_row, "column": where.end_column},
        },
    }


def _related(result: FileResult, related: Related, options: ReportOptions) -> dict[str, Any]:
    other = related.elsewhere
    path = relative(result.path if other is None else other.path, options)
    return {"path": path, **_lines_and_positions(file_place(result, related.span) if other is None else other)}


def _issue(result: FileResult, finding: Finding, names: Fingerprints, options: ReportOptions) -> dict[str, Any]:
    where, seen = file_place(result, finding.span), place(result, finding.span)
    cell = "" if seen.cell is None else f"{seen}: "
    trace = [_related(result, each, options) for each in finding.related]
    made = {
        "type": "issue",
        "check_name": finding.code,
        "description": f"{finding.code} {finding.name}: {cell}{clean(finding.message)}",
        "categories": ["Performance"],
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": names.of(result, finding),
        "location": {"path": relative(result.path, options), **_lines_and_positions(where)},
    }
    return {**made, "trace": {"locations": trace}} if trace else made
