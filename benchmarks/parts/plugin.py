"""flake8 with our plugin against flake8 alone, on code with TensorFlow and on code without it."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from benchmarks.corpora import Files, counted, python_files
from benchmarks.flake8 import PACKAGES
from benchmarks.parts import Plan
from benchmarks.processes import in_turns
from benchmarks.results import Results
from benchmarks.tools import FLAKE8, WITH_PLUGIN

CHOSEN = ("keras",)
NAMES = ("plugin",)
"""The parts of the results that are written here."""


def measure(plan: Plan, results: Results) -> None:
    """Both in turns on each subject."""
    if not (plan.tools.has(FLAKE8) and plan.tools.has(WITH_PLUGIN)):
        return
    for files in [*(plan.files[name] for name in CHOSEN if name in plan.files), _without(plan.quick)]:
        results.about(files)
        commands = {
            (tool.name, "cold"): plan.tools.command(tool, files.words, files.root) for tool in (FLAKE8, WITH_PLUGIN)
        }
        # Runs behind the cold one in each turn, and finds what that has kept.
        commands[WITH_PLUGIN.name, "warm"] = plan.tools.command(WITH_PLUGIN, files.words, files.root, kept=True)
        results.add("plugin", files.name, in_turns(commands, plan.turns))


def _without(quick: bool) -> Files:
    """A part of Python's own library, which has no TensorFlow in it."""
    root = Path(sysconfig.get_path("stdlib"))
    folders = [root / name for name in PACKAGES[: 1 if quick else None]]
    paths = [path.relative_to(root) for path in python_files(folders)]
    return counted("stdlib", "a part of Python's own library", root, paths)
