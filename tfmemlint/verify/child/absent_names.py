"""Stands in for names that a program imports of installed libraries, and that these do not have in the installed
version; loaded by `main.py`. They can be imported and named, and fail when they are called."""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Note = Callable[[str], None]


class AbsentNames(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for them where a file in the folder `own` imports them, and does not go on without them by itself.
    `missing` makes what stands for a name, `asked` tells whether the program's own files ask."""

    def __init__(self, own: str, asked: Callable[[], bool], missing: Callable[[str], Any], note: Note) -> None:
        self._own, self._asked, self._missing, self._note = own, asked, missing, note
        self._tried: dict[str, frozenset[int]] = {}

    def install(self) -> None:
        """Look at what the program's files import."""
        imported: Any = builtins.__import__

        def __import__(
            name: str,
            globals: Mapping[str, Any] | None = None,
            locals: Mapping[str, Any] | None = None,
            fromlist: Sequence[str] | None = (),
            level: int = 0,
        ) -> Any:
            module = imported(name, globals, locals, fromlist, level)
            if fromlist and level == 0 and str((globals or {}).get("__file__", "")).startswith(self._own):
                self._complete(module, fromlist, sys._getframe(1))
            return module

        builtins.__import__ = __import__
        sys.meta_path.append(self)

    def _complete(self, module: Any, names: Sequence[str], frame: types.FrameType) -> None:
        home = str(getattr(module, "__file__", None) or self._own)
        for name in () if home.startswith(self._own) or self._is_tried(frame) else names:
            if name != "*" and not hasattr(module, name):
                self._say(f"{module.__name__}.{name}")
                setattr(module, name, self._missing(f"{module.__name__}.{name}"))

    # -- modules of installed packages -------------------------------------------------------------------------------

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        head = sys.modules.get(fullname.partition(".")[0])
        home = str(getattr(head, "__file__", None) or self._own)
        if "." not in fullname or home.startswith(self._own) or not self._asked():
            return None
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and not frame.f_code.co_filename.startswith(self._own):
            frame = frame.f_back
        if frame is None or self._is_tried(frame):
            return None
        self._say(fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module: Any = types.ModuleType(spec.name)
        module.__getattr__ = lambda name: self._named(spec.name, name)
        return module  # type: ignore[no-any-return]

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is left to do."""

    def _named(self, module: str, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._missing(f"{module}.{name}")

    def _say(self, path: str) -> None:
        self._note(f"{path} is not there in the installed version; code that calls it was left to fail")

    def _is_tried(self, frame: types.FrameType) -> bool:
        """Whether the program expects that what it imports there may not be there: the import stands in a `try`."""
        name = frame.f_code.co_filename
        if name not in self._tried:
            try:
                with open(name, encoding="utf-8") as file:
                    self._tried[name] = _in_try(ast.parse(file.read()))
            except (OSError, SyntaxError, ValueError):
                self._tried[name] = frozenset()
        return frame.f_lineno in self._tried[name]


def _in_try(tree: ast.AST) -> frozenset[int]:
    """The lines of imports for whose failure there is a handler."""
    tries = (node for node in ast.walk(tree) if isinstance(node, ast.Try) and node.handlers)
    inside = (node for each in tries for statement in each.body for node in ast.walk(statement))
    return frozenset(node.lineno for node in inside if isinstance(node, (ast.Import, ast.ImportFrom)))
