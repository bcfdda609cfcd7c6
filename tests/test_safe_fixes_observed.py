"""Safe repairs change nothing that a program can observe: one sample of each rule that has any, before and after."""

from __future__ import annotations

import pytest
from safe_fixes import pairs, safely_fixing, unexpected

pytestmark = pytest.mark.tensorflow

SAMPLES = (
    "TFM104_probe_allocates_gpu/bad.py",
    "TFM107_memory_info_without_device/measure_bad.py",
    "TFM110_growth_env_invalid/bad.py",
    "TFM111_visible_devices_hides_cpu/measure_bad.py",
    "TFM203_integer_data_scaled_to_float64_uses/bad.py",
    "TFM206_created_then_cast/measure_bad.py",
    "TFM302_missing_prefetch/measure_bad.py",
    "TFM303_prefetch_not_last/bad.py",
    "TFM304_oversized_prefetch/measure_bad.py",
    "TFM305_cache_after_repeat/measure_bad.py",
    "TFM313_sequential_map/bad.py",
    "TFM318_cache_of_memory_source/bad.py",
    "TFM320_oversized_parallelism/measure_bad.py",
    "TFM401_persistent_tape_used_once/measure_bad.py",
    "TFM402_persistent_tape_not_released/measure_bad.py",
    "TFM408_extra_work_inside_tape/bad.py",
    "TFM409_useless_del/measure_bad.py",
    "TFM612_history_keeps_model/measure_bad.py",
    "TFM703_tile_then_broadcast/measure_bad.py",
)
NOT_RUN = {"TFM101": "its samples repair safely nothing: each reads a name or an effect between"}


def test_samples_are_equal_after_their_safe_repairs() -> None:
    chosen = [pair for pair in pairs() if pair.name in SAMPLES]
    assert {pair.name for pair in chosen} == set(SAMPLES)
    assert safely_fixing() - NOT_RUN.keys() <= {code for pair in chosen for code in pair.codes}
    assert unexpected(chosen) == []
