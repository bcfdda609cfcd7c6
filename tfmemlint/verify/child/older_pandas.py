"""What the tables of pandas had in older versions, for programs that were written then; loaded by `main.py`. Only what
the installed version does not have is given, as it was."""

from __future__ import annotations

import datetime
import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

Note = Callable[[str], None]

FILLS = {"backfill": "bfill", "bfill": "bfill", "ffill": "ffill", "pad": "ffill"}
"""Ways to fill what is missing, and the methods that do so."""


def patcher(note: Note) -> Callable[[types.ModuleType], None]:
    """What gives tables and columns the methods."""

    def patch(pandas: Any) -> None:
        methods = {
            "append": _appending(pandas),
            "as_matrix": _as_matrix,
            "get_values": lambda self: self.values,
            "iteritems": lambda self: self.items(),
            "ix": property(_By),
        }
        for name, value in (("datetime", datetime.datetime), ("np", sys.modules["numpy"])):
            vars(pandas).setdefault(name, value)
        for kind in (pandas.DataFrame, pandas.Series):
            for name, method in methods.items():
                if not hasattr(kind, name):
                    setattr(kind, name, method if isinstance(method, property) else _noting(name, method, note))
            if "method" not in inspect.signature(kind.fillna).parameters:
                kind.fillna = _filling(kind.fillna, note)

    return patch


def _noting(name: str, method: Any, note: Note) -> Any:
    def had(self: Any, *args: Any, **options: Any) -> Any:
        note(f"{name}() of tables does what it did in older versions of pandas")
        return method(self, *args, **options)

    return had


def _filling(fill: Any, note: Note) -> Any:
    """`fillna`, which could be told to take the values before or behind: `fillna(method="ffill")`."""

    @functools.wraps(fill)
    def fillna(self: Any, value: Any = None, *args: Any, **options: Any) -> Any:
        method = FILLS.get(options.pop("method", None) or "")
        if method is None:
            return fill(self, value, *args, **options)
        note("fillna() of tables does what it did in older versions of pandas")
        return getattr(self, method)(*args, **options)

    return fillna


def _as_matrix(table: Any, columns: Any = None) -> Any:
    return table.values if columns is None else table[columns].values


def _appending(pandas: Any) -> Any:
    def append(self: Any, other: Any, ignore_index: bool = False, **_: Any) -> Any:
        further = other if isinstance(other, (list, tuple)) else [other]
        rows = [pandas.DataFrame([each]) if self.ndim == 2 and _is_row(each) else each for each in further]
        return pandas.concat([self, *rows], ignore_index=ignore_index)

    return append


def _is_row(value: Any) -> bool:
    return isinstance(value, dict) or getattr(value, "ndim", 2) == 1


class _By:
    """`table.ix`: by labels, else by places."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._table.loc[key]
        except (KeyError, TypeError):
            return self._table.iloc[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._table.loc[key] = value
