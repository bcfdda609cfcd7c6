"""Stands in for arrays and objects that a program loads from files that are not there; loaded by `main.py`.

A file of this kind does not tell by its name what is in it. What the program does with what it loads does: how many
names it gives to it, which keys and attributes it asks for. What is left is an array of rows, whose size no other one
has, so that an error which speaks of shapes tells which array it is about.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import os
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Note = Callable[[str], None]

LOADERS = {
    "h5py": ("File",),
    "joblib": ("load",),
    "numpy": ("genfromtxt", "load", "loadtxt"),
    "pickle": ("load",),
    "scipy.io": ("loadmat",),
}
"""What loads them."""

ROWS = 1024
WIDTHS = (1021, 1031, 1033, 1039, 1049, 1051, 1061, 1063, 1069, 1087, 1091, 1093, 1097, 1103, 1109, 1117)
"""Last sizes of arrays of which nothing tells the shape."""

LABELS = frozenset({"y", "label", "labels", "target", "targets", "classes"})
IMAGES = frozenset({"image", "images", "img", "imgs", "picture", "pictures", "frame", "frames"})
OF_ARRAYS = frozenset({
    "T", "all", "any", "argmax", "argmin", "astype", "copy", "dtype", "flatten", "item", "max", "mean", "min", "nbytes",
    "ndim", "ravel", "reshape", "shape", "size", "squeeze", "std", "sum", "swapaxes", "tolist", "transpose",
})  # fmt: skip
OF_TEXTS = {"genfromtxt": 3, "loadtxt": 1}
"""What reads numbers of texts, and where its dtype stands: float64 where it is given none."""

OF_KEYS = frozenset(("load", "loadmat"))
"""What may give something of which keys are taken."""

OF_MAPPINGS = frozenset(("get", "items", "keys", "values"))


class Loaded:
    """What is loaded in one run. `asked` tells whether the program's own files ask; `find` gives where a file lies,
    None for one that is not there; `root` is where files lie that were made up, `words_of` gives the words of a name,
    `rows` a number of rows that fits."""

    def __init__(
        self,
        asked: Callable[[], bool],
        find: Callable[[str], str | None],
        root: str,
        words_of: Callable[[str], list[str]],
        note: Note,
        rows: Callable[[int], int],
    ) -> None:
        self._rows = rows(ROWS)
        self._asked, self._find, self._root, self._words_of, self._note = asked, find, root, words_of, note
        self._widths = itertools.cycle(WIDTHS)
        self._made: dict[tuple[str, str], Any] = {}
        self._dtype: Any = None
        """The dtype that the program reads a text with."""

    def changes(self) -> dict[str, Callable[[types.ModuleType], None]]:
        """What is done to the modules that load such files, by their names."""
        return {name: functools.partial(self._patch, words) for name, words in LOADERS.items()}

    def _patch(self, names: tuple[str, ...], module: types.ModuleType) -> None:
        for name in names:
            function = vars(module)[name]
            setattr(module, name, _File(function, self) if isinstance(function, type) else self._answered(function))

    def _answered(self, function: Any) -> Any:
        """The function, which gives something made up for a file that is not there."""

        @functools.wraps(function)
        def load(file: Any, *args: Any, **kwargs: Any) -> Any:
            place, found = self.place(file) if self._asked() else (None, file)
            if place is None:
                return function(found, *args, **kwargs)
            position = OF_TEXTS.get(function.__name__)
            if position is not None:
                self._dtype = kwargs.get("dtype", args[position - 1] if len(args) >= position else float)
            try:
                return self._value(place, sys._getframe(1))
            finally:
                self._dtype = None

        return load

    def place(self, file: Any) -> tuple[str | None, Any]:
        """The path of a file, open or not, that is not there, None for one that is; and what to read then."""
        name = file if isinstance(file, (str, os.PathLike)) else getattr(file, "name", None)
        path = os.fspath(name) if isinstance(name, (str, os.PathLike)) else None
        if not isinstance(path, str):
            return None, file
        if path.startswith(self._root):
            return path[len(self._root) :].lstrip(os.sep), file
        if file is not name:
            return None, file
        found = self._find(path)
        return (path, file) if found is None else (None, found)

    # -- values ------------------------------------------------------------------------------------------------------

    def _value(self, path: str, frame: types.FrameType) -> Any:
        """What is made up for a file that is loaded at a place, by what is done with it there."""
        if _takes_key(frame):
            return _Arrays(path, self)
        frame, call, names = _place(frame)
        if isinstance(names, tuple):
            return tuple(self._named(path, name, frame) for name in names)
        if isinstance(call, ast.Attribute) and call.attr == "item":
            return _Item(_Arrays(path, self, _uses(names, frame)[0]))
        return self._named(path, names, frame)

    def _named(self, path: str, name: str, frame: types.FrameType) -> Any:
        shown = f"{name} of {os.path.basename(path)}" if name else os.path.basename(path)
        if self._dtype is not None or (path, name) not in self._made:
            self._made[path, name] = self._by_use(path, shown, name, frame)
        return self._made[path, name]

    def _by_use(self, path: str, shown: str, name: str, frame: types.FrameType) -> Any:
        keys, attributes = _uses(name, frame)
        if keys or not attributes.isdisjoint(OF_MAPPINGS):
            return _Arrays(path, self, keys)
        if not attributes <= OF_ARRAYS:
            self._note(f"{shown} is not there: an object was made up")
            return builtins.tfmemlint_thing(name or "loaded")  # type: ignore[attr-defined]
        return self.array(shown, name or os.path.splitext(os.path.basename(path))[0])

    def array(self, shown: str, name: str) -> Any:
        """An array of rows: labels and pictures by its name, else of features."""
        words, width = self._words_of(name), next(self._widths)
        labels = bool(words) and (words[-1] in LABELS or words[0] == "y")
        pictures = bool(words) and words[-1] in IMAGES
        rows = self._rows
        shape = (rows,) if labels else (rows, 64, 64, 3) if pictures else (rows, width)
        made = builtins.tfmemlint_array("int64" if labels else "float32", shape)  # type: ignore[attr-defined]
        if self._dtype not in (None, str, object):
            made = made.astype(self._dtype)
        self._note(f"{shown} is not there: {made.dtype}[{','.join(map(str, made.shape))}] was made up")
        return made


class _Item:
    """What `np.load(...)` gives where its `item()` is asked for."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def item(self) -> Any:
        """What the array would hold."""
        return self._inner


class _File:
    """A class of files, which gives arrays by any name where the file is not there."""

    def __init__(self, kind: Any, loaded: Loaded) -> None:
        self._kind, self._loaded = kind, loaded

    def __call__(self, name: Any, *args: Any, **kwargs: Any) -> Any:
        mode = args[0] if args else kwargs.get("mode", "r")
        place, found = self._loaded.place(name) if mode == "r" else (None, name)
        return self._kind(found, *args, **kwargs) if place is None else _Arrays(place, self._loaded)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kind, name)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self._kind)


class _Arrays(dict[str, Any]):
    """A file of arrays: each is made up when it is asked for, `keys` at once."""

    def __init__(self, path: str, loaded: Loaded, keys: Sequence[str] = ()) -> None:
        super().__init__()
        self._path, self._loaded = path, loaded
        for key in keys:
            self[key] = self.__missing__(key)

    def __missing__(self, key: str) -> Any:
        self[key] = self._loaded.array(f"{key!r} of {os.path.basename(self._path)}", key)
        return self[key]

    def __enter__(self) -> _Arrays:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def close(self) -> None:
        """There is nothing to close."""


# -- what the program does with it -----------------------------------------------------------------------------------


@functools.lru_cache
def _tree(file: str) -> ast.Module:
    with open(file, encoding="utf-8") as text:
        return ast.parse(text.read())


def _place(frame: types.FrameType) -> tuple[types.FrameType, ast.AST | None, str | tuple[str, ...]]:
    """The place at which the value of a call is used, out of the functions that return it: the frame, what stands
    around the call, and the name or the names that the value is given."""
    for node in ast.walk(_tree(frame.f_code.co_filename)):
        if not isinstance(node, (ast.Assign, ast.Return)) or not _holds(node, frame.f_lineno) or node.value is None:
            continue
        if isinstance(node, ast.Return):
            above = frame.f_back
            in_file = above is not None and above.f_code.co_filename == frame.f_code.co_filename
            return _place(above) if above is not None and in_file else (frame, None, "")
        target = node.targets[0]
        around = next((each.func for each in ast.walk(node.value) if isinstance(each, ast.Call)), None)
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(node.value, ast.Call):
            return frame, around, tuple(map(_name, target.elts))
        return frame, around, _name(target)
    return frame, None, ""


def _takes_key(frame: types.FrameType) -> bool:
    """Whether a key is taken of what a call gives, on the line at which a program is: `np.load(path)["images"]`."""
    taken = (node for node in ast.walk(_tree(frame.f_code.co_filename)) if isinstance(node, ast.Subscript))
    return any(
        isinstance(node.value, ast.Call)
        and _name(node.value.func) in OF_KEYS
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
        and _holds(node, frame.f_lineno)
        for node in taken
    )


def _holds(node: ast.stmt | ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _name(target: ast.AST) -> str:
    return target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""


def _uses(name: str, frame: types.FrameType) -> tuple[list[str], set[str]]:
    """The keys and the attributes that a file asks of a name; nothing of an empty one."""
    if not name:
        return [], set()
    nodes = list(ast.walk(_tree(frame.f_code.co_filename)))
    keys = dict.fromkeys(key for node in nodes for key in _keys(node, name))
    of_name = (node for node in nodes if isinstance(node, ast.Attribute) and _name(node.value) == name)
    return list(keys), {node.attr for node in of_name}


def _keys(node: ast.AST, name: str) -> Iterator[str]:
    if isinstance(node, ast.Subscript) and _name(node.value) == name and isinstance(node.slice, ast.Constant):
        if isinstance(node.slice.value, str):
            yield node.slice.value
