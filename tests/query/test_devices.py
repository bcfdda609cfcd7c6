"""How programs configure GPUs, and where they have one."""

import pytest
from programs import model_of, value_in

from tfmemlint.query.runtime.devices import (
    chooses_devices,
    for_one_gpu,
    only_gpus,
    others_grow_too,
    sets_growth,
    sets_limit,
)

GPUS = "gpus = tf.config.list_physical_devices('GPU')\n"
ONE = [
    ("here()", False),
    ("if len(gpus) == 1:\n    here()", True),
    ("if len(gpus) == 1:\n    pass\nelse:\n    here()", False),
    ("if len(gpus) > 1:\n    pass\nelse:\n    here()", True),
    ("if len(gpus) < 2:\n    here()", True),
    ("if len(gpus) > 0:\n    here()", False),
    ("if len(others) == 1:\n    here()", False),
    ("if gpus:\n    here()", False),
    ("here() if len(gpus) == 1 else None", True),
    ("assert len(gpus) == 1\nhere()", True),
    ("here()\nassert len(gpus) == 1", False),
    ("if len(gpus) != 1:\n    raise ValueError\nhere()", True),
    ("import sys\nif len(gpus) >= 2:\n    sys.exit()\nhere()", True),
    ("if len(gpus) > 1:\n    print(gpus)\nhere()", False),
    ("(gpu,) = gpus\nhere()", True),
    ("[gpu] = tf.config.list_physical_devices('GPU')\nhere()", True),
    ("gpu, other = gpus\nhere()", False),
    ("(gpu,) = unknown\nhere()", False),
    ("(gpu,) = gpus[:1]\nhere()", False),
]


@pytest.mark.parametrize(("program", "expected"), ONE)
def test_places_that_are_reached_with_one_gpu(program: str, expected: bool) -> None:
    file = model_of(GPUS + program)
    assert for_one_gpu(file, file.calls_by_word["here"][0]) is expected


CONFIGURED = [
    ("tf.config.experimental.set_memory_growth(gpus[0], True)", (True, False)),
    ("tf.config.experimental.set_memory_growth(gpus[0], enable=wanted)", (False, False)),
    ("tf.config.experimental.set_memory_growth(gpus[0], False)", (False, False)),
    ("tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=n)])",
     (False, True)),
    ("tf.config.experimental.set_virtual_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(1024)])",
     (False, True)),
    ("tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration()])", (False, False)),
    ("tf.config.set_logical_device_configuration(gpus[0], configurations)", (False, False)),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), CONFIGURED)
def test_growth_and_limits(program: str, expected: tuple[bool, bool]) -> None:
    file = model_of(GPUS + program)
    word = "set_memory_growth" if "growth" in program else program.partition("(")[0].rpartition(".")[2]
    call = file.call(file.calls_by_word[word][0])
    assert (sets_growth(file, call), sets_limit(file, call)) == expected


GROW = "tf.config.experimental.set_memory_growth(gpus[0], True)\n"
BESIDE = [
    (GROW, False),
    (GROW + GROW, False),
    (GROW + "tf.config.experimental.set_memory_growth(gpus[1], True)", True),
    (GROW + "for gpu in gpus:\n    tf.config.experimental.set_memory_growth(gpu, True)", True),
    (GROW + "def f():\n    tf.config.experimental.set_memory_growth(gpus[1], True)", False),
]


@pytest.mark.parametrize(("program", "expected"), BESIDE)
def test_growth_of_other_devices(program: str, expected: bool) -> None:
    file = model_of(GPUS + program)
    growth = next(file.calls("tf.config.experimental.set_memory_growth"))
    assert others_grow_too(file, growth) is expected


CHOSEN = [
    (GROW, False),
    ("tf.config.set_visible_devices(gpus[0], 'GPU')", True),
    ("tf.config.set_logical_device_configuration(gpus[0], [])", True),
    ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'", True),
]


@pytest.mark.parametrize(("program", "expected"), CHOSEN)
def test_programs_that_choose_devices(program: str, expected: bool) -> None:
    assert chooses_devices(model_of(GPUS + program)) is expected


KINDS = [
    ("gpus", True),
    ("gpus[0]", True),
    ("[gpus[0], gpus[1]]", True),
    ("[]", True),
    ("[gpus[0], unknown]", False),
    ("tf.config.list_physical_devices('CPU')", False),
    ("tf.config.list_physical_devices()", False),
]


@pytest.mark.parametrize(("devices", "expected"), KINDS)
def test_devices_that_are_gpus(devices: str, expected: bool) -> None:
    assert only_gpus(value_in(model_of(f"{GPUS}probe({devices})"))) is expected
