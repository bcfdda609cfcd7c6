"""Makes `pytest --bless` and the fixtures of `packs` known."""

pytest_plugins = ["tfmemlint.testing", "packs"]
