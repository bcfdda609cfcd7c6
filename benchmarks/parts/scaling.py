"""How cost grows with the size of a file, for programs that are much of one thing."""

from __future__ import annotations

from pathlib import Path

from benchmarks.corpora import Files
from benchmarks.parts import Plan
from benchmarks.processes import Taken, in_turns
from benchmarks.results import Results, Subject
from benchmarks.shapes import of_lines
from benchmarks.tools import LIBCST, OURS

SHAPES = (
    "training_functions", "model_classes", "methods_of_one_class", "steps_reassigned", "branches_joined",
    "one_name_reassigned", "loops_with_shared_names", "pipelines", "findings_with_repairs",
)  # fmt: skip
"""Those of tests/robustness/growth.py that look most like programs, and those that were hardest to keep linear."""
SIZES = (1_250, 2_500, 5_000, 10_000, 20_000)
"""Lines."""
LARGEST = {"findings_with_repairs": 5_000}
"""The most lines of a shape of which larger programs take minutes: here each few lines are a finding."""
EMPTY = "import tensorflow as tf\n"
NAMES = ("scaling",)
"""The parts of the results that are written here."""


def measure(plan: Plan, results: Results) -> None:
    """CPU seconds of linting and of parsing each size, and of a program of one line, which is the start."""
    folder = plan.work / "shapes"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "start.py").write_text(EMPTY, "utf-8")
    results.add("scaling", "start", _both(plan, Files("start", "", folder, [Path("start.py")], [1]), plan.turns))
    for shape in SHAPES[:1] if plan.quick else SHAPES:
        for size in [size for size in SIZES[: 2 if plan.quick else None] if size <= LARGEST.get(shape, size)]:
            name = f"{shape}-{size}"
            text = of_lines(shape, size)
            (folder / f"{name}.py").write_text(text, "utf-8")
            results.subjects[name] = Subject(shape.replace("_", " "), 1, text.count("\n"))
            files = Files(name, shape, folder, [Path(f"{name}.py")], [text.count("\n")])
            results.add("scaling", name, _both(plan, files, min(plan.turns, 2)))


def _both(plan: Plan, files: Files, turns: int) -> dict[tuple[str, str], Taken]:
    commands = {(tool.name, "cold"): plan.tools.command(tool, files.words, files.root) for tool in (LIBCST, OURS)}
    return in_turns(commands, turns)
