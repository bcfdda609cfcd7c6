"""Tools for people who work on rules: `python -m tfmemlint.dev COMMAND`. May import everything; nothing imports it."""
