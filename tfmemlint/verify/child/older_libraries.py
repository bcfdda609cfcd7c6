"""What NumPy, SciPy and the standard library had in older versions, for programs that were written then; loaded by
`main.py`. Only what means the same today is given, and only to the program's own files."""

from __future__ import annotations

import builtins
import collections
import collections.abc
import importlib
import importlib.abc
import importlib.machinery
import inspect
import os
import sys
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

Note = Callable[[str], None]

OF_PYTHON = ("bool", "complex", "float", "int", "object", "str")
"""Names of NumPy that were Python's own types."""

RENAMED = {
    "Inf": "inf",
    "NAN": "nan",
    "NaN": "nan",
    "alltrue": "all",
    "bool8": "bool_",
    "complex_": "complex128",
    "cumproduct": "cumprod",
    "float_": "float64",
    "in1d": "isin",
    "infty": "inf",
    "product": "prod",
    "row_stack": "vstack",
    "sometrue": "any",
    "string_": "bytes_",
    "trapz": "trapezoid",
    "unicode_": "str_",
}
"""Names of NumPy, and those that they have now."""

PRINTED = "1.25"
"""The version of NumPy in whose way numbers become text: what writes `repr(x)` to a file of columns reads it again."""

OF_CONTAINERS = (
    "Callable",
    "Hashable",
    "Iterable",
    "Iterator",
    "Mapping",
    "MutableMapping",
    "Sequence",
    "Set",
    "Sized",
)
"""Names of `collections` that are those of `collections.abc`."""

IMAGES = "scipy.misc"


class OlderLibraries(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the names. `asked` tells whether the program's own files ask; `picture` gives the path of a picture to
    read."""

    def __init__(self, asked: Callable[[], bool], picture: Callable[[str], str], note: Note) -> None:
        self._asked, self._picture, self._note = asked, picture, note

    def install(self) -> None:
        """Let modules answer for the names that they do not have any more."""
        numpy = sys.modules["numpy"]
        names = {name: getattr(builtins, name) for name in OF_PYTHON}
        names |= {old: getattr(numpy, new) for old, new in RENAMED.items() if hasattr(numpy, new)}
        names["asscalar"] = lambda array: array.item()
        self._answer(numpy, names)
        if int(numpy.__version__.partition(".")[0]) >= 2:
            numpy.set_printoptions(legacy=PRINTED)
        self._answer(time, {"clock": time.perf_counter})
        self._answer(collections, {name: getattr(collections.abc, name) for name in OF_CONTAINERS})
        self._answer(inspect, {"getargspec": inspect.getfullargspec})
        sys.meta_path.append(self)

    def _answer(self, module: types.ModuleType, names: dict[str, Any]) -> None:
        inherited = getattr(module, "__getattr__", None)

        def __getattr__(name: str) -> Any:
            if name in names and self._asked():
                self._note(f"names that {module.__name__} had before are what does the same now")
                return names[name]
            if inherited is None:
                raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")
            return inherited(name)

        module.__getattr__ = __getattr__  # type: ignore[method-assign]

    def pictures(self, module: types.ModuleType) -> None:
        """Give `scipy.misc` the functions for pictures that it had."""
        had = {"imread": self._read, "imresize": _resized, "imsave": _saved, "toimage": _as_picture}
        for name, function in had.items():
            vars(module).setdefault(name, function)

    # -- where `scipy.misc` is no more -------------------------------------------------------------------------------

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(fullname, self) if fullname == IMAGES and self._asked() else None

    def exec_module(self, module: types.ModuleType) -> None:
        self._note(f"{IMAGES}, which is gone, reads and resizes pictures with PIL")
        self.pictures(module)

    def _read(self, name: Any, flatten: bool = False, mode: str | None = None) -> Any:
        path = self._picture(os.fspath(name)) if isinstance(name, (str, os.PathLike)) else name
        with _pillow().open(path) as picture:
            return _array(picture.convert("F" if flatten else mode or picture.mode))


def _pillow() -> Any:
    return importlib.import_module("PIL.Image")


def _array(picture: Any) -> Any:
    return importlib.import_module("numpy").asarray(picture)


def _as_picture(array: Any, *_: Any, **__: Any) -> Any:
    """A picture of an array; numbers that are no bytes are scaled to those."""
    numpy = importlib.import_module("numpy")
    array = numpy.squeeze(array)
    if array.dtype != numpy.uint8:
        least, most = float(array.min()), float(array.max())
        array = ((array - least) * (255 / ((most - least) or 1))).astype("uint8")
    return _pillow().fromarray(array)


def _resized(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> Any:
    picture = _as_picture(arr)
    if isinstance(size, tuple):
        shape = size[1], size[0]
    else:
        part = size / 100 if isinstance(size, int) else size
        shape = int(picture.size[0] * part), int(picture.size[1] * part)
    return _array(picture.resize(shape))


def _saved(name: Any, arr: Any, format: str | None = None) -> None:
    _as_picture(arr).save(name, format)
