"""What stands for pandas where it is not installed (see `here.py`): tables of `frames.py`; loaded by `main.py`."""

from __future__ import annotations

import datetime
import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

NAME = "pandas"
READERS = (
    *("read_csv", "read_excel", "read_feather", "read_fwf", "read_hdf", "read_json", "read_parquet", "read_pickle"),
    *("read_sql", "read_sql_query", "read_sql_table", "read_table"),
)


def _np() -> Any:
    return importlib.import_module("numpy")


def filler(frames: Any, readers: Callable[[Any], None]) -> Callable[[Any], None]:
    """What fills the module; `readers` puts made-up tables in front of what reads them."""

    def fill(module: types.ModuleType) -> None:
        vars(module).update(DataFrame=frames.DataFrame, Series=frames.Series, date_range=_dates)
        made = {each.__name__: functools.partial(each, frames) for each in (concat, get_dummies)}
        vars(module).update(made)
        vars(module).update(isna=_isna, isnull=_isna, to_datetime=_same, to_numeric=_same)
        vars(module).update({name: _unread(name) for name in READERS})
        readers(module)

    return fill


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
