"""Every case of the built-in rules has the properties of `tfmemlint.testing`."""

from collections.abc import Callable

import pytest
import tfmemlint_fixtures

from tfmemlint.testing import CHECKS, Case, cases, run

CASES = cases(tfmemlint_fixtures.__path__[0])


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, check: Callable[[Case], None], pytestconfig: pytest.Config) -> None:
    run(check, case, bless=pytestconfig.getoption("bless"))
