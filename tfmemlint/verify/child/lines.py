"""What the code of a program says of the lines of texts that it reads: how it takes them apart; loaded by `main.py`."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import math
import re
from collections.abc import Iterator
from typing import NamedTuple

WORDS, COLUMNS = 12, 10
MOST_COLUMNS = 1 << 14
NAMES_OF_LINES = frozenset({"line", "lines", "row", "record", "entry", "l", "ln"})
"""Names of a line of a text."""

NAMES_OF_PARTS = frozenset({"columns", "cols", "fields", "items", "parts", "r", "splits", "tokens", "values"})
"""Names of what a line is taken apart into."""

OF_FILES = re.compile(r"(?:.*_)?(?:file|filename|fname|path|filepath|image|img|image_path|wav|audio)", re.IGNORECASE)
"""Names of what stands in a line that names a file."""

FILES = 64

NUMBERS = ("float", "float32", "float64", "int", "int32", "int64")
"""Functions of Python and NumPy that make a number of a text."""


class Lines(NamedTuple):
    """How lines are read."""

    numbers: int = 0
    """Numbers that a line of a text has, 0 where the code makes none of it."""
    columns: int = 0
    """Columns of tables, 0 where the code does not take them by their places."""
    separator: str = " "
    fields: tuple[str, ...] = ()
    """The names for what stands between the separators: `path, label = line.split(",")`; empty where there are none."""
    places: tuple[int, ...] = ()
    """The places of numbers among words: `int(row[1])`."""

    def line(self, number: int) -> str | None:
        """A line of a text of these fields, numbers but for the names of files; None where none are known."""
        if not self.fields:
            return None
        made = (f"{number % FILES:03}.jpg" if OF_FILES.fullmatch(name) else str(number % 10) for name in self.fields)
        return self.separator.join(made)


@functools.lru_cache
def lines_of(name: str, others: str = "") -> Lines:
    """What the code of a file says of lines; what `others` says where it says nothing, and of their fields."""
    own = Lines()
    with contextlib.suppress(OSError), io.FileIO(name) as file:
        own = lines_in(file.read())
    further = own if own.fields else lines_in(others)
    return further if own == Lines() else own._replace(separator=further.separator, fields=further.fields)


@functools.lru_cache
def lines_in(source: str | bytes) -> Lines:
    """What this code says of lines."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return Lines()
    return Lines(_numbers(tree), _columns(tree), *_fields(tree), _places(tree))


def _fields(tree: ast.AST) -> tuple[str, tuple[str, ...]]:
    """What stands between the parts of a line that is split into names, and these; empty where none is."""
    for target, value in _given(tree):
        names = tuple(each.id if isinstance(each, ast.Name) else "" for each in target.elts)
        call = value if isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "split" else None
        if call is None or len(names) < 2 or not isinstance(call.func, ast.Attribute) or not _is_line(call.func.value):
            continue
        first = call.args[0] if call.args else None
        text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else " "
        if text.strip("\n"):
            return text, names
    return " ", ()


def _given(tree: ast.AST) -> Iterator[tuple[ast.Tuple | ast.List, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Tuple, ast.List)):
            yield node.targets[0], node.value


def _is_line(node: ast.expr) -> bool:
    """Whether a value is a line of a text, or made of one: `line.strip()`."""
    return any(isinstance(each, ast.Name) and each.id in NAMES_OF_LINES for each in ast.walk(node))


def _columns(tree: ast.AST) -> int:
    """Up to the last place that is taken of a row, `row[1:785]`; else as many as a row is reshaped to, behind its
    label."""
    places, sizes = [0], [0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            end = node.slice.upper if isinstance(node.slice, ast.Slice) else node.slice
            places.append(_number(end) or 0)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "reshape":
            given = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], ast.Tuple) else node.args
            numbers = [number for each in given if (number := _number(each)) is not None]
            sizes.append(1 + math.prod(numbers) if numbers and len(numbers) == len(given) else 0)
    most = max(places) if max(places) >= COLUMNS else max(sizes)
    return most if most <= MOST_COLUMNS else 0


def _number(node: ast.AST | None) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _numbers(tree: ast.AST) -> int:
    """How many numbers the code makes of a line, or of the parts of a text that it has read; 0 where it makes none."""
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and _makes_numbers(node):
            words = [each for arg in node.args for each in ast.walk(arg)]
            names = {getattr(each, "id", getattr(each, "attr", "")) for each in words}
            if "readline" in names or "line" in names:
                several = "split" in names or any(isinstance(each, ast.Subscript) for each in words)
                found = max(found, WORDS if several else 1)
        if isinstance(node, ast.ListComp) and isinstance(node.elt, ast.Call) and _makes_numbers(node.elt):
            found = max(found, WORDS if _is_read_and_split(tree, node.generators[0].iter) else 0)
    return found


def _places(tree: ast.AST) -> tuple[int, ...]:
    """The places of a line, or of its parts, of which the code makes numbers."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args and _makes_numbers(node))
    parts = (node.args[0] for node in calls if isinstance(node.args[0], ast.Subscript))
    found = {_number(part.slice) for part in parts if _name(part.value) in NAMES_OF_LINES | NAMES_OF_PARTS}
    return tuple(sorted(place for place in found if place is not None and place < WORDS))


def _makes_numbers(node: ast.Call) -> bool:
    """Whether a call makes a number of what it is given, or numbers of each of it."""
    word = _name(node.func)
    return word in NUMBERS or (word == "map" and bool(node.args) and _name(node.args[0]) in NUMBERS)


def _name(node: ast.AST) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


def _is_read_and_split(tree: ast.AST, items: ast.expr) -> bool:
    """Whether what is gone through are the parts of a text that was read from a file."""
    given = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    words, left = {_name(each) for each in ast.walk(items)}, [_name(items)]
    for name in left:
        for value in (node.value for node in given if name and _name(node.targets[0]) == name):
            found = {_name(each) for each in ast.walk(value)}
            left += sorted(found - words)
            words |= found
    return "split" in words and not words.isdisjoint(("read", "readline", "readlines"))
