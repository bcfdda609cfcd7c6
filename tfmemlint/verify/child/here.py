"""Answers for libraries of which the part is known that prepares data, where they are not installed; loaded by
`main.py`. Whatever else such a library has can be named, and computes nothing."""

from __future__ import annotations

import copy
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Fill = Callable[[Any], None]


class Here(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Fills the modules of these names. `asked` tells whether the program's own files ask, `make` makes a module whose
    names are missing; `fills` have for each name what fills it, and what to say of it."""

    def __init__(
        self,
        asked: Callable[[], bool],
        make: Callable[[str], Any],
        fills: Mapping[str, tuple[Fill, str]],
        note: Callable[[str], None],
    ) -> None:
        self._asked, self._make, self._fills, self._note = asked, make, fills, note

    def install(self) -> None:
        """Come after what finds the libraries, and before what stands in for those that nobody finds."""
        sys.meta_path.append(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        wanted = fullname in self._fills and self._asked()
        # Each has a loader of its own, as what changes a module that is imported changes its loader.
        return importlib.machinery.ModuleSpec(fullname, copy.copy(self), is_package=True) if wanted else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return self._make(spec.name)  # type: ignore[no-any-return]

    def exec_module(self, module: types.ModuleType) -> None:
        fill, words = self._fills[module.__name__]
        self._note(f"{module.__name__} is not installed: {words}")
        fill(module)
        module.__getattr__ = lambda name: self._below(module.__name__, name)  # type: ignore[method-assign]

    def _below(self, package: str, name: str) -> Any:
        """A module of a package, which `from package import name` asks for as an attribute."""
        if f"{package}.{name}" not in self._fills:
            raise AttributeError(name)
        return importlib.import_module(f"{package}.{name}")
