"""How programs configure GPUs, and where they have one."""

import pytest
from programs import model_of

from tfmemlint.query.runtime.devices import for_one_gpu, sets_growth, sets_limit

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
    ("tf.config.experimental.set_memory_growth(gpus[0], enable=wanted)", (True, False)),
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
