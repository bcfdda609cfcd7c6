"""Tools that keep results: the first run, one in which nothing has changed, and one in which one file has."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.corpora import Files
from benchmarks.parts import Plan
from benchmarks.processes import Command, Run, Taken, run, taken
from benchmarks.results import Results
from benchmarks.subjects import copied
from benchmarks.tools import OURS, RUFF, RUFF_ALL, Tool

STATES = ("cold", "warm", "changed")
NAMES = ("caches",)
"""The parts of the results that are written here."""


def measure(plan: Plan, results: Results) -> None:
    """On the package that comes first, copied, as its files are changed."""
    if not plan.files:
        return
    files = plan.files.get("keras") or next(iter(plan.files.values()))
    target = plan.work / "changed"
    shutil.rmtree(target, ignore_errors=True)
    copies = replace(files, root=copied(files.root, target))
    results.about(files, "caches")
    for tool in (OURS, RUFF, RUFF_ALL):
        if plan.tools.has(tool):
            found = states(plan, tool, copies.words, copies.root, changed_file(copies), plan.turns)
            results.add("caches", "caches", {(tool.name, state): each for state, each in found.items()})


def changed_file(files: Files) -> Path:
    """The file that changes: the one in the middle."""
    return files.root / files.paths[len(files.paths) // 2]


def states(
    plan: Plan, tool: Tool, words: Sequence[str], root: Path, changed: Path, turns: int, jobs: int = 1, cold: int = 0
) -> dict[str, Taken]:
    """What each state takes, in its order, so many turns; the cold run only in the first `cold` of them, if not 0."""
    found: dict[str, list[Run]] = {state: [] for state in STATES}
    command = plan.tools.command(tool, words, root, jobs, kept=True)
    before: dict[str, Callable[[], object]] = {
        "cold": lambda: shutil.rmtree(plan.tools.cache(tool), ignore_errors=True),
        "warm": lambda: None,
        "changed": lambda: _change(changed),
    }
    for turn in range(turns):
        for state in STATES[1 if cold and turn >= cold else 0 :]:
            prepared: Command = replace(command, before=before[state])
            found[state].append(run(prepared))
    return {state: taken(runs) for state, runs in found.items()}


def _change(path: Path) -> None:
    with path.open("ab") as stream:
        stream.write(b"\n# changed\n")
