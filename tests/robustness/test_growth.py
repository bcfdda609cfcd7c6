"""Twice the program costs at most two and a half times the work and memory, whatever it has twice as much of.

Work is counted, not timed: the calls of Python functions, which are the same in each run. What a single call into C
costs more and more (a list that is copied, a text that is searched) is measured in seconds by `make growth`.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from types import FrameType
from typing import Any, NamedTuple

import pytest
from daily import share
from growth import SHAPES, Shape

from tfmemlint.config.settings import Config
from tfmemlint.lint.engine import FileResult
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.recursion import with_deep_stack

MOST = 2.5
DAYS = 2
"""On how many days all shapes have grown once."""
LINTER = Linter(Config(select=("ALL",)))


IN_MEMORY = (
    "tensors", "assigned_and_deleted", "loops_with_their_own_names", "loops_with_shared_names", "branches_joined",
    "imports", "classes_in_a_chain", "steps_reassigned",
)  # fmt: skip
"""What used to take memory with the square of its number."""


class Work(NamedTuple):
    """What linting a program took: calls of Python functions, and how much it found."""

    calls: int
    findings: int


def lint(shape: Shape, count: int) -> FileResult:
    result = LINTER.lint(shape.make(count).encode(), shape.path)
    assert not [f.message for f in result.findings if f.code in ("TFM000", "TFM001")]
    return result


def work(shape: Shape, count: int) -> Work:
    calls = 0

    def called(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(called)
    try:
        result = lint(shape, count)
    finally:
        sys.setprofile(None)
    return Work(calls, len(result.findings))


def peak(shape: Shape, count: int) -> int:
    """Bytes that linting takes at most at once."""
    gc.collect()
    tracemalloc.start()
    try:
        lint(shape, count)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", share(list(SHAPES), DAYS))
def test_twice_the_program_is_twice_the_work(name: str) -> None:
    shape = SHAPES[name]
    size = max(shape.size // 2, 4)

    def measure() -> tuple[Work, Work]:
        lint(shape, 3)  # rules and tables are loaded; of a text that was linted before the tree is kept
        return work(shape, size), work(shape, 2 * size)

    once, twice = with_deep_stack(measure)
    assert twice.calls <= MOST * once.calls
    assert twice.findings >= once.findings  # and it is understood as well as before


@pytest.mark.parametrize("name", IN_MEMORY)
def test_twice_the_program_takes_twice_the_memory(name: str) -> None:
    shape = SHAPES[name]

    def measure() -> tuple[int, int]:
        lint(shape, 4)
        return peak(shape, shape.size), peak(shape, 2 * shape.size)

    once, twice = with_deep_stack(measure)
    assert twice <= MOST * once
