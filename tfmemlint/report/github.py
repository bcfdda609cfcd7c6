"""Workflow commands that GitHub Actions turns into annotations of a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from tfmemlint.finding import Finding, Severity
from tfmemlint.report.base import FileResult, ReportOptions, clean, ordered, relative
from tfmemlint.report.notes import details
from tfmemlint.report.places import file_place, place

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_VALUE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render(results: Sequence[FileResult], stream: TextIO, *, options: ReportOptions) -> None:
    """Write one command a finding; nothing without any."""
    for result, finding in ordered(results, options):
        stream.write(_command(result, finding, options) + "\n")


def _command(result: FileResult, finding: Finding, options: ReportOptions) -> str:
    where, path = file_place(result, finding.span), clean(relative(result.path, options))
    properties = {"file": path, "line": where.row, "endLine": where.end_row}
    if where.row == where.end_row:
        properties |= {"col": where.column, "endColumn": where.end_column}
    properties["title"] = f"{finding.code} {finding.name}"
    shown = ",".join(f"{key}={str(value).translate(_PROPERTY)}" for key, value in properties.items())
    # The log shows nothing but the message, so that it names the place again.
    message = f"{path}:{place(result, finding.span)}: {clean(finding.message)}"
    shown_message = details(result, finding, message, options).translate(_VALUE)
    return f"::{_COMMANDS[finding.severity]} {shown}::{shown_message}"
