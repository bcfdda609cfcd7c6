"""What several processes save of the time that one waits."""

from __future__ import annotations

from benchmarks.parts import CORES, Plan
from benchmarks.processes import in_turns
from benchmarks.results import Results
from benchmarks.tools import FLAKE8, OURS, RUFF

CHOSEN = ("keras",)
NAMES = ("jobs",)
"""The parts of the results that are written here."""


def measure(plan: Plan, results: Results) -> None:
    """Tools that can be told how many processes to use, with one and with as many as there are cores."""
    for files in (plan.files[name] for name in CHOSEN if name in plan.files):
        results.about(files)
        commands = {
            (tool.name, f"jobs {jobs}"): plan.tools.command(tool, files.words, files.root, jobs)
            for tool in (OURS, FLAKE8, RUFF)
            if plan.tools.has(tool)
            for jobs in dict.fromkeys((CORES,) if tool is RUFF else (1, CORES))  # which has no such option
        }
        results.add("jobs", files.name, in_turns(commands, plan.turns))
