"""Every case of the built-in rules has the properties of `tfmemlint.testing`: the layouts of those named `basic` on one
of four days, the others' on one of twelve; `make layouts` tries all."""

from collections.abc import Callable

import pytest
import tfmemlint_fixtures
from daily import is_today

from tfmemlint.testing import CHECKS, Case, CaseError, cases, run

CASES = cases(tfmemlint_fixtures.__path__[0])
DAYS_OF_BASIC, DAYS = 4, 12


def _is_asked_today(number: int, case: Case, check: Callable[[Case], None]) -> bool:
    """All but what lints a case some forty times."""
    return check.__name__ != "layouts" or is_today(number, DAYS_OF_BASIC if case.folder.name == "basic" else DAYS)


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)), ids=[str(case) for case in CASES])
def test_case(number: int, case: Case, pytestconfig: pytest.Config) -> None:
    problems = []
    for check in CHECKS:
        if _is_asked_today(number, case, check):
            try:
                run(check, case, bless=pytestconfig.getoption("bless"))
            except CaseError as error:
                problems.append(f"{check.__name__}: {error}")
    if problems:
        raise CaseError("\n".join(problems))
