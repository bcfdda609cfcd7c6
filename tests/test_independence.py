"""What is found in the samples depends neither on comments nor on which other rules run; see `independence`. Each case
is asked one of both every other day, and the other one the day after."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
import tfmemlint_fixtures
from daily import is_today
from independence import NotApplied, by_comments, by_company, with_comments, without_comments

from tfmemlint.lint.engine import siblings_of
from tfmemlint.lint.reach import awake_for
from tfmemlint.lint.registry import load_rules
from tfmemlint.rule import Rule
from tfmemlint.testing import Case, cases
from tfmemlint.text.read import read_source

CASES = cases(tfmemlint_fixtures.__path__[0])
DAYS = 4


def _of_today(later: int) -> list[Case]:
    return [case for number, case in enumerate(CASES) if is_today(number + later, DAYS)]


@cache
def _all_rules() -> tuple[Rule, ...]:
    return load_rules()


def _rules(case: Case) -> Sequence[Rule]:
    """The rules of the default selection and the case's own."""
    return [rule for rule in _all_rules() if rule.default or rule.code == case.code]


@pytest.mark.parametrize("case", _of_today(0), ids=str)
def test_comments_docstrings_and_blank_lines_change_no_finding(case: Case) -> None:
    assert list(by_comments(case.text("bad.py"), case.config, _rules(case), str(case.file("bad.py")))) == []


@pytest.mark.parametrize("case", _of_today(1), ids=str)
def test_a_rule_finds_the_same_alone_and_after_others(case: Case) -> None:
    path = str(case.file("bad.py"))
    source = read_source(case.text("bad.py").encode(), path)
    own = [rule for rule in _all_rules() if rule.code == case.code]
    awake = awake_for(_rules(case), source, siblings_of(path, case.config))
    assert by_company(source, case.config, awake, own) == []


PROGRAM = '''\
"""About the program."""
import tensorflow as tf

def step(x):
    """Say what it does."""
    # A reason.
    return x + """
# no comment

"""

class Empty:
    """Nothing yet."""
if step:  # always

    y = (1,  # one
         2)
'''


def test_comments_go_and_rows_are_known() -> None:
    new = without_comments(PROGRAM)
    assert new.text == (
        'import tensorflow as tf\ndef step(x):\n    return x + """\n# no comment\n\n"""\n'
        "class Empty:\n    pass\nif step:\n    y = (1,\n         2)\n"
    )
    assert [new.rows[row] for row in range(1, 12)] == [2, 4, 7, 8, 9, 10, 12, 13, 14, 16, 17]


def test_comments_come_and_rows_are_known() -> None:
    new = with_comments(
        "import os\ndef f():\n    if os:\n        return 1\n    elif f: return (2,\n        3)\n", "words"
    )
    what = "what stands here says nothing"
    top = f'\n# {what}\n"""words."""\nimport os  # {what}\n\n'
    assert new.text == (
        f'{top}# {what}\ndef f():  # {what}\n\n    # {what}\n    """{what}."""\n'
        f"    if os:  # {what}\n\n        # {what}\n        return 1  # {what}\n\n    # {what}\n"
        f"    elif f: return (2,\n        3)  # {what}\n\n# words\n"
    )
    assert [new.rows[row] for row in (4, 7, 11, 14, 17, 18)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("text", ["import os\n", "import os  # noqa\n", "x = \\\n\n\ny = 1\n", "x = (\n"])
def test_what_cannot_be_kept_is_not_rewritten(text: str) -> None:
    with pytest.raises(NotApplied):
        without_comments(text)
