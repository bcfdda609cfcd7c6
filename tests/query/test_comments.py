"""The comments at a call of `work`, and the parameters behind what it is given."""

import pytest
from programs import model_of

from tfmemlint.query.flow.comments import comments_at
from tfmemlint.query.flow.parameters import parameters_behind

COMMENTS = [
    ("x()\nwork(  # one\n    2,  # two\n)  # three\ny()  # four", "work(  # one\n    2,  # two\n)  # three"),
    ("x()\n  # why\nwork(2)", "  # why\nwork(2)"),
    ("x()  # other\nwork(2)", "work(2)"),
]


@pytest.mark.parametrize(("program", "expected"), COMMENTS)
def test_comments_at_a_call(program: str, expected: str) -> None:
    file = model_of(program)
    assert comments_at(file, file.call(file.calls_by_word["work"][0])).rstrip("\n") == expected


BEHIND = [
    ("def f(a, b):\n    work(a[0] + 1)", ["a"]),
    ("def f(a, b):\n    c = b * 2\n    d = c\n    work(d)", ["b"]),
    ("def f(a, b):\n    c = a\n    c = c + b\n    work(c)", ["a", "b"]),
    ("def f(a):\n    work(outer)", []),
    ("work(outer)", []),
]


@pytest.mark.parametrize(("program", "expected"), BEHIND)
def test_parameters_behind_a_value(program: str, expected: list[str]) -> None:
    file = model_of(program)
    assert sorted(parameters_behind(file, file.calls_by_word["work"][0].args[0].value)) == expected
