"""The sample run, rendered."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from report_samples import RULES, sample_run

from tfmemlint.report import ReportOptions, render


@pytest.fixture
def options() -> ReportOptions:
    return ReportOptions(root="/proj", elapsed=0.4213, rules=RULES, version="0.1.0")


@pytest.fixture
def report(options):
    """Renders the sample run, or other results, in a format."""

    def made(name: str, chosen=None, **changes) -> str:
        stream = io.StringIO()
        render(name, sample_run() if chosen is None else chosen, stream, replace(options, **changes))
        return stream.getvalue()

    return made
