"""Runs a program's code as its `__main__`; loaded by `main.py`."""

from __future__ import annotations

import builtins
import sys
import types
from pathlib import Path
from typing import Any


def execute(
    program: str, argv: list[str], package: str | None = None, code: Any = None, notebook: bool = False
) -> types.ModuleType:
    """Run the file, or `code` for it, as `__main__` and return the module, whose globals the caller keeps alive."""
    module = types.ModuleType("__main__")
    module.__package__ = package
    module.__dict__.update(__file__=program, __builtins__=builtins, __spec__=None)
    if notebook:
        module.__dict__.update(get_ipython=lambda: None, display=print)
    sys.modules["__main__"] = module
    sys.argv = [program, *argv]
    exec(code or compile(Path(program).read_bytes(), program, "exec", dont_inherit=True), module.__dict__)
    return module
