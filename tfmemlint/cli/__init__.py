"""The command line: `main`, one module a command, and where output goes.

May import `__init__`, `config`, `files`, `finding`, `fix`, `lint`, `model`, `report`, `run`,
`shown`, `units`, `verify`, and for annotations `rule`, `text`.
"""

from tfmemlint.cli.commands import main

__all__ = ["main"]
