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
from tfmemlint.verify.run.interpreters import MeasureError, check_system
from tfmemlint.verify.run.measure import CHILD, Settings, first_region
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


def execute(script: Path, arguments: Sequence[str], python: str, device: str) -> tuple[Run, int]:
    """Run the script with the user's own streams, environment and folder; its figures and exit code.

    Raises MeasureError where it cannot be started or leaves no figures.
    """
    check_system()
    started = time.monotonic()
    with workspace() as folder, tempfile.TemporaryFile() as result:
        request = {
            "program": str(script.resolve()),
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
            process = subprocess.Popen([python, str(CHILD), str(where)], pass_fds=[result.fileno()])
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
    grown = None if run.rss_peak is None or run.rss_start is None else run.rss_peak - run.rss_start
    figures = [
        (f"peak of tensors ({run.device})" if run.device else "peak of tensors", run.peak_bytes),
        ("tensors at the end", run.live_bytes),
        ("peak of process memory", run.rss_peak),
        ("  of which since the start", grown),
        ("card's memory in use", run.device_used_peak),
    ]
    shown = [(name, show_bytes(value)) for name, value in figures if value is not None]
    return [*shown, ("traces", str(run.traces)), ("seconds", f"{run.seconds:.1f}")]


def write_text(name: str, run: Run, lines: Sequence[Hot], stream: TextIO, style: Style) -> None:
    """The figures, their course and the lines."""
    stream.write("\n" + style(f"memory of {clean(name)}", "bold") + "\n")
    if run.error is not None:
        stream.write(style(f"  ended by {clean(run.error.text)}", "yellow") + "\n")
    for label, value in headline(run):
        stream.write(f"  {label:28}{value}\n")
    if run.allocator_problem:
        stream.write(f"  tensors could not be counted: {clean(run.allocator_problem)}\n")
    drawn = pictures.sparkline([sample[1] for sample in run.timeline])
    if drawn and (stream.encoding or "").lower().startswith("utf"):
        stream.write(f"  tensors over {run.seconds:.1f} s    {drawn}\n")
    if lines:
        stream.write("\n" + style(f"  {'peak rose by':>14}{'held then':>14}  line", "bold") + "\n")
    for hot in lines:
        line = hot.line
        where = f"{os.path.relpath(line.file)}:{line.line}"
        stream.write(f"  {show_bytes(line.rise):>14}{show_bytes(line.live):>14}  {clean(where)}: {clean(hot.code)}\n")
        for found in hot.findings:
            stream.write(f"{'':34}{style.severity(found.code, found.severity)} {clean(found.message)}\n")


def write_json(run: Run, lines: Sequence[Hot], stream: TextIO) -> None:
    """All figures as one JSON object."""
    figures = {name.replace("_", "-"): value for name, value in msgspec.to_builtins(run).items() if name != "lines"}
    found = [
        {
            **msgspec.to_builtins(hot.line),
            "code": hot.code,
            "findings": [{"code": found.code, "name": found.name, "message": found.message} for found in hot.findings],
        }
        for hot in lines
    ]
    json.dump({"format": 1, **figures, "lines": found}, stream, indent=2)
    stream.write("\n")
