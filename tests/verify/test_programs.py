"""The texts of programs that are cut out of a file."""

from __future__ import annotations

import ast

from tfmemlint.verify.plan.programs import program_text


def test_a_line_that_goes_on_keeps_the_empty_one_behind_it() -> None:
    text = program_text("def f():\n    return 1, \\\n           2, \\\n\n\n", [])
    assert ast.literal_eval(ast.parse(text).body[0].body[0].value) == (1, 2)  # type: ignore[attr-defined]
