"""One JSON object a line for each finding; see `records` for what it holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from tfmemlint.report.base import FileResult, ReportOptions, ordered
from tfmemlint.report.records import record


def render(results: Sequence[FileResult], stream: TextIO, *, options: ReportOptions) -> None:
    """Write the lines, in ASCII so that they read the same whatever the stream's encoding."""
    for result, finding in ordered(results, options):
        stream.write(json.dumps(record(result, finding, options)) + "\n")
