"""Stands in for tables that a program reads and that are not there: rows of the columns that its code names; loaded by
`main.py`."""

from __future__ import annotations

import ast
import functools
import importlib
import os
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Note = Callable[[str], None]

ROWS, COLUMNS = 1000, 10
READERS = ("read_csv", "read_excel", "read_table")
OF_TEXTS = ("caption", "comment", "description", "message", "review", "sentence", "summary", "text", "title", "tweet")
OF_FILES = ("file", "image", "img", "path")
OF_TIMES = ("date", "time")
WITH_NAMES = ("columns", "subset", "usecols", "y_col", "x_col", "by", "labels")
"""Parameters of functions that name columns."""


class Tables:
    """The made-up tables of one run, for a program with this source; `find` gives where a file lies, None for one that
    is not there."""

    def __init__(
        self, source: str, find: Callable[[str], str | None], root: str, note: Note, rows: Callable[[int], int]
    ) -> None:
        """`root` is where files lie that were made up, whose names a program found by listing a folder; `rows` gives a
        number of rows that fits."""
        self._source, self._find, self._root, self._note, self._rows = source, find, root, note, rows(ROWS)

    def patch(self, pandas: types.ModuleType) -> None:
        """Put this in front of the functions of pandas."""
        for name in READERS:
            setattr(pandas, name, self._made_up(getattr(pandas, name)))

    def _made_up(self, function: Any) -> Any:
        @functools.wraps(function)
        def read(source: Any, *args: Any, **options: Any) -> Any:
            path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
            listed = path is not None and path.startswith(self._root)
            if path is None or (not listed and (found := self._find(path)) is not None):
                return function(source if path is None else found, *args, **options)
            if listed:
                path = f"{os.path.basename(os.path.dirname(path))}/*"
            names = options.get("names")
            columns = list(names) if names is not None else list(dict.fromkeys(_named(self._source)))
            known = ", ".join(map(str, columns)) or f"{COLUMNS} of no known name"
            self._note(f"{path} is not there: a table of {self._rows} rows was made up, with the columns {known}")
            columns = columns or [f"column_{number}" for number in range(COLUMNS)]
            return _table(columns, options.get("index_col"), self._rows)

        return read


def _table(columns: Sequence[Any], index: Any, rows: int) -> Any:
    numpy, pandas = importlib.import_module("numpy"), importlib.import_module("pandas")
    draw = numpy.random.default_rng(0)

    def column(name: str) -> Any:
        if any(word in name for word in OF_TEXTS):
            return [f"some words of text {row}" for row in range(rows)]
        if any(word in name for word in OF_FILES):
            return [f"{row:04}.jpg" for row in range(rows)]
        if any(word in name for word in OF_TIMES):
            return pandas.date_range("2020-01-01", periods=rows, freq="h").strftime("%Y-%m-%d %H:%M:%S")
        if any(word in name for word in ("label", "class", "target", "category")):
            return draw.integers(0, 2, rows)
        return draw.random(rows)

    made = pandas.DataFrame({name: column(str(name).lower()) for name in columns})
    return made.set_index(index) if isinstance(index, str) and index in made else made


def _named(source: str) -> Iterator[str]:
    """The columns that a program names: `table["price"]`, `table[["a", "b"]]`, `drop(columns=["c"])`, `pop("d")`,
    `table.columns = ["a", "b"]`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "attr", "") == "columns":
            yield from _texts(node.value)
        elif isinstance(node, ast.Subscript):
            yield from _texts(node.slice)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("drop", "pop", "get", "groupby", "set_index", "sort_values") and node.args:
                yield from _texts(node.args[0])
            for keyword in node.keywords:
                if keyword.arg in WITH_NAMES:
                    yield from _texts(keyword.value)


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, (ast.List, ast.Tuple)):
        for item in node.elts:
            yield from _texts(item)
