"""Statements that exclude each other, that run after each other, that need each other's values."""

import pytest
from programs import model_of

from tfmemlint.query.ordering.order import exclusive, needed_statements, runs_after, written_names

EXCLUSIVE = [
    ("if c:\n    a()\nelse:\n    b()", True),
    ("if c:\n    a()\nelif d:\n    b()", True),
    ("a() if c else b()", True),
    ("if c:\n    a()\nb()", False),
    ("if c:\n    a()\n    b()\nelse:\n    d()", False),
    ("if a():\n    b()\nelse:\n    d()", False),
    ("if c:\n    if d:\n        a()\nelse:\n    b()", True),
]


@pytest.mark.parametrize(("program", "expected"), EXCLUSIVE)
def test_branches_exclude_each_other(program: str, expected: bool) -> None:
    file = model_of(program)
    a, b = file.calls_by_word["a"][0], file.calls_by_word["b"][0]
    assert (exclusive(file, a, b), exclusive(file, b, a)) == (expected, expected)


AFTER = [
    ("def f():\n    a()\n    return 1", False),
    ("def f():\n    a()\n    if c:\n        return 1\n    else:\n        raise e", False),
    ("def f():\n    a()\n    if c:\n        return 1\n    elif d:\n        b()\n    return 2", True),
    ("def f():\n    a()\n    b()", True),
    ("def f():\n    b()\n    a()", False),
]


@pytest.mark.parametrize(("program", "expected"), AFTER)
def test_leaving_the_function_is_no_running_on(program: str, expected: bool) -> None:
    file = model_of(program)
    assert runs_after(file, file.tree.statement(file.calls_by_word["a"][0])) is expected


WRITES = [
    ("a = b", {"a"}),
    ("a.x, c[0] = b", {"a", "x", "c"}),
    ("for i in n:\n    j = i", {"i", "j"}),
    ("losses.append(x)", {"losses"}),
    ("a = losses.pop(x)", {"a"}),
    ("tf.print(x)", set()),
    ("with f() as g:\n    pass", {"g"}),
]


@pytest.mark.parametrize(("statement", "expected"), WRITES)
def test_names_that_a_statement_writes(statement: str, expected: set[str]) -> None:
    file = model_of(statement)
    assert written_names(file, file.module.body[-1]) == expected


NEEDED = [
    ("with w:\n    a = f(x)\n    b = g(a)\n    c = h(x)\nprobe(b)", ["a = f(x)", "b = g(a)"]),
    ("with w:\n    s = []\n    s.append(x)\n    c = h(x)\nprobe(s)", ["s = []", "s.append(x)"]),
    ("with w:\n    a = f(x)\n    b = g(x)\nc = a\nprobe(c)", ["a = f(x)"]),
    ("with w:\n    a = f(x)\nprobe(x)", []),
]


@pytest.mark.parametrize(("program", "expected"), NEEDED)
def test_statements_on_which_a_value_depends(program: str, expected: list[str]) -> None:
    file = model_of(program)
    block = next(statement for statement in file.module.body if hasattr(statement, "items"))
    asked = [arg.value for arg in file.calls_by_word["probe"][0].args]
    found = needed_statements(file, block, asked)  # type: ignore[arg-type]
    assert sorted(file.text(each) for each in found) == sorted(expected)
