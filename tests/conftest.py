"""Makes `pytest --bless` and the shared fixtures known, lets property tests take their time on slow machines, and puts
what takes long first, so that no worker is left with it when the others have nothing more to do."""

import sys
from importlib.util import find_spec

import daily  # noqa: F401
import pytest
from hypothesis import HealthCheck, settings

from tfmemlint.model.calls import Call

pytest_plugins = ["tfmemlint.testing", "packs", "command_line"]

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

Call.strict = True

LONG = ("test_properties.py", "test_bombs.py")
"""The modules of which a test takes as long as some that run TensorFlow."""


WITHOUT = pytest.mark.skip(
    reason=f"runs TensorFlow, which is not installed for Python {sys.version_info[0]}.{sys.version_info[1]}"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if find_spec("tensorflow") is None:
        for item in items:
            if item.get_closest_marker("tensorflow") is not None:
                item.add_marker(WITHOUT)
    items.sort(key=lambda item: (item.get_closest_marker("tensorflow") is None, item.path.name not in LONG))
