"""The command line: `main`, one module a command, and where output goes.

May import `__init__`, `config`, `estimate`, `files`, `finding`, `fix`, `knowledge`, `lint`, `model`, `project`,
`report`, `run`, `server`, `shown`, `text`, `units`, `verify`, and for annotations `rule`.
"""

from tfmemlint.cli.commands import main, process

__all__ = ["main", "process"]
