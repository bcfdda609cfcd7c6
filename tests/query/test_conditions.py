"""Whether places stand behind conditions that are written alike, or that never hold."""

import pytest
from programs import model_of

from tfmemlint.query.ordering.conditions import behind_one_condition, never_runs

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


NEVER = [
    ("if False: work()", True),
    ("if a:\n    pass\nelif 0:\n    work()", True),
    ("if True: pass\nelse: work()", True),
    ("if not (a or True): work()", True),
    ("if a or False: work()", False),
    ("if False:\n    def f():\n        work()", True),
    ("for x in xs:\n    on = False\n    if on and x: work()", True),
    ("for x in xs:\n    on = False\n    if x: on = True\n    if on: work()", False),
    ("on = False\nif on: work()", False),
    ("def f():\n    on = False\n    if on: work()", False),
    ("on = False\nfor x in xs:\n    if on: work()", False),
    ("def f(on=False):\n    if on: work()", False),
    ("if False: pass\nelse: work()", False),
    ("while False: work()", False),
]


@pytest.mark.parametrize(("program", "expected"), NEVER)
def test_code_that_never_runs(program: str, expected: bool) -> None:
    file = model_of(program)
    assert never_runs(file, file.calls_by_word["work"][0]) is expected
