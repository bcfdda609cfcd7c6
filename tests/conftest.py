"""Makes `pytest --bless` known."""

pytest_plugins = ["tfmemlint.testing"]
