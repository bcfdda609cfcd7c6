"""Safe repairs change nothing that a program can observe: one sample of each rule that has any, before and after."""

from __future__ import annotations

import pytest
from safe_fixes import pairs, safely_fixing, unexpected

pytestmark = pytest.mark.tensorflow

SAMPLES = (
    "TFM104-probe-allocates-gpu/basic/bad.py",
    "TFM107-memory-info-without-device/basic/measure_bad.py",
    "TFM110-growth-env-invalid/basic/bad.py",
    "TFM111-visible-devices-hides-cpu/basic/measure_bad.py",
    "TFM203-integer-data-scaled-to-float64/uses/bad.py",
    "TFM206-created-then-cast/basic/measure_bad.py",
    "TFM302-missing-prefetch/basic/measure_bad.py",
    "TFM303-prefetch-not-last/basic/bad.py",
    "TFM304-oversized-prefetch/basic/measure_bad.py",
    "TFM305-cache-after-repeat/basic/measure_bad.py",
    "TFM313-sequential-map/basic/bad.py",
    "TFM318-cache-of-memory-source/basic/bad.py",
    "TFM320-oversized-parallelism/basic/measure_bad.py",
    "TFM401-persistent-tape-used-once/basic/measure_bad.py",
    "TFM402-persistent-tape-not-released/basic/measure_bad.py",
    "TFM408-extra-work-inside-tape/basic/bad.py",
    "TFM409-useless-del/basic/measure_bad.py",
    "TFM612-history-keeps-model/basic/measure_bad.py",
    "TFM703-tile-then-broadcast/basic/measure_bad.py",
)


def test_samples_are_equal_after_their_safe_repairs() -> None:
    chosen = [pair for pair in pairs() if pair.name in SAMPLES]
    assert {pair.name for pair in chosen} == set(SAMPLES)
    assert safely_fixing() <= {code for pair in chosen for code in pair.codes}
    assert unexpected(chosen) == []
