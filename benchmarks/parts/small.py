"""One small file from a cold start, where most of the cost is the start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.cold import COMMANDS, FILES
from benchmarks.corpora import Files
from benchmarks.parts import Plan
from benchmarks.processes import Command, in_turns, run
from benchmarks.results import Results
from benchmarks.subjects import with_marker
from benchmarks.tools import FIXIT, FLAKE8, OURS, PYLINT, RUFF, TORCHFIX, WITH_PLUGIN

SMALL = {"plain.py": "no TensorFlow", "ten_lines.py": "ten lines"}
"""The files that every tool reads, and what cold.py calls them."""
NAMES = ("small",)
"""The parts of the results that are written here."""


def measure(plan: Plan, results: Results) -> None:
    """Our commands beside processes that do nothing or import libcst, then other tools on the same files."""
    folder = plan.work / "small"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    turns = plan.turns if plan.quick else 2 * plan.turns + 1
    python = plan.tools.environments["tfmemlint"].python
    commands: dict[tuple[str, str], Command] = {("python", "pass"): Command((python, "-c", "pass"), folder)}
    commands |= {("tfmemlint", name): Command((python, *words), folder) for name, words in COMMANDS.items()}
    unchanged = plan.tools.command(OURS, ["ten_lines.py"], folder, kept=True)
    run(unchanged)
    commands["tfmemlint", "check, ten lines, nothing changed"] = unchanged
    results.add("small", "ours", in_turns(commands, turns))
    commands = {}
    for tool in (RUFF, FLAKE8, WITH_PLUGIN, FIXIT, TORCHFIX, PYLINT):
        if plan.tools.has(tool):
            root = _marked(plan, folder) if tool.marker else folder
            for name in SMALL:
                commands[tool.name, name] = replace(plan.tools.command(tool, [name], root), turns=None)
    results.add("small", "peers", in_turns(commands, plan.turns))


def _marked(plan: Plan, folder: Path) -> Path:
    files = Files("small", "", folder, [Path(name) for name in SMALL], [])
    return with_marker(files, plan.work / "marked" / "one", TORCHFIX.marker).root
