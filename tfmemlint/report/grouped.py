"""The findings of each file below its name, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TextIO

from tfmemlint.report.base import FileResult, ReportOptions, clean, heading, ordered
from tfmemlint.report.notes import marks
from tfmemlint.report.places import place
from tfmemlint.report.style import Style
from tfmemlint.report.summary import statistics


def render(results: Sequence[FileResult], stream: TextIO, *, options: ReportOptions) -> None:
    """Write the name of each file and below it `row:column  CODE  message [safe fix]`, places and codes in columns."""
    if options.statistics:
        stream.writelines(f"{line}\n" for line in statistics(results))
        return
    style = Style(options.color)
    for path, found in groupby(ordered(results, options), lambda each: each[0].path):
        lines = [(str(place(result, each.span)), result, each) for result, each in found]
        width = max(len(where) for where, _, _ in lines)
        stream.write(f"{style(heading(path, options), 'bold')}:\n")
        for where, result, finding in lines:
            code = style.severity(finding.code, finding.severity)
            stream.write(f"  {where:<{width}}  {code}  {clean(finding.message)}{marks(result, finding, options)}\n")
        stream.write("\n")
