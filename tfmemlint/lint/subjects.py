"""The subjects of `tfmemlint.api` without the modules behind them: a rule that asks one question of pipelines would
else import all that can be asked of them."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from types import ModuleType
from typing import Any

API = "tfmemlint.api"

Origins = dict[str, tuple[str, str]]
"""Where a name of a subject comes from: the module, and its name there."""


class _Subject(ModuleType):
    """A module of re-exports that imports what stands behind a name when that is asked for."""

    def __init__(self, name: str, origins: Origins) -> None:
        super().__init__(name)
        self.__dict__["_origins"] = origins

    def __getattr__(self, name: str) -> Any:
        origin = self.__dict__["_origins"].get(name)
        if origin is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = self.__dict__[name] = getattr(importlib.import_module(origin[0]), origin[1])
        return found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__dict__["_origins"]})


def install(subjects: dict[str, Origins]) -> None:
    """Let rules that are imported from now on find these subjects."""
    for name, origins in subjects.items():
        sys.modules.setdefault(name, _Subject(name, origins))


def origins() -> dict[str, Origins]:
    """Where the names of each subject come from, as its module says; without those that hold anything else."""
    package = importlib.import_module(API)
    names = (f"{API}.{found.name}" for found in pkgutil.iter_modules(package.__path__))
    found = {name: _read(importlib.import_module(name)) for name in names}
    return {name: origins for name, origins in found.items() if origins is not None}


def _read(module: ModuleType) -> Origins | None:
    if isinstance(module, _Subject):
        return dict(module.__dict__["_origins"])
    if module.__file__ is None:
        return None
    found: Origins = {}
    with open(module.__file__, encoding="utf-8") as stream:
        body = ast.parse(stream.read()).body
    for statement in body:
        if isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            for alias in statement.names:
                name = alias.asname or alias.name
                if isinstance(getattr(module, name), ModuleType):
                    return None
                found[name] = (statement.module, alias.name)
        elif not _says_nothing(statement):
            return None
    return found


def _says_nothing(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, or lists what the module exports."""
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        return isinstance(target, ast.Name) and target.id == "__all__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
