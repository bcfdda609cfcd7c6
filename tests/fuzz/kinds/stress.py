"""Programs with much of some things: shapes that are known to grow, and texts made to break parsers, put together."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from ..case import Case, Kind
from ..checks import sound
from ..programs import of_robustness

_TABLES = (("growth", "SHAPES"), ("bombs", "BOMBS"))
"""Modules of tests/robustness and their tables of makers: functions of a size, or things that hold one as `make`."""
_HEADER = "import numpy as np\nimport tensorflow as tf\n"
_END = "\nds = tf.data.Dataset.range(9).repeat().cache()\n"
_LARGEST = 100_000
"""Characters of one program; what larger ones cost is measured by the tests that double them."""


@cache
def shapes() -> dict[str, Callable[[int], str]]:
    """The makers of programs of a size, by their names."""
    found: dict[str, Callable[[int], str]] = {}
    for module, table in _TABLES:
        for name, each in getattr(of_robustness(module), table, {}).items():
            if getattr(each, "path", ".py").endswith(".py"):
                found[f"{module}.{name}"] = getattr(each, "make", each)
    return found


def make(chance: Random, number: int) -> Case | None:
    """One to three shapes, of sizes up to a thousand, or ten thousand of one alone."""
    if not shapes():
        return None
    names = chance.sample(sorted(shapes()), chance.choice([1, 1, 1, 2, 3]))
    text = _HEADER
    for name in names:
        size = int(2 ** chance.uniform(1, 13 if len(names) == 1 else 9))
        text += f"# {size} of {name}\n"
        text += shapes()[name](size)[:_LARGEST].removeprefix(_HEADER).rstrip("\n") + "\n"
    return Case("stress.py", (text + _END).encode())


def check(case: Case) -> None:
    """No rule fails, and time and memory suffice."""
    sound(case.data, case.path)


KIND = Kind("stress", make, check, cpu_seconds=120)
