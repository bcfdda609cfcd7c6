"""Statements that are moved in front of others, or into a block of their own."""

import pytest
from programs import model_of

from tfmemlint.finding import Edit, Safety
from tfmemlint.fix.move_statements import move_before
from tfmemlint.fix.statements import repeat_below
from tfmemlint.fix.wrap import wrap_in_block

HEADER = "import os\nimport tensorflow as tf\n"


def _applied(text: str, edits: tuple[Edit, ...]) -> str:
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        text = text[: edit.start] + edit.content + text[edit.end :]
    return text


START = "tf.zeros(3)\n"
MOVED = [
    (START + "print()\n", "print()\n" + START),
    (START + "# why\nprint()\nb()\n", "# why\nprint()\n" + START + "b()\n"),
    (START + "\n\nprint()\n", "print()\n" + START),
    (START + "print()", "print()\ntf.zeros(3)"),
    (START + "a = 3\nprint(a)\n", "a = 3\nprint(a)\n" + START),
    (START + "a = 3\nb(a)\nprint(a)\n", "a = 3\nprint(a)\n" + START + "b(a)\n"),
    (START + "for d in devices:\n    print(d)\n", "for d in devices:\n    print(d)\n" + START),
    ("def f():\n    tf.zeros(3)\n    print()\n", "def f():\n    print()\n    tf.zeros(3)\n"),
    ("def f():\n    tf.zeros(3)\nf()\nprint()\n", "def f():\n    tf.zeros(3)\nprint()\nf()\n"),
    (START + "a = tf.ones(3)\nprint(a)\n", None),
    ("x = tf.zeros(3)\nprint(x)\n", None),
    (START + "import other\nprint(other)\n", None),
    (START + "os.environ['A'] = '1'\nprint()\ntf.ones(3)\n", "print()\n" + START
     + "os.environ['A'] = '1'\ntf.ones(3)\n"),
    (START + "os.environ['A'] = '1'\nif c:\n    print()\n    tf.ones(3)\n", None),
    (START + "b(); print()\n", "b(); print()\n" + START),
    (START + "def g():\n    print()\n", None),
    ("print()\n" + START, None),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), MOVED)
def test_a_setting_moves_in_front_of_what_starts_the_runtime(program: str, expected: str | None) -> None:
    file = model_of(program, HEADER)
    moved, anchor = file.calls_by_word["print"][0], file.calls_by_word["zeros"][0]
    if "f()" in program and "def f():\n    tf.zeros(3)\nf()" in program:
        anchor = file.calls_by_word["f"][0]
    fix = move_before(file, moved, anchor, "move it")
    shown = _applied(file.source.text, fix.edits).removeprefix(HEADER) if fix is not None else None
    assert shown == expected
    assert fix is None or fix.safety is Safety.UNSAFE


WRAPPED = [
    ("a = 1\nb()\n", "with x:\n    a = 1\n    b()\n"),
    ("a = 1\n\nb()\n", "with x:\n    a = 1\n\n    b()\n"),
    ("a = [\n    1,\n]\n", "with x:\n    a = [\n        1,\n    ]\n"),
    ("a = '''\n1'''\n", None),
    ("a = 1; b()\n", "with x:\n    a = 1; b()\n"),
    ("if c:\n    b()\n", None),
]


@pytest.mark.parametrize(("program", "expected"), WRAPPED)
def test_statements_go_into_a_block(program: str, expected: str | None) -> None:
    file = model_of(program, header="")
    edit = wrap_in_block(file, list(file.module.body), "with x")
    assert (_applied(program, (edit,)) if edit is not None else None) == expected


REPEATED = [
    ("set(1)\nhere()\nb()\n", "set(1)\nhere()\nset(1)\nb()\n"),
    ("n = 1\nset(n)\ndef f():\n    here()\n", "n = 1\nset(n)\ndef f():\n    here()\n    set(n)\n"),
    ("def f(n):\n    set(n)\nhere()\n", None),
    ("set(1)\nhere(); b()\n", None),
]


@pytest.mark.parametrize(("program", "expected"), REPEATED)
def test_a_call_that_is_written_once_more(program: str, expected: str | None) -> None:
    file = model_of(program, HEADER)
    edit = repeat_below(file, file.calls_by_word["here"][0], file.calls_by_word["set"][0])
    assert (_applied(file.source.text, (edit,)) if edit is not None else None) == (
        HEADER + expected if expected is not None else None
    )
