"""For people: each finding with its code, its reason, its cost and its repair, and a closing line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from tfmemlint.finding import Finding
from tfmemlint.report.base import FileResult, ReportOptions, clean, heading, ordered
from tfmemlint.report.diff import show_diff
from tfmemlint.report.frame import frame
from tfmemlint.report.notes import fix_kind, is_silenced, measured, memory, related
from tfmemlint.report.places import place
from tfmemlint.report.style import Style
from tfmemlint.report.summary import statistics, summary

INTERNAL_ERROR = "TFM000"
"""Speaks of a rule and a file, so that no line of code is shown for it."""


def render(results: Sequence[FileResult], stream: TextIO, *, options: ReportOptions) -> None:
    """Write the findings, or with `options.statistics` a table of them, and a summary as the last line."""
    style = Style(options.color)
    if options.statistics:
        table = [f"{line}\n" for line in statistics(results)]
        stream.writelines([*table, "\n"] if table else [])
    else:
        for result, finding in ordered(results, options):
            stream.writelines(f"{line}\n" for line in _finding(result, finding, style, options))
            stream.write("\n")
    stream.write(f"{summary(results, options)}\n")


def _finding(result: FileResult, finding: Finding, style: Style, options: ReportOptions) -> Iterator[str]:
    where = place(result, finding.span)
    path = heading(result.path, options)
    severity = style.severity(finding.severity.value, finding.severity)
    mark = " (suppressed)" if is_silenced(result, finding, options) else ""
    yield f"{style(path, 'bold')}:{where}: {severity} {style(finding.code, 'bold')} {finding.name}{mark}"
    yield f"  {clean(finding.message)}"
    if finding.bytes is not None:
        yield f"  {memory(finding)}"
    if against := measured(result, finding, options):
        yield f"  {style(against, 'yellow')}"
    source = result.source
    if source is None:
        return
    if finding.code != INTERNAL_ERROR:
        yield from frame(source, where, finding.severity, style, options.width)
    yield from (f"  {line}" for line in related(result, finding, options))
    if finding.fix:
        yield f"  {style(fix_kind(finding.fix), 'bold')}: {clean(finding.fix.message)}"
        if options.show_fixes:
            yield from show_diff(source, finding.fix, where.cell, style, options.width)
