"""Peak memory: file by file against libcst's parse of it, and over ever more files, of which none must add to it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.corpora import Files, fewer, sampled
from benchmarks.parts import Plan
from benchmarks.processes import Taken, counts_instructions, in_turns
from benchmarks.results import Results
from benchmarks.tools import LIBCST, OURS

FILES = 8
"""How many single files."""
COUNTS = (25, 50, 100, 200, 400, 800)
"""How many files of a tree are read in one process."""
NAMES = ("memory", "memory-tree")
"""The parts of the results that are written here."""


def measure(plan: Plan, results: Results) -> None:
    """Two tables. The tree is the package with most files."""
    if not plan.files:
        return
    for files in _single(plan):
        results.about(files)
        results.add("memory", files.name, _peaks(plan, files))
    largest = max(plan.files.values(), key=lambda each: len(each.paths) if each.name != "notebooks" else 0)
    for count in [count for count in COUNTS if count < len(largest.paths)] + [0]:
        files = fewer(largest, count)
        if plan.quick and count not in COUNTS[:2]:
            break
        results.about(files, f"first-{len(files.paths)}")
        results.add("memory-tree", f"first-{len(files.paths)}", _peaks(plan, files))


def _single(plan: Plan) -> list[Files]:
    """Some files, from the smallest to the largest, of the two subjects with the largest ones."""
    subjects = [plan.files[name] for name in ("keras", "large") if name in plan.files]
    known = {
        (files.root / path).resolve(): lines
        for files in subjects
        for path, lines in zip(files.paths, files.counts, strict=True)
    }
    ordered = sorted(known, key=lambda path: (known[path], path))
    chosen = sampled(ordered, 2 if plan.quick else FILES - 1)
    chosen = [*chosen, *(path for path in ordered[-1:] if path not in chosen)]
    return [
        Files(f"file-{path.name}", f"`{path.name}`", path.parent, [Path(path.name)], [known[path]])
        for path in chosen
    ]


def _peaks(plan: Plan, files: Files) -> dict[tuple[str, str], Taken]:
    """Both tools once, or twice where `perf` counts in the first run and has a part in its peak."""
    commands = {(tool.name, "cold"): plan.tools.command(tool, files.words, files.root) for tool in (LIBCST, OURS)}
    return in_turns(commands, 2 if counts_instructions() else 1)
