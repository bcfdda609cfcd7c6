"""Stands in for modules that are not installed: what can be named of them and called, and computes nothing; loaded by
`main.py`."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Note = Callable[[str], None]

SHOWING = frozenset(("IPython", "matplotlib", "plotly", "seaborn", "wandb"))
"""Libraries that show data, and give nothing that a program computes with."""

BARS = (".tqdm", ".tqdm_notebook", ".track", ".progressbar")
"""Functions that show how far a loop is, and give what they are given."""

TEXT = "folder"
"""What stands for a text that such a module would give: most are paths."""


class Missing:
    """Something of a module that is not installed. It can be named, be a base class, and be called by the program for
    what is no data; it computes nothing, and what asks for a value of it fails."""

    asked: Callable[[], bool] = staticmethod(lambda: False)
    """Whether the program's own files ask."""

    network: Callable[[str, Mapping[str, Any]], Any] = staticmethod(lambda path, options: None)
    """What stands for a network that is made with these arguments, None for what is none."""

    bar: Callable[[Any], Any] = staticmethod(lambda items: items)
    """What stands for a progress bar over these."""

    note: Note = staticmethod(lambda words: None)
    """Is told what is made up."""

    def __init__(self, path: str) -> None:
        self.__dict__["_path"] = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Missing(f"{self._path}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Settings of what is not there come to nothing."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """As those of its attributes."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name, given = self._path.partition(".")[0], [*args, *kwargs.values()]
        if len(given) == 1 and args and isinstance(args[0], (types.FunctionType, type)) and Missing.asked():
            return args[0]  # it decorates
        if name in sys.modules and not isinstance(sys.modules[name], MissingModule):
            raise AttributeError(f"{self._path} is not there in the installed version")
        if self._path.endswith(BARS) and args:
            return Missing.bar(args[0])
        made = Missing.network(self._path, kwargs) if Missing.asked() else None
        if made is not None:
            return made
        if not Missing.asked() or (any(hasattr(type(each), "dtype") for each in given) and not self._shows()):
            self._needed()
        return Missing(self._path if self._path.endswith("()") else f"{self._path}()")

    def _needed(self, *_: Any, **__: Any) -> Any:
        name = self._path.partition(".")[0]
        call = self._path if self._path.endswith("()") else f"{self._path}()"
        raise ModuleNotFoundError(f"No module named '{name}', which {call} needs", name=name)

    def __iter__(self) -> Any:
        return iter((self, self)) if self._shows() else self._needed()  # of `figure, axes = plt.subplots()`

    def __getitem__(self, key: Any) -> Any:
        return self if self._shows() else self._needed()

    def _shows(self) -> bool:
        return self._path.partition(".")[0] in SHOWING

    def __fspath__(self) -> str:
        """Where files lie that the library would have: none are there but those that are made up."""
        Missing.note(f"{self._path} is not installed: its text is {TEXT!r}")
        return TEXT

    def __format__(self, how: str) -> str:
        return self.__fspath__()

    def __add__(self, other: Any) -> Any:
        return f"{self.__fspath__()}{other}" if isinstance(other, str) else self._needed()

    def __radd__(self, other: Any) -> Any:
        return f"{other}{self.__fspath__()}" if isinstance(other, str) else self._needed()

    def __enter__(self) -> Missing:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return ()


for _name in (
    *("array", "bool", "float", "index", "int", "len", "contains", "complex", "tf_tensor", "next"),
    *("and", "floordiv", "ge", "gt", "le", "lt", "matmul", "mod", "mul", "neg", "or", "pow", "rmul"),
    *("rpow", "rsub", "rtruediv", "sub", "truediv", "abs"),
):
    setattr(Missing, f"__{_name}__", Missing._needed)


class MissingModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for modules that nobody finds, where the program's own files import them."""

    def __init__(self, asked: Callable[[], bool], note: Note) -> None:
        self._asked, self._note = asked, note

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not self._asked():
            return None
        head = fullname.partition(".")[0]
        if head in sys.modules and not isinstance(sys.modules[head], MissingModule):
            return None  # it is there, in another version
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return MissingModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        head = module.__name__.partition(".")[0]
        self._note(f"{head} is not installed: it computes nothing, and code that needs a value of it was left to fail")


class MissingModule(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")
