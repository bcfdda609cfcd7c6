"""One JSON array of all findings; see `records` for what each holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from tfmemlint.report.base import FileResult, ReportOptions, ordered
from tfmemlint.report.records import record


def render(results: Sequence[FileResult], stream: TextIO, *, options: ReportOptions) -> None:
    """Write the array, in ASCII so that it reads the same whatever the stream's encoding; `[]` without findings."""
    records = [record(result, finding, options) for result, finding in ordered(results, options)]
    stream.write(json.dumps(records, indent=2) + "\n")
