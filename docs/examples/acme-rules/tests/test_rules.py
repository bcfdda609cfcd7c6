import pytest

from tfmemlint.testing import CHECKS, cases, run


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", cases("fixtures"), ids=str)
def test_case(case, check, pytestconfig):
    run(check, case, bless=pytestconfig.getoption("bless"))
