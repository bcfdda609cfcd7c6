"""The table "what can I ask?" in contributing.md."""

from __future__ import annotations

import inspect

from tfmemlint import api
from tfmemlint.dev.questions import BEGIN, END, exported, table, with_questions


def test_every_question_of_the_api_has_a_row_with_its_first_sentence() -> None:
    rows = table().splitlines()
    for subject, name in (("", "uses"), ("repetition.", "repeats"), ("keras.", "is_model")):
        (row,) = [row for row in rows if row.startswith(f"| `{subject}{name}(file, ")]
        asked = getattr(getattr(api, subject.rstrip("."), api), name)
        assert inspect.cleandoc(asked.__doc__)[:40].replace("\n", " ") in row
    assert any(row.startswith("| **pipelines** | *") for row in rows)


def test_what_one_module_passes_on_stands_with_its_owner() -> None:
    assert exported()[""]["Use"] == "flow.use"


def test_only_the_text_between_the_marks_is_made() -> None:
    made = with_questions(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    assert made == f"before\n{BEGIN}\n\n{table()}\n{END}\nafter\n"
    assert with_questions(made) == made
    assert with_questions("no marks\n") == "no marks\n"
