"""Programs with much of some things: shapes that are known to grow, and texts made to break parsers, put together."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from ..case import Case, Kind
from ..checks import sound

_TABLES = {"growth": "SHAPES", "bombs": "BOMBS"}
_LARGEST = 200_000
"""Characters of one program; what larger ones cost is measured by the tests that double them."""


@cache
def shapes() -> dict[str, Callable[[int], str]]:
    """The makers of programs of a size, by their names."""
    folder = str(Path(__file__).parents[2] / "robustness")
    if folder not in sys.path:
        sys.path.append(folder)
    found: dict[str, Callable[[int], str]] = {}
    for module, table in _TABLES.items():
        try:
            made = getattr(importlib.import_module(module), table)
        except ImportError:
            continue
        for name, each in made.items():
            if getattr(each, "path", ".py").endswith(".py"):
                found[f"{module}.{name}"] = getattr(each, "make", each)
    return found


def make(chance: Random, number: int) -> Case | None:
    """One to three shapes, each of a size up to a thousand."""
    names = sorted(shapes())
    if not names:
        return None
    text = ""
    for name in chance.sample(names, min(len(names), chance.choice([1, 1, 2, 3]))):
        part = shapes()[name](int(2 ** chance.uniform(1, 10)))
        text += part if part.endswith("\n") else f"{part}\n"
        if len(text) > _LARGEST:
            break
    return Case("stress.py", text[:_LARGEST].encode()) if text else None


def check(case: Case) -> None:
    """No rule fails, and time and memory suffice."""
    sound(case.data, case.name)


KIND = Kind("stress", make, check)
