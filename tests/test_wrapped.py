"""No rule fails on a program because of the statement that it stands in, and every repair does there what it says."""

from __future__ import annotations

from collections import Counter

import pytest
from daily import is_today
from wrapped import STATEMENTS, problems, sample_cases, wrapped, wrapped_samples

from tfmemlint.testing import Case

CASES = sample_cases()

DAYS = {"bad.py": 24, "good.py": 48, "measure_bad.py": 48, "measure_good.py": 48}
"""On how many days each sample of a case has been tried once in each statement."""


@pytest.mark.parametrize(("place", "case"), list(enumerate(CASES)), ids=[str(case) for case in CASES])
def test_samples_within_statements(place: int, case: Case) -> None:
    order = list(STATEMENTS)

    def is_chosen(name: str, statement: str) -> bool:
        return is_today(order.index(statement) + place, DAYS[name])

    found = [
        f"{name} in `{statement}`: {problem}"
        for name, statement, program in wrapped_samples(case, is_chosen)
        for problem in problems(program, case.config)
    ]
    assert not found, "\n".join(found)


def test_every_statement_holds_nearly_every_sample() -> None:
    """Python refuses a few programs in a function; were it more, little would be tested."""
    held = Counter(
        statement for case in CASES for statement in STATEMENTS if wrapped(case.text("bad.py"), statement) is not None
    )
    assert {statement for statement in STATEMENTS if held[statement] < 0.97 * len(CASES)} == set()


def test_strings_of_several_lines_keep_their_text() -> None:
    text = 'from __future__ import annotations\nname = """a\nb"""\n\nif name:\n    print(f"""{name}\n  {name}""")\n'
    whole = wrapped(text, "match")
    assert whole is not None
    assert whole.startswith("from __future__ import annotations\nmatch chosen():\n")
    scope: dict[str, object] = {"chosen": lambda: "this"}
    exec(compile(whole, "program", "exec"), scope)
    assert scope["name"] == "a\nb"
