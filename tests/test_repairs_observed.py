"""Safe repairs change nothing that is observed, and none makes a program raise: one sample of each rule and kind."""

from __future__ import annotations

import pytest
from repairs import compared, pairs, reached, rules_with, unexpected

from tfmemlint.finding import Safety

pytestmark = pytest.mark.tensorflow

SAFE = (
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
    "TFM617-generator-fit-unused/basic/bad.py",
    "TFM703-tile-then-broadcast/basic/measure_bad.py",
)
ALL = (
    "TFM101-device-config-after-init/example/bad.py",
    "TFM102-partial-memory-growth/ways/bad.py",
    "TFM105-gpu-env-set-too-late/example/bad.py",
    "TFM112-fork-after-init/context/bad.py",
    "TFM114-peak-never-reset/basic/measure_bad.py",
    "TFM201-float64-tensor/example/bad.py",
    "TFM202-float64-numpy-input/set-anew/bad.py",
    "TFM203-integer-data-scaled-to-float64/basic/measure_bad.py",
    "TFM208-python-float-dtype/example/bad.py",
    "TFM209-clear-session-drops-policy/basic/measure_bad.py",
    "TFM303-prefetch-not-last/ways/bad.py",
    "TFM305-cache-after-repeat/basic/bad.py",
    "TFM306-cache-after-random-step/basic/measure_bad.py",
    "TFM307-shuffle-after-batch/basic/measure_bad.py",
    "TFM308-shuffle-after-decode/basic/measure_bad.py",
    "TFM312-dataset-built-in-loop/basic/measure_bad.py",
    "TFM313-sequential-map/basic/measure_bad.py",
    "TFM318-cache-of-memory-source/ways/bad.py",
    "TFM320-oversized-parallelism/basic/bad.py",
    "TFM403-gradient-inside-persistent-tape/basic/bad.py",
    "TFM406-tensors-kept-across-steps/basic/measure_bad.py",
    "TFM501-retrace-on-python-value/basic/measure_bad.py",
    "TFM502-function-made-in-loop/basic/measure_bad.py",
    "TFM505-array-baked-into-trace/basic/bad.py",
    "TFM506-eager-debugging-left-on/basic/bad.py",
    "TFM509-retrace-on-shape/basic/measure_bad.py",
    "TFM510-python-loop-unrolled/basic/measure_bad.py",
    "TFM601-model-built-in-loop/ways/bad.py",
    "TFM602-predict-in-loop/basic/measure_bad.py",
    "TFM606-model-loaded-in-loop/basic/measure_bad.py",
    "TFM614-array-captured-in-layer/example/bad.py",
    "TFM616-time-distributed-dense/basic/bad.py",
    "TFM617-generator-fit-unused/basic/bad.py",
    "TFM702-concat-in-loop/basic/measure_bad.py",
    "TFM703-tile-then-broadcast/basic/bad.py",
    "TFM704-one-hot-matmul/basic/bad.py",
    "TFM709-scaled-copy-of-array/basic/bad.py",
    "TFM802-debug-instrumentation-left-on/basic/measure_bad.py",
    "TFM903-strategy-scope-missing/basic/bad.py",
)


NEEDS_CARDS: dict[Safety, set[str]] = {Safety.SAFE: {"TFM107"}, Safety.UNSAFE: set()}
"""Rules of which every sample asks for a graphics card before it gets to what is repaired."""


def test_samples_after_their_repairs() -> None:
    chosen = [pair for pair in pairs() if pair.name in (SAFE if pair.safe else ALL)]
    safe, others = ([pair for pair in chosen if pair.safe is kind] for kind in (True, False))
    assert ({pair.name for pair in safe}, {pair.name for pair in others}) == (set(SAFE), set(ALL))
    runs = compared(chosen)
    assert unexpected(runs) == []
    for safety in (Safety.SAFE, Safety.UNSAFE):
        of_kind = [(pair, after) for pair, after, _ in runs if pair.safe is (safety is Safety.SAFE)]
        met = {code for pair, after in of_kind for code in reached(pair, after)}
        assert rules_with(safety) - met == NEEDS_CARDS[safety]
