"""Makes `pytest --bless` and the shared fixtures known, and lets property tests take their time on slow machines."""

import daily  # noqa: F401
from hypothesis import HealthCheck, settings

from tfmemlint.model.calls import Call

pytest_plugins = ["tfmemlint.testing", "packs", "command_line"]

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

Call.strict = True
