"""Whether places stand behind conditions that are written alike."""

import pytest
from programs import model_of

from tfmemlint.query.ordering.conditions import behind_one_condition

MODES = [
    ("def f():\n    if a:\n        work()\n    if a:\n        work()", True),
    ("def f():\n    if a:\n        if b: work()\n    if a: work()", True),
    ("def f():\n    if a: work()\n    if b: work()", False),
    ("def f():\n    if a: work()\n    work()", False),
    ("def f():\n    if a: pass\n    else: work()\n    if a: work()", False),
    ("def f():\n    if a: work()\ndef g():\n    if a: work()", False),
    ("work()", False),
]


@pytest.mark.parametrize(("program", "expected"), MODES)
def test_places_behind_one_condition(program: str, expected: bool) -> None:
    file = model_of(program)
    assert behind_one_condition(file, file.calls_by_word["work"]) is expected
