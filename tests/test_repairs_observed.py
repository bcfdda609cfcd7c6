"""Safe repairs change nothing that is observed, and none makes a program raise: each day other samples."""

from __future__ import annotations

import pytest
from repairs import compared, of_today, pairs, reached, rules_with, unexpected

from tfmemlint.finding import Safety

FAMILIES = ["TFM1 TFM2", "TFM3", "TFM4 TFM5 TFM6 TFM7 TFM8 TFM9"]
"""Rules whose samples are run by one process that imports TensorFlow; these take about as long as each other."""


@pytest.mark.tensorflow
@pytest.mark.parametrize("families", FAMILIES)
def test_samples_after_their_repairs(families: str) -> None:
    starts = tuple(families.split())
    runs = compared(pairs({name for name in of_today() if name.startswith(starts)}))
    assert unexpected(runs) == []
    for safety in (Safety.SAFE, Safety.UNSAFE):
        of_kind = [(pair, after) for pair, after, _ in runs if pair.safe is (safety is Safety.SAFE)]
        met = {code for pair, after in of_kind for code in reached(pair, after)}
        assert {code for code in rules_with(safety) if code.startswith(starts)} <= met


def test_each_rule_with_a_repair_is_in_one_of_the_families() -> None:
    codes = {code for safety in (Safety.SAFE, Safety.UNSAFE) for code in rules_with(safety)}
    assert all(code.startswith(tuple(" ".join(FAMILIES).split())) for code in codes)
