"""One line a finding, as compilers write them and editors read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from tfmemlint.report.base import FileResult, ReportOptions, clean, heading, ordered
from tfmemlint.report.notes import marks
from tfmemlint.report.places import place
from tfmemlint.report.style import Style
from tfmemlint.report.summary import statistics


def render(results: Sequence[FileResult], stream: TextIO, *, options: ReportOptions) -> None:
    """Write `path:row:column: CODE message [safe fix]` for each finding, or a table of them; nothing without any."""
    if options.statistics:
        stream.writelines(f"{line}\n" for line in statistics(results))
        return
    style = Style(options.color)
    for result, finding in ordered(results, options):
        path = style(heading(result.path, options), "bold")
        code = style.severity(finding.code, finding.severity)
        mark = marks(result, finding, options)
        stream.write(f"{path}:{place(result, finding.span)}: {code} {clean(finding.message)}{mark}\n")
