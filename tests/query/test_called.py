"""What code calls the value that `work` is given."""

import pytest
from programs import model_of

from tfmemlint.query.flow.called import called, comments_at, factors
from tfmemlint.query.flow.parameters import parameters_behind

CALLED = [
    ("work(size)", ["size"]),
    ("work(args.size)", ["size"]),
    ("work(flags['size'])", ["size"]),
    ("work(flags[size])", []),
    ("work(3)", []),
    ("work(size * 2)", []),
    ("work(size())", []),
    ("def f(n):\n    work(n)\nf(size)\nf(n=other)", ["n", "size", "other"]),
    ("def f(n):\n    work(n)\ndef g(m):\n    f(m)\ng(size)", ["n", "m", "size"]),
    ("def f():\n    n = 3\n    work(n)\nf()", ["n"]),
]


@pytest.mark.parametrize(("program", "expected"), CALLED)
def test_names_of_a_value(program: str, expected: list[str]) -> None:
    file = model_of(program)
    assert called(file, file.calls_by_word["work"][0].args[0].value) == expected


def test_callers_are_not_asked_beyond_the_limit() -> None:
    file = model_of("def f(n):\n    work(n)\ndef g(m):\n    f(m)\ng(size)")
    assert called(file, file.calls_by_word["work"][0].args[0].value, through=1) == ["n", "m"]


@pytest.mark.parametrize(
    ("program", "expected"),
    [("work(a * s.b)", ["a", "b"]), ("work(a * 2)", ["a"]), ("work(a + b)", None), ("work(a)", None)],
)
def test_names_of_factors(program: str, expected: list[str] | None) -> None:
    file = model_of(program)
    assert factors(file, file.calls_by_word["work"][0].args[0].value) == expected


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
