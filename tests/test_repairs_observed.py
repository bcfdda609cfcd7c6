"""Safe repairs change nothing that is observed, and none makes a program raise: all samples but some that take long."""

from __future__ import annotations

from datetime import date

import pytest
from repairs import LONG, compared, pairs, reached, rules_with, unexpected

from tfmemlint.finding import Safety

pytestmark = pytest.mark.tensorflow

SHARES = 8
"""On how many days each of the long ones has been compared once."""


def test_samples_after_their_repairs() -> None:
    today = {name for place, name in enumerate(LONG) if place % SHARES == date.today().toordinal() % SHARES}
    runs = compared([pair for pair in pairs() if pair.name not in LONG or pair.name in today])
    assert unexpected(runs) == []
    for safety in (Safety.SAFE, Safety.UNSAFE):
        of_kind = [(pair, after) for pair, after, _ in runs if pair.safe is (safety is Safety.SAFE)]
        met = {code for pair, after in of_kind for code in reached(pair, after)}
        assert rules_with(safety) <= met
