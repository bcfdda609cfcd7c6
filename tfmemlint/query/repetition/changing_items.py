"""Loops whose items are different Python numbers or strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array, Const, Iterator, Mapping, Sequence, Value
from tfmemlint.query.limits import FEW_RUNS, RUN_THROUGH
from tfmemlint.syntax.scopes import Binds

if TYPE_CHECKING:
    from tfmemlint.model.file import File

Path = tuple[int, ...]
Differ = Callable[[cst.ListComp | cst.GeneratorExp], bool]

COUNTS = frozenset({"builtins.range", "itertools.count"})
ARRAYS = ("np.linspace", "np.arange", "np.logspace", "np.geomspace", "np.random.")
"""Beginnings of what makes arrays of different numbers."""

NESTED = 4
"""Calls and names that are looked at inside each other: `list(enumerate(zip(...)))` bound to a name."""


def items_differ(file: File, iterated: cst.BaseExpression, path: Path, differ: Differ) -> bool:
    """Whether what a loop over `iterated` binds at `path` of each item is certainly another Python number or string
    each time; `differ` says it of a comprehension's items. False also where it is not known, and where there are at
    most `FEW_RUNS` different ones."""
    return _Items(file, differ).differ_in(iterated, path, NESTED)


class _Items:
    def __init__(self, file: File, differ: Differ) -> None:
        self._file, self._differ = file, differ

    def differ_in(self, iterated: cst.BaseExpression, path: Path, left: int) -> bool:
        if left == 0:
            return False
        made = self._file.written(iterated)
        if isinstance(made, (cst.ListComp, cst.GeneratorExp)) and not path:
            return self._differ(made) or self._many(iterated, path)
        if isinstance(iterated, cst.Name):
            found = self._file.definitions(iterated)
            plain = len(found) == 1 and found[0].binds in (Binds.VALUE, Binds.ENTERED) and not found[0].path
            made = found[0].value if plain and isinstance(found[0].value, cst.Call) else iterated
        else:
            made = iterated
        return self._of_call(made, path, left - 1) if isinstance(made, cst.Call) else self._many(iterated, path)

    def _of_call(self, node: cst.Call, path: Path, left: int) -> bool:
        call, value = self._file.call(node), self._file.value(node)
        given = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
        kind = value.function if isinstance(value, Iterator) else ""
        if call.name in COUNTS or knowledge.in_group(call.name, "gives_strings") or kind in ("range", "trange"):
            return not path
        if call.name == "builtins.zip":
            return bool(path) and path[0] < len(given) and self.differ_in(given[path[0]], path[1:], left)
        if call.name == "builtins.enumerate":
            return path == (0,) or (path[:1] == (1,) and bool(given) and self.differ_in(given[0], path[1:], left))
        builtin = (call.name or "").startswith("builtins.")
        if kind == "tqdm" or (builtin and (call.method in RUN_THROUGH or call.method == "set")):
            return bool(given) and self.differ_in(given[0], path, left)
        if call.receiver_node is None:
            return self._many(node, path)
        return self._of_method(node, call.receiver_node, path)

    def _of_method(self, node: cst.Call, receiver: cst.BaseExpression, path: Path) -> bool:
        """Lines and words of a text, numbers of an array, entries of a dictionary."""
        call = self._file.call(node)
        if call.method == "items":
            return self._many(receiver, path)
        if path:
            return self._many(node, path)
        first = self._file.value(node.args[0].value) if node.args else Const("")
        if call.method in ("splitlines", "readlines") or (call.method == "split" and isinstance(first, Const)):
            return not call.names
        if call.method == "tolist":
            array = self._file.value(receiver)
            made = array.origin if isinstance(array, Array) else None
            return made is not None and (made.name or "").startswith(ARRAYS)
        return self._many(node, path)

    def _many(self, iterated: cst.BaseExpression, path: Path) -> bool:
        """Whether a list of constants, or of tuples of them, has more than a few different ones at `path`."""
        value = self._file.value(iterated)
        if isinstance(value, Mapping) and len(path) == 1:
            pairs = [(Const(key), item) for key, item in value.items]
            found: list[Value] = [pair[path[0]] for pair in pairs if path[0] < 2]
        elif isinstance(value, Sequence) and not value.open:
            found = list(value.items)
            for index in path:
                found = [i.items[index] for i in found if isinstance(i, Sequence) and index < len(i.items)]
        else:
            return False
        plain = [key for key in map(_constants, found) if key is not None]
        return len(plain) == len(found) and len(set(plain)) > FEW_RUNS


def _constants(item: Value) -> tuple[object, ...] | None:
    """The numbers and strings that an item is or, a list or tuple, holds; None where it is anything else."""
    if isinstance(item, Const):
        return (item.value,) if isinstance(item.value, (int, float, str)) else None
    if not isinstance(item, Sequence) or item.open:
        return None
    inner = [_constants(part) for part in item.items]
    return tuple(value for part in inner if part is not None for value in part) if None not in inner else None
