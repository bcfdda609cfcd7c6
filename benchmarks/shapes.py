"""Programs of any number of lines, each with much of one thing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "robustness"))

growth: Any = importlib.import_module("growth")
"""The shapes that tests try too; `growth.SHAPES` are made for a number of things, not of lines."""
numbered: Callable[..., str] = growth.numbered

LARGE: dict[str, Callable[[int], str]] = {
    "tensors": lambda lines: numbered("x$ = tf.zeros([$])\n", lines),
    "one name": lambda lines: numbered("x = x + tf.ones([3])\n", lines),
    "functions": lambda lines: numbered("def f$(x):\n    y = tf.zeros([3])\n    return f$>(x) + y\n", lines // 3),
    "loops with shared names": lambda lines: numbered("for i in range(9):\n    x = tf.zeros([i])\n", lines // 2),
    "tapes": lambda lines: numbered(
        "def f$(x):\n    with tf.GradientTape(persistent=True) as tape:\n        y = x * x\n"
        "    return tape.gradient(y, x)\n",
        lines // 4,
    ),
    "classes": lambda lines: numbered("class A$>(A$):\n    def m$(self, x):\n        return self.w + x\n", lines // 3),
    "suppressions": lambda lines: numbered("x = $  # tfmemlint: ignore[TFM305]\n", lines),
    "pairs of comments": lambda lines: numbered(
        "# tfmemlint: disable[TFM305]\nx = $\n# tfmemlint: enable[TFM305]\n", lines // 3
    ),
}
"""Makers of programs of about so many lines."""


def of_lines(name: str, lines: int) -> str:
    """A program of one of the tests' shapes that has about so many lines."""
    make = growth.SHAPES[name].make
    each = (make(200).count("\n") - make(100).count("\n")) / 100
    text: str = make(max(int(lines / each), 1))
    return text
