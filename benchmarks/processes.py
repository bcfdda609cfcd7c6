"""Commands as whole processes: what one run takes, and what several take that run in turns."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

LAUNCH = Path(__file__).with_name("launch.py")
Key = TypeVar("Key", bound=Hashable)


class FailedRun(Exception):
    """A command ended as it must not; the message holds what it said."""


@dataclass(frozen=True)
class Run:
    """What one process took, with those that it started and waited for."""

    cpu: float
    """CPU seconds, user and system."""
    wall: float
    """Seconds from start to end."""
    peak: int
    """The most bytes that the process, or any one of its children, had in memory at once."""
    instructions: int | None = None
    """Instructions in user mode, where they were counted."""
    errors: str = ""
    """What it wrote to stderr."""


@dataclass(frozen=True)
class Command:
    """Something to measure."""

    words: Sequence[str]
    cwd: Path | None = None
    codes: Sequence[int] = (0, 1)
    """Exit codes of a run that did its work; any other one ends the measuring."""
    before: Callable[[], object] | None = None
    """Called before each run, outside of what is measured."""
    turns: int | None = None
    """The most turns to give it; as many as the others where None."""


@dataclass(frozen=True)
class Taken:
    """What the runs of one command took: medians, but for the peak, which is the least."""

    cpu: float
    """CPU seconds."""
    least: float
    most: float
    wall: float
    """Seconds."""
    peak: int
    """Bytes."""
    instructions: int | None
    turns: int


def run(command: Command, count: bool = False) -> Run:
    """Run a command once, with `count` under `perf`; raises FailedRun where its exit code says that it failed."""
    if command.before is not None:
        command.before()
    with tempfile.TemporaryDirectory() as folder:
        errors, counted = Path(folder, "errors"), Path(folder, "counted")
        perf = ("perf", "stat", "-x,", "-e", "instructions:u", "-o", str(counted), "--") if count else ()
        words = [sys.executable, "-I", "-S", str(LAUNCH), str(errors), *perf, *command.words]
        done = subprocess.run(words, cwd=command.cwd, env=environment(), stdout=subprocess.PIPE, check=True)
        taken, said = json.loads(done.stdout), errors.read_text("utf-8", "replace")
        instructions = _counted(counted) if count else None
    # Python ends with 1 after an exception, as checkers do after a finding.
    if taken["code"] not in command.codes or "Traceback (most recent call last)" in said:
        shown = " ".join(str(word) for word in command.words[:8])
        raise FailedRun(f"{shown} ... ended with {taken['code']}:\n{said[-2000:]}")
    return Run(taken["cpu"], taken["wall"], taken["peak"], instructions, said)


def environment() -> dict[str, str]:
    """The environment of measured processes: Python keeps its compiled files, as after an installation."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RUFF_", "PYLINT"))}


def in_turns(commands: Mapping[Key, Command], turns: int) -> dict[Key, Taken]:
    """Run all commands once, then all again the other way round, and so on, so that what else the machine does at the
    time falls on all of them. The first turn counts instructions, where they can be counted."""
    found: dict[Key, list[Run]] = {key: [] for key in commands}
    for turn in range(turns):
        order = list(commands)[:: 1 if turn % 2 == 0 else -1]
        for key in order:
            command = commands[key]
            if command.turns is None or turn < command.turns:
                found[key].append(run(command, count=turn == 0 and counts_instructions()))
    return {key: taken(runs) for key, runs in found.items()}


def taken(runs: Sequence[Run]) -> Taken:
    """The median of some runs. The peak is the least, as one of them may have run under `perf` and have its memory."""
    seconds = [each.cpu for each in runs]
    instructions = next((each.instructions for each in runs if each.instructions is not None), None)
    return Taken(
        statistics.median(seconds),
        min(seconds),
        max(seconds),
        statistics.median(each.wall for each in runs),
        min(each.peak for each in runs),
        instructions,
        len(runs),
    )


@cache
def counts_instructions() -> bool:
    """Whether `perf` is here and may count instructions, which many virtual machines do not let it."""
    if shutil.which("perf") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "counted")
        words = ["perf", "stat", "-x,", "-e", "instructions:u", "-o", str(out), "--", "true"]
        return subprocess.run(words, capture_output=True).returncode == 0 and _counted(out) is not None


def _counted(path: Path) -> int | None:
    """The number in what `perf stat -x,` wrote; None where it says `<not supported>` or `<not counted>`."""
    for line in path.read_text("utf-8").splitlines():
        first = line.split(",")[0]
        if first.isdigit():
            return int(first)
    return None
