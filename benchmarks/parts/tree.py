"""A tree of millions of lines: cold, with nothing changed and with one file changed, by as many processes as cores."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.corpora import Files, counted, python_files
from benchmarks.parts import CORES, Plan
from benchmarks.parts.caches import changed_file, states
from benchmarks.processes import Taken, run, taken
from benchmarks.results import Results
from benchmarks.subjects import copied
from benchmarks.tools import FLAKE8, LIBCST, OURS, RUFF, RUFF_ALL, Tool
from tfmemlint.text.prefilter import mentions_tensorflow

QUICK = 200
"""Files of the tree in a quick try."""
NAMES = ("tree",)
"""The parts of the results that are written here."""


def measure(plan: Plan, results: Results) -> None:
    """All tools that read the tree in reasonable time; what takes long once."""
    if plan.tree is None:
        return
    root = plan.work / "tree"
    shutil.rmtree(root, ignore_errors=True)
    whole, ours = _copied(plan, root)
    results.about(whole)
    results.about(ours)
    found: dict[tuple[str, str], Taken] = {}
    listed = plan.work / "tree.txt"
    listed.write_text("\n".join(ours.words), "utf-8")
    found["libcst", "cold"] = _once(plan, LIBCST, ["--list", str(listed.resolve())], root)
    for tool in (OURS, RUFF, RUFF_ALL):
        if plan.tools.has(tool):
            kept = states(plan, tool, ["."], root, changed_file(ours), plan.turns, CORES, cold=1)
            found |= {(tool.name, state): each for state, each in kept.items()}
    if plan.tools.has(FLAKE8):
        found[FLAKE8.name, "cold"] = _once(plan, FLAKE8, ["."], root, CORES)
    results.add("tree", "tree", found)


def _copied(plan: Plan, root: Path) -> tuple[Files, Files]:
    """A copy of the tree's Python files, and those of them that use TensorFlow."""
    assert plan.tree is not None
    copied(plan.tree, root, QUICK if plan.quick else 0)
    paths = [path.relative_to(root) for path in python_files([root])]
    woken = [path for path in paths if mentions_tensorflow((root / path).read_bytes())]
    return counted("tree", "the tree", root, paths), counted("tree-woken", "what is read of it", root, woken)


def _once(plan: Plan, tool: Tool, words: list[str], root: Path, jobs: int = 1) -> Taken:
    return taken([run(plan.tools.command(tool, words, root, jobs))])
