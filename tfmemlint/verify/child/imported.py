"""Changes modules of libraries when a program imports them, and not before: importing takes time; loaded by
`main.py`."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable, Mapping, Sequence

Change = Callable[[types.ModuleType], None]


class Imported(importlib.abc.MetaPathFinder):
    """Calls what is said for a module once it is there."""

    def __init__(self, changes: Mapping[str, Change]) -> None:
        self._changes, self._busy = changes, False

    def install(self) -> None:
        """Change the modules that are there, and the others when they come."""
        sys.meta_path.insert(0, self)
        for name, change in self._changes.items():
            if name in sys.modules:
                change(sys.modules[name])

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._changes or self._busy:
            return None
        self._busy = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._busy = False
        if spec is None or spec.loader is None:
            return None
        load, change = spec.loader.exec_module, self._changes[fullname]

        def exec_module(module: types.ModuleType) -> None:
            load(module)
            change(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
