pytest_plugins = ["tfmemlint.testing"]
