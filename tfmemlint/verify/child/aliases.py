"""Names that stand for the same module in nearly every program, where one binds them nowhere; loaded by `main.py`."""

from __future__ import annotations

import ast
import builtins
import importlib
from collections.abc import Callable

ALIASES = {
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "sns": "seaborn",
    "tf": "tensorflow",
    **{
        name: name for name in ("os", "sys", "re", "math", "time", "random", "json", "glob", "datetime", "keras", "cv2")
    },
}
"""Names that stand for the same module in nearly every program."""


def bind(source: str, note: Callable[[str], None]) -> None:
    """Have those of these names that a program reads and binds nowhere: a cell that was deleted, a star import."""
    read: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.arg)):
            bound.add(node.arg if isinstance(node, ast.arg) else node.name)
    for name in sorted((read & ALIASES.keys()) - bound) if "*" not in bound else ():
        try:
            setattr(builtins, name, importlib.import_module(ALIASES[name]))
        except ImportError:
            continue
        note(f"{name} is bound nowhere in the code: it was taken for the module {ALIASES[name]}")
