"""`tfmemlint run`: monitors the user's program or notebook and sets what was measured against the findings in it."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from tfmemlint.cli.output import is_colored, tell, tolerant
from tfmemlint.cli.verify.shown import write
from tfmemlint.config.selectors import Layer
from tfmemlint.config.settings import Configs
from tfmemlint.finding import Finding
from tfmemlint.lint.linter import Linter
from tfmemlint.report.style import Style
from tfmemlint.verify.compared import read_earlier
from tfmemlint.verify.monitor import Hot, execute, statements, worth_showing, write_json, write_text
from tfmemlint.verify.notebooks import Notebook, read_notebook
from tfmemlint.verify.run.interpreters import MeasureError
from tfmemlint.verify.run.runs import Line, Run


def monitor(options: argparse.Namespace) -> int:
    """Run the script, then say on stderr what it took; the script's exit code. Raises MeasureError."""
    script = Path(options.script)
    if not script.is_file():
        raise MeasureError(f"{script}: no such file")
    earlier = read_earlier(Path(options.against)) if options.against else None
    notebook = read_notebook(script) if script.suffix.lower() == ".ipynb" else None
    if notebook is not None and notebook.left_out:
        tell(f"left out of {script}: {'; '.join(notebook.left_out)}")
    run, code = execute(script, options.arguments, options.python, options.device, notebook)
    lines = hot_lines(run, options.select, script, notebook)[: options.top]
    with tolerant(sys.stderr) as stream:
        if options.output_format == "json":
            write_json(script.name, run, lines, stream, earlier)
        else:
            write_text(script.name, run, lines, stream, Style(is_colored(stream)), earlier)
        if notebook is not None and run.error is not None and run.error.lines:
            place = notebook.place(run.error.lines[-1])
            tell(f"it ended in line {place.row} of cell {place.cell}")
    if options.html:
        from tfmemlint.verify.pages.run_page import page

        write(Path(options.html), page(script.name, run, lines, earlier))
    if options.save:
        saved = io.StringIO()
        write_json(script.name, run, lines, saved)
        write(Path(options.save), saved.getvalue())
    return code


def hot_lines(
    run: Run, select: Sequence[str] | None = None, script: Path | None = None, notebook: Notebook | None = None
) -> list[Hot]:
    """The user's lines that are worth showing, with what they say and the findings in their statements. Lines of the
    program that the `notebook` at `script` was run as become its own."""
    known: dict[str, _File] = {}
    found = []
    for line in run.lines:
        name, places = line.file, None
        if notebook is not None and script is not None and not os.path.exists(name):  # it is gone with its folder
            name, places = str(script), notebook
        if name not in known:
            known[name] = _File(name, select, places)
        found.append(known[name].hot(line))
    return worth_showing(found)


class _File:
    """One file's lines and the findings in it. `notebook` is the program that the file was run as."""

    def __init__(self, path: str, select: Sequence[str] | None, notebook: Notebook | None = None) -> None:
        self._path, self._notebook = path, notebook
        data = Path(path).read_bytes() if os.path.isfile(path) else b""
        overrides = {"command_line": Layer(select=tuple(select))} if select else {}
        result = Linter(Configs(overrides=overrides).for_file(path)).lint(data, path)
        source = result.source
        text = data if notebook is None else notebook.text.encode()
        self._lines = text.decode("utf-8", "replace").splitlines()
        self._ranges = statements(text)
        rows = {} if notebook is None else {place: row for row, place in reversed([*enumerate(notebook.places, 1)])}
        self._found = []
        for found in result.findings if source else ():
            assert source is not None
            place = source.position(found.span.start)
            row = rows.get(replace(place, column=1), 0) if notebook else place.row
            self._found.append((row, found))

    def hot(self, line: Line) -> Hot:
        """A line with its text and the findings in the statement that it belongs to."""
        code, findings = self.at(line.line)
        if self._notebook is None:
            return Hot(line, code, findings)
        place = self._notebook.place(line.line)
        return Hot(msgspec.structs.replace(line, file=self._path, line=place.row), code, findings, place.cell)

    def at(self, line: int) -> tuple[str, tuple[Finding, ...]]:
        """The text of a line and the findings in the statement that it belongs to."""
        around = [(start, end) for start, end in self._ranges if start <= line <= end]
        start, end = min(around, key=lambda span: span[1] - span[0], default=(line, line))
        text = self._lines[line - 1].strip() if 0 < line <= len(self._lines) else ""
        return text, tuple(found for row, found in self._found if start <= row <= end)
