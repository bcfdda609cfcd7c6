"""Stands in for the parts of pandas that hold tables and give arrays of them, where it is not installed; loaded by
`main.py`. Its tables are those of `frames.py`."""

from __future__ import annotations

import datetime
import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

Note = Callable[[str], None]

NAME = "pandas"
READERS = (
    *("read_csv", "read_excel", "read_feather", "read_fwf", "read_hdf", "read_json", "read_parquet", "read_pickle"),
    *("read_sql", "read_sql_query", "read_sql_table", "read_table"),
)


def _np() -> Any:
    return importlib.import_module("numpy")


class Pandas(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for it where nothing else does. `make` makes a module whose other names are missing, `fill` puts tables
    in front of what reads them."""

    def __init__(
        self,
        asked: Callable[[], bool],
        make: Callable[[str], Any],
        fill: Callable[[Any], None],
        frames: Any,
        note: Note,
    ) -> None:
        self._asked, self._make, self._fill, self._frames, self._note = asked, make, fill, frames, note

    def install(self) -> None:
        """Come after what finds the library, and before what stands in for those that nobody finds."""
        sys.meta_path.append(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        wanted = fullname == NAME and self._asked()
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if wanted else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return self._make(spec.name)  # type: ignore[no-any-return]

    def exec_module(self, module: types.ModuleType) -> None:
        self._note("pandas is not installed: tables of NumPy's arrays stand for those that it has")
        frames = self._frames
        vars(module).update(DataFrame=frames.DataFrame, Series=frames.Series, date_range=_dates)
        made = {each.__name__: functools.partial(each, frames) for each in (concat, get_dummies)}
        vars(module).update(made)
        vars(module).update(isna=_isna, isnull=_isna, to_datetime=_same, to_numeric=_same)
        vars(module).update({name: _unread(name) for name in READERS})
        self._fill(module)


def _unread(name: str) -> Any:
    def read(*_: Any, **__: Any) -> Any:
        raise ModuleNotFoundError(f"No module named '{NAME}', which {NAME}.{name}() needs", name=NAME)

    read.__name__ = name
    return read


def _same(data: Any, *_: Any, **__: Any) -> Any:
    return data


def _dates(start: Any = None, *_: Any, periods: int = 0, **__: Any) -> list[datetime.datetime]:
    first = datetime.datetime.fromisoformat(str(start))
    return [first + datetime.timedelta(hours=row) for row in range(periods)]


def _isna(data: Any) -> Any:
    return data.isna() if hasattr(data, "isna") else data is None or data != data


def concat(frames: Any, parts: Any, axis: Any = 0, **_: Any) -> Any:
    """Tables or columns, below each other or side by side."""
    tables = [each.to_frame() if isinstance(each, frames.Series) and axis in (1, "columns") else each for each in parts]
    if isinstance(tables[0], frames.Series):
        return frames.Series(_np().concatenate([each.values for each in tables]), name=tables[0].name)
    if axis in (1, "columns"):
        return frames.DataFrame({name: each for table in tables for name, each in table._parts.items()})
    names = tables[0]._names
    return tables[0]._with({name: _np().concatenate([table._parts[name] for table in tables]) for name in names})


def get_dummies(frames: Any, data: Any, *_: Any, columns: Any = None, dtype: Any = bool, **__: Any) -> Any:
    """A column for each value of those of texts, or of those that are named."""
    table = data if isinstance(data, frames.DataFrame) else frames.DataFrame({"": data})
    made: dict[Any, Any] = {}
    for name, each in table._parts.items():
        if table is data and (name not in columns if columns is not None else each.dtype != object):
            made[name] = each
            continue
        made.update({f"{name}_{value}".lstrip("_"): (each == value).astype(dtype) for value in _np().unique(each)})
    return frames.DataFrame(made)
