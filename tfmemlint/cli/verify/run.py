"""`tfmemlint run`: monitors the user's program and sets what was measured against the findings in it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tfmemlint.cli.output import is_colored, tolerant
from tfmemlint.cli.verify.shown import write
from tfmemlint.config.selectors import Layer
from tfmemlint.config.settings import Configs
from tfmemlint.finding import Finding
from tfmemlint.lint.linter import Linter
from tfmemlint.report.style import Style
from tfmemlint.verify.monitor import Hot, execute, statements, worth_showing, write_json, write_text
from tfmemlint.verify.run.interpreters import MeasureError
from tfmemlint.verify.run.runs import Run


def monitor(options: argparse.Namespace) -> int:
    """Run the script, then say on stderr what it took; the script's exit code. Raises MeasureError."""
    script = Path(options.script)
    if not script.is_file():
        raise MeasureError(f"{script}: no such file")
    run, code = execute(script, options.arguments, options.python, options.device)
    lines = hot_lines(run, options.select)[: options.top]
    with tolerant(sys.stderr) as stream:
        if options.output_format == "json":
            write_json(run, lines, stream)
        else:
            write_text(script.name, run, lines, stream, Style(is_colored(stream)))
    if options.html:
        from tfmemlint.verify.pages.run_page import page

        write(Path(options.html), page(script.name, run, lines))
    return code


def hot_lines(run: Run, select: Sequence[str] | None = None) -> list[Hot]:
    """The user's lines that are worth showing, with what they say and the findings in their statements."""
    known = {name: _File(name, select) for name in {line.file for line in run.lines}}
    return worth_showing([Hot(line, *known[line.file].at(line.line)) for line in run.lines])


class _File:
    """One file's lines and the findings in it."""

    def __init__(self, path: str, select: Sequence[str] | None) -> None:
        data = Path(path).read_bytes() if os.path.isfile(path) else b""
        overrides = {"command_line": Layer(select=tuple(select))} if select else {}
        result = Linter(Configs(overrides=overrides).for_file(path)).lint(data, path)
        source = result.source
        self._lines = data.decode("utf-8", "replace").splitlines()
        self._ranges = statements(data)
        self._found = [(source.position(found.span.start).row, found) for found in result.findings if source]

    def at(self, line: int) -> tuple[str, tuple[Finding, ...]]:
        """The text of a line and the findings in the statement that it belongs to."""
        around = [(start, end) for start, end in self._ranges if start <= line <= end]
        start, end = min(around, key=lambda span: span[1] - span[0], default=(line, line))
        text = self._lines[line - 1].strip() if 0 < line <= len(self._lines) else ""
        return text, tuple(found for row, found in self._found if start <= row <= end)
