"""What names were written as, and arguments in dictionaries."""

import libcst as cst
import pytest
from programs import model_of, shown

WRITTEN = [
    ("n = a * 2\nprobe(n)", "a * 2"),
    ("n = a * 2\ndef f():\n    probe(n)", "a * 2"),
    ("n = a * 2\ndef f():\n    m = n\n    probe(m)", "a * 2"),
    ("def f(n):\n    def g():\n        probe(n)\n", "n"),
    ("n = 1\nn = a * 2\ndef f():\n    probe(n)", "n"),
    ("n = a * 2\ndef f():\n    probe(n)\ndef g():\n    global n\n    n = 3", "n"),
    ("n = a * 2\ndef f():\n    probe(n)\n    n = 3", "n"),
    ("def f():\n    probe(n)", "n"),
]

UNPACKED = [
    ("options = {'n': 3}\nprobe(**options)", "3"),
    ("options = dict(n=3)\nprobe(**options)", "3"),
    ("probe(**{'n': 3}, m=4)", "3"),
    ("probe(n=4, **{'m': 3})", "4"),
    ("options = dict(n=3)\noptions['n'] = 4\nprobe(**options)", "?"),
    ("options = dict(n=3)\noptions.pop('n')\nprobe(**options)", "?"),
    ("options = dict(n=3)\nprint(options['n'])\nprobe(**options)", "3"),
    ("probe(**unknown)", "?"),
    ("def f(**options):\n    probe(**options)\nf(n=3)", "?"),
]


LACKS = [
    ("probe(1)", True),
    ("probe(n=1)", False),
    ("probe(**{'n': 3})", False),
    ("options = dict(m=3)\nprobe(**options)", True),
    ("probe(**unknown)", False),
    ("probe(*unknown)", False),
    ("options = dict(m=3)\noptions[key] = 4\nprobe(**options)", False),
    ("def f(**options):\n    probe(**options)\nf(m=3)", False),
]


@pytest.mark.parametrize("program, expected", WRITTEN)
def test_written(program: str, expected: str) -> None:
    file = model_of(program)
    argument = file.calls_by_word["probe"][0].args[0].value
    assert file.text(file.written(argument)) == expected


@pytest.mark.parametrize("program, expected", UNPACKED)
def test_arguments_in_dictionaries(program: str, expected: str) -> None:
    file = model_of(program)
    node = file.calls_by_word["probe"][0]
    assert isinstance(node, cst.Call)
    assert shown(file.call(node).value_of("n")) == expected


@pytest.mark.parametrize("program, expected", LACKS)
def test_an_argument_that_is_certainly_not_passed(program: str, expected: bool) -> None:
    file = model_of(program)
    node = file.calls_by_word["probe"][0]
    assert isinstance(node, cst.Call)
    assert file.call(node).lacks("n") is expected
