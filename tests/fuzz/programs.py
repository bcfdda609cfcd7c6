"""Programs to begin with: the samples of the rules, and the files of every Python that is installed."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import warnings
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from types import ModuleType

import tfmemlint_fixtures

CORPUS = Path(__file__).with_name("corpus")


@cache
def samples() -> tuple[str, ...]:
    """The texts of the rules' samples and of the programs in the corpus."""
    folders = Path(tfmemlint_fixtures.__path__[0])
    kept = (folders.glob("*/*/bad.py"), folders.glob("*/*/good.py"), CORPUS.glob("tokens/*.py"))
    paths = [path for found in kept for path in sorted(found)]
    return tuple(path.read_text("utf-8", "surrogateescape") for path in paths if path.stat().st_size < 20_000)


@cache
def statements(text: str) -> tuple[str, ...]:
    """The statements of a program's top level as they are written, comments above them included."""
    lines = text.splitlines(keepends=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ends = [node.end_lineno or 0 for node in ast.parse(text).body]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (text,)
    marks = sorted({0, *ends[:-1], len(lines)})
    return tuple("".join(lines[start:end]) for start, end in pairwise(marks))


def of_robustness(name: str) -> ModuleType | None:
    """A module of `tests/robustness`, which is no package; None where there is none of that name."""
    folder = str(Path(__file__).parents[1] / "robustness")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


@cache
def installed() -> tuple[Path, ...]:
    """The files of the standard library of each Python that is installed, and of this one's packages."""
    roots = {Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))}
    roots.update(Path(folder) for folder in sys.path if folder.endswith("site-packages"))
    for minor in range(6, 20):
        program = shutil.which(f"python3.{minor}")
        if program:
            asked = [program, "-I", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"]
            done = subprocess.run(asked, capture_output=True, text=True)
            roots.update([Path(done.stdout.strip())] if done.returncode == 0 else [])
    folders = {folder for root in {root.resolve() for root in roots} for folder, _, _ in os.walk(root)}
    found = sorted({entry.path for folder in folders for entry in os.scandir(folder) if entry.name.endswith(".py")})
    Random(0).shuffle(found)
    return tuple(map(Path, found))
