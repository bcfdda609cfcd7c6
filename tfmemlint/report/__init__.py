"""Output formats: findings in, text out.

Every format is a module of this package with one function `render`, and is imported only when it is asked for. The
renderers write to a stream and do nothing else. `estimates` has the formats of estimates, `pages` what all pages of
HTML share. May import `__init__`, `config`, `estimate`, `finding`, `lint`, `rule`, `shown`, `text`, `units`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TextIO

from tfmemlint.report.base import FileResult, ReportOptions, RuleInfo

__all__ = ["FORMATS", "FileResult", "ReportOptions", "RuleInfo", "render"]

FORMATS = ("text", "concise", "grouped", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson")
"""The names of the formats, as `--output-format` takes them."""


def render(format_name: str, results: Sequence[FileResult], stream: TextIO, options: ReportOptions) -> None:
    """Write the results of a run to `stream` in one of FORMATS. Raises ValueError for any other name."""
    if format_name not in FORMATS:
        raise ValueError(f"unknown output format '{format_name}'; choose from {', '.join(FORMATS)}")
    importlib.import_module(f"tfmemlint.report.{format_name}").render(results, stream, options=options)
