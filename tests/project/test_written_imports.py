"""Imports as the text of a program has them."""

import pytest

from tfmemlint.project.written_imports import imported_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import a.b as c, d", ["a.b", "d"]),
        ("import a, \\\n    b", ["a", "b"]),
        ("from . import data", [".", ".data"]),
        ("from ..core import sizes as s, shapes", ["..core", "..core.sizes", "..core.shapes"]),
        ("from a import (\n    b,  # the (big) one\n    # c,\n    d,\n)\n", ["a", "a.b", "a.d"]),
        ("from a import b, \\\r\n    c\r\n", ["a", "a.b", "a.c"]),
        ("from a import *", ["a"]),
        ("def f():\n    from a import b\n", ["a", "a.b"]),
        ("from a import (  # never closed\n", ["a"]),
        ("# import a\nx = 'import b'\nimported = 1\n", []),
    ],
)
def test_the_names_that_imports_lead_to(text: str, names: list[str]) -> None:
    assert list(imported_names(text)) == names


def test_an_open_bracket_costs_no_more_than_its_text() -> None:
    assert not list(imported_names("from a import (" + "# b\n" * 20_000))[1:]
