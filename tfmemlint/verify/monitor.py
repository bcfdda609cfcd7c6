"""The user's own program, unchanged, under the monitor: its figures, and what to say about its lines."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import msgspec

from tfmemlint.finding import Finding
from tfmemlint.report.base import clean
from tfmemlint.report.pages import pictures
from tfmemlint.report.style import Style
from tfmemlint.units import show_bytes
from tfmemlint.verify.compared import FORMAT, Earlier, as_data, figures, remarks, rows
from tfmemlint.verify.notebooks import Notebook
from tfmemlint.verify.run.first_region import first_region
from tfmemlint.verify.run.interpreters import MeasureError, check_system
from tfmemlint.verify.run.measure import CHILD, Settings
from tfmemlint.verify.run.runs import Bounds, Line, Run, read_result
from tfmemlint.verify.run.stopping import SIGNALED, passed_on
from tfmemlint.verify.run.workspaces import workspace

SMALL = 0.001


@dataclass(frozen=True)
class Hot:
    """A line of the program that was executing while memory was held, and the findings in its statement."""

    line: Line
    code: str
    findings: tuple[Finding, ...]
    cell: int | None = None

    @property
    def where(self) -> str:
        """The line's place for a reader: `train.py:12`, or `nb.ipynb:cell 3:5`."""
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{os.path.relpath(self.line.file)}:{cell}{self.line.line}"


def execute(
    script: Path, arguments: Sequence[str], python: str, device: str, notebook: Notebook | None = None
) -> tuple[Run, int]:
    """Run the script with the user's own streams, environment and folder; its figures and exit code. The `notebook`
    that a script is runs as a file elsewhere, in the notebook's folder as in Jupyter; lines are those of its program.

    Raises MeasureError where it cannot be started or leaves no figures.
    """
    check_system()
    started = time.monotonic()
    with workspace() as folder, tempfile.TemporaryFile() as result:
        program = script.resolve()
        if notebook is not None:
            program = Path(folder, f"{script.stem}.py")
            program.write_text(notebook.text, encoding="utf-8")
        request = {
            "program": str(program),
            "notebook": notebook is not None,
            "argv": list(arguments),
            "path": [str(script.resolve().parent)],
            "own": str(script.resolve().parent),
            "result": result.fileno(),
            "device": device,
            "preload": False,
            "lines": True,
            "interval": 0.002,
            "reserve": first_region(Settings()),
        }
        where = Path(folder, "request.json")
        where.write_text(json.dumps(request), encoding="utf-8")
        try:
            here = None if notebook is None else script.resolve().parent
            process = subprocess.Popen([python, str(CHILD), str(where)], pass_fds=[result.fileno()], cwd=here)
        except OSError as error:
            raise MeasureError(f"cannot start {python}: {error.strerror}") from error
        code, came = _wait(process)
        run = read_result(result.fileno(), Bounds(time.monotonic() - started))
    if run.status == "crash" and came:
        raise SystemExit(SIGNALED + came[0])
    if run.status == "crash":
        raise MeasureError(f"{script} left no figures: it ended with exit status {code}")
    return run, code


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, list[int]]:
    """The exit code, in a shell's manner, and the signals that would have ended this process: it passes them on.

    Ctrl-C reaches the program itself. It ends as it likes.
    """
    with passed_on(process) as came:
        while True:
            try:
                code = process.wait()
                return (SIGNALED - code if code < 0 else code), came
            except KeyboardInterrupt:
                continue


def statements(data: bytes) -> list[tuple[int, int]]:
    """First and last line of each simple statement and of each compound statement's head; empty for broken code."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return []
    spans = []
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = node.end_lineno or node.lineno
            if isinstance(body, list) and body:
                end = max(node.lineno, body[0].lineno - 1)
            spans.append((node.lineno, end))
    return spans


def worth_showing(lines: Sequence[Hot]) -> list[Hot]:
    """The lines at which the peak rose, those first at which it rose most, and the lines with findings.

    Where no tensor was seen, all, those with the most process memory first.
    """
    ordered = sorted(lines, key=lambda hot: (-hot.line.rise, -hot.line.live, -hot.line.rss))
    most = max((hot.line.live for hot in lines), default=0)
    return [hot for hot in ordered if hot.line.rise > most * SMALL or hot.findings or not most]


def headline(run: Run) -> list[tuple[str, str]]:
    """The figures of the run as a whole, in words."""
    on = f" ({run.device})" if run.device else ""
    shown = [
        (f"{name}{on}" if name == "peak of tensors" else name, show_bytes(value))
        for name, value in figures(run).items()
        if value is not None
    ]
    return [*shown, ("traces", str(run.traces)), ("seconds", f"{run.seconds:.1f}")]


def write_text(
    name: str, run: Run, lines: Sequence[Hot], stream: TextIO, style: Style, earlier: Earlier | None = None
) -> None:
    """The figures, beside those of an earlier run, their course and the lines."""
    stream.write("\n" + style(f"memory of {clean(name)}", "bold") + "\n")
    if run.error is not None:
        stream.write(style(f"  ended by {clean(run.error.text)}", "yellow") + "\n")
    if earlier is None:
        stream.writelines(f"  {label:28}{value}\n" for label, value in headline(run))
    else:
        _write_both(name, earlier, run, stream, style)
    if run.allocator_problem:
        stream.write(f"  tensors could not be counted: {clean(run.allocator_problem)}\n")
    drawn = pictures.sparkline([sample[1] for sample in run.timeline])
    if drawn and (stream.encoding or "").lower().startswith("utf"):
        stream.write(f"  tensors over {run.seconds:.1f} s    {drawn}\n")
    if lines:
        stream.write("\n" + style(f"  {'peak rose by':>14}{'held then':>14}  line", "bold") + "\n")
    for hot in lines:
        line = hot.line
        sizes = f"{show_bytes(line.rise):>14}{show_bytes(line.live):>14}"
        stream.write(f"  {sizes}  {clean(hot.where)}: {clean(hot.code)}\n")
        for found in hot.findings:
            stream.write(f"{'':34}{style.severity(found.code, found.severity)} {clean(found.message)}\n")


def _write_both(name: str, earlier: Earlier, run: Run, stream: TextIO, style: Style) -> None:
    stream.write(style(f"  {'':28}{'before':>12}{'now':>12}", "bold") + "\n")
    for row in rows(earlier.run, run):
        stream.write(f"  {row.label:28}{row.before:>12}{row.now:>12}  {row.change}".rstrip() + "\n")
    for remark in remarks(earlier, name, run):
        stream.write(style(f"  {clean(remark)}", "yellow") + "\n")


def write_json(name: str, run: Run, lines: Sequence[Hot], stream: TextIO, earlier: Earlier | None = None) -> None:
    """All figures as one JSON object, those of an earlier run in it as `against`."""
    found = [
        {
            **msgspec.to_builtins(hot.line),
            **({} if hot.cell is None else {"cell": hot.cell}),
            "code": hot.code,
            "findings": [{"code": found.code, "name": found.name, "message": found.message} for found in hot.findings],
        }
        for hot in lines
    ]
    against = {} if earlier is None else {"against": {"script": earlier.script, **as_data(earlier.run)}}
    json.dump({"format": FORMAT, "script": name, **as_data(run), "lines": found, **against}, stream, indent=2)
    stream.write("\n")
