"""How often code runs that stands in a loop behind `if i % n == 0`."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.repetition.seldom import once_in, runs_at_most

WAYS = [
    ("for i in range(500):\n    work()", 500),
    ("for i in range(500):\n    if i % 100 == 0: work()", 5),
    ("for i in range(501):\n    if not i % 100: work()", 6),
    ("for i in range(500):\n    if ready and (i + 1) % 100 == 0: work()", 5),
    ("for i in range(500):\n    if ready or i % 100 == 0: work()", 500),
    ("for i in range(500):\n    if i % 20 == 0:\n        if i % 100 == 0: work()", 5),
    ("for i in range(500):\n    if i % 100 == 0: pass\n    else: work()", 500),
    ("for i in range(500):\n    if i % 100 != 0: work()", 500),
    ("for i in range(500):\n    if i % n == 0: work()", 500),
    ("for i in range(n):\n    if i % 100 == 0: work()", None),
]


@pytest.mark.parametrize(("program", "expected"), WAYS)
def test_how_often_code_behind_a_condition_runs(program: str, expected: int | None) -> None:
    file = model_of(program)
    assert runs_at_most(file, file.calls_by_word["work"][0], file.tree.of(cst.For)[0]) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("ready", 1), ("i % 100 == 0", 100), ("i % 100 == 1 and ready", 100), ("i % n == 0", None), ("i % n > 3", 1)],
)
def test_among_how_many_iterations_a_condition_lets_code_run_once(condition: str, expected: int | None) -> None:
    file = model_of(f"while ready:\n    if {condition}: work()")
    assert once_in(file, file.calls_by_word["work"][0], file.tree.of(cst.While)[0]) == expected
