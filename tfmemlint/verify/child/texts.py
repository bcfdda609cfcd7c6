"""A text that nobody passes, which may turn out to be a group of settings, a path or a number; loaded by `main.py`."""

from __future__ import annotations

import operator
import os
import pathlib
from typing import Any

NUMBER = 10


class Text(str):
    """A text that may also be a group of settings: `optimizer` of `config["optimizer"]["rate"]`. What is done with it
    tells paths and numbers from texts: with `/` it is a folder, as a number it is 10."""

    def __new__(cls, makers: Any, path: str, text: str) -> Text:
        return super().__new__(cls, text)

    def __init__(self, makers: Any, path: str, text: str) -> None:
        self._makers, self._path = makers, path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._makers.of(f"{self._path}.{name}", name, objects=False)

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self._makers.called(self._path, objects=True)

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, key) if isinstance(key, str) else super().__getitem__(key)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, (str, os.PathLike)):
            return pathlib.Path(self) / other
        return self._number() / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self._number()

    def _number(self) -> int:
        self._makers.note(f"{self._path} is made up as {NUMBER}: the program takes it for a number")
        return NUMBER

    def __int__(self) -> int:  # and no __index__: what has that is taken for an open file
        return int(str(self)) if str(self).lstrip("-").isdigit() else self._number()

    def __float__(self) -> float:
        return float(self._number())


def _numeric(name: str, back: bool) -> Any:
    """An operator of texts that is one of numbers where the other side is a number."""
    operate, texts = getattr(operator, name.strip("_")), getattr(str, name, None)

    def operated(self: Text, other: Any) -> Any:
        if isinstance(other, (int, float)) and (texts is None or name in COMPARED):
            return operate(other, self._number()) if back else operate(self._number(), other)
        return NotImplemented if texts is None else texts(self, other)

    return operated


COMPARED = ("__lt__", "__le__", "__gt__", "__ge__", "__add__")
for _name in (*COMPARED, "__sub__", "__floordiv__", "__pow__"):
    setattr(Text, _name, _numeric(_name, back=False))
for _name in ("__sub__", "__floordiv__", "__pow__"):
    setattr(Text, f"__r{_name[2:]}", _numeric(_name, back=True))
