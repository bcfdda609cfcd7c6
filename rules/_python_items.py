"""Loops whose items are different Python numbers or strings."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from tfmemlint.api import Array, Binds, Const, File, Mapping, Sequence, Value
from tfmemlint.api import Iterator as Items

Differ = Callable[[cst.ListComp | cst.GeneratorExp], bool]

COUNTS = frozenset({"builtins.range", "itertools.count"})
TEXTS = frozenset({
    "builtins.open", "glob.glob", "glob.iglob", "os.listdir", "tf.io.gfile.glob", "tf.io.gfile.listdir",
    "tf.io.gfile.GFile",
})  # fmt: skip
"""Calls whose items are strings: lines of a file, paths."""

WRAPPERS = frozenset(f"builtins.{name}" for name in ("list", "tuple", "iter", "sorted", "reversed", "set"))
RANGES = ("np.linspace", "np.arange", "np.logspace", "np.geomspace", "np.random.")
FEW = 3


def items_change(
    iterated: cst.BaseExpression, path: tuple[int, ...], file: File, differ: Differ, depth: int = 4
) -> bool:
    """Whether what a loop over `iterated` binds at `path` is another Python number or string each time; `differ` says
    it of a comprehension's items."""
    if depth == 0:
        return False
    made = file.written(iterated)
    if isinstance(made, (cst.ListComp, cst.GeneratorExp)) and not path:
        return differ(made) or _many(iterated, path, file)
    if isinstance(iterated, cst.Call):
        return _of_call(iterated, path, file, differ, depth - 1)
    if isinstance(iterated, cst.Name):
        definitions = file.definitions(iterated)
        one = definitions[0] if len(definitions) == 1 else None
        plain = one is not None and one.binds in (Binds.VALUE, Binds.ENTERED) and not one.path
        if one is not None and plain and isinstance(one.value, cst.Call):
            return _of_call(one.value, path, file, differ, depth - 1)
    return _many(iterated, path, file)


def _of_call(node: cst.Call, path: tuple[int, ...], file: File, differ: Differ, depth: int) -> bool:
    call = file.call(node)
    given = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
    value = file.value(node)
    kind = value.function if isinstance(value, Items) else ""
    if call.name in COUNTS or call.name in TEXTS or kind in ("range", "trange"):
        return not path
    if call.name == "builtins.enumerate":
        return path == (0,) or (
            path[:1] == (1,) and bool(given) and items_change(given[0], path[1:], file, differ, depth)
        )
    if call.name == "builtins.zip":
        return bool(path) and path[0] < len(given) and items_change(given[path[0]], path[1:], file, differ, depth)
    if kind == "tqdm" or call.name in WRAPPERS:
        return bool(given) and items_change(given[0], path, file, differ, depth)
    if isinstance(node.func, cst.Attribute) and not path:
        first = file.value(given[0]) if given else Const("")
        if call.method in ("splitlines", "readlines") or (call.method == "split" and isinstance(first, Const)):
            return not call.names
        if call.method == "tolist":
            receiver = file.value(node.func.value)
            made = receiver.origin if isinstance(receiver, Array) else None
            return made is not None and (made.name or "").startswith(RANGES)
        if call.method == "items":
            return _many(node.func.value, path, file)
    if call.method == "items" and isinstance(node.func, cst.Attribute):
        return _many(node.func.value, path, file)
    return _many(node, path, file)


def _many(iterated: cst.BaseExpression, path: tuple[int, ...], file: File) -> bool:
    """Whether a list of constants, or of tuples of them, has more than a few different ones at `path`."""
    value = file.value(iterated)
    if isinstance(value, Mapping) and len(path) == 1:
        pairs = [(Const(key), item) for key, item in value.items]
        found = [pair[path[0]] for pair in pairs if path[0] < 2]
    elif isinstance(value, Sequence) and not value.open:
        found = list(value.items)
        for index in path:
            found = [i.items[index] for i in found if isinstance(i, Sequence) and index < len(i.items)]
    else:
        return False
    plain = [key for key in map(_constants, found) if key is not None]
    return len(plain) == len(found) and len(set(plain)) > FEW


def _constants(item: Value) -> tuple[object, ...] | None:
    """The numbers and strings that an item is or, a list or tuple, holds; None where it is anything else."""
    if isinstance(item, Const):
        return (item.value,) if isinstance(item.value, (int, float, str)) else None
    if not isinstance(item, Sequence) or item.open:
        return None
    inner = [_constants(part) for part in item.items]
    return tuple(value for part in inner if part is not None for value in part) if None not in inner else None
