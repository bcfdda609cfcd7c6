"""Tables of NumPy's arrays, with the methods that those of pandas have for making arrays of them; loaded by `main.py`
after `series.py`. Columns of one dtype are one block, which `values` shows without a copy."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

_columns: Any = importlib.import_module("tfmemlint_series")
Series, as_array = _columns.Series, _columns.as_array


def _np() -> Any:
    return importlib.import_module("numpy")


class DataFrame(_columns.Held):  # type: ignore[misc]
    """A table."""

    def __init__(self, data: Any = None, index: Any = None, columns: Any = None, **_: Any) -> None:
        if data is not None and not isinstance(data, (dict, DataFrame)):
            table = _np().asarray(data)
            names = list(columns) if columns is not None else list(range(table.shape[1]))
            data = {name: table[:, at] for at, name in enumerate(names)}
        given = data._parts if isinstance(data, DataFrame) else data or {}
        self.__dict__["_parts"] = {name: as_array(each) for name, each in given.items()}
        self.__dict__["_block"] = None
        self.__dict__["index"] = index if index is not None else range(len(self))
        self._as_block()

    is_table = True

    def _computed(self, values: Any) -> Any:
        return DataFrame(values, columns=self._names)

    @property
    def _constructor(self) -> Any:
        return DataFrame

    def _with(self, parts: Any) -> Any:
        return self._constructor(parts)

    def _as_block(self) -> None:
        """Have columns of one dtype in one block."""
        kinds = {each.dtype for each in self._parts.values()}
        if len(kinds) == 1 and next(iter(kinds)).kind != "O":
            self.__dict__["_block"] = _np().stack(list(self._parts.values()))
            self.__dict__["_parts"] = dict(zip(self._parts, self._block, strict=True))

    @property
    def _names(self) -> list[Any]:
        return list(self._parts)

    @property
    def columns(self) -> Any:
        return _Columns(self._parts)

    @property
    def values(self) -> Any:
        if self._block is not None:
            return self._block.T
        return _np().stack(list(self._parts.values()), axis=1) if self._parts else _np().zeros((0, 0))

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self), len(self._parts))

    @property
    def dtypes(self) -> Any:
        return Series([each.dtype for each in self._parts.values()], index=self._names)

    @property
    def T(self) -> Any:
        return DataFrame(self.values.T)

    def __len__(self) -> int:
        return len(next(iter(self._parts.values()), ()))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def __contains__(self, name: Any) -> bool:
        return name in self._parts

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) or str(getattr(key, "dtype", "")) == "bool":
            rows = key if isinstance(key, slice) else as_array(key)
            return self._with({name: each[rows] for name, each in self._parts.items()})
        if isinstance(key, (list, _Columns)) or hasattr(key, "tolist"):
            return self._with({name: self._parts[name] for name in key})
        return Series(self._parts[key], name=key)

    def __setitem__(self, key: Any, value: Any) -> None:
        names = key if isinstance(key, (list, _Columns)) else [key]
        made = as_array(value)
        for at, name in enumerate(names):
            part = made[:, at] if made.ndim == 2 else made
            self._parts[name] = part if part.ndim else _np().full(len(self), part)
        self.__dict__["_block"] = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._parts:
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "columns":
            self.__dict__["_parts"] = dict(zip(value, self._parts.values(), strict=False))
        elif name in self._parts:
            self[name] = value
        else:
            self.__dict__[name] = value

    def set_index(self, keys: Any, drop: bool = True, append: bool = False, inplace: bool = False, **_: Any) -> Any:
        names = [each for each in (keys if isinstance(keys, list) else [keys]) if isinstance(each, str)]
        made = self.drop(columns=names if drop else [], inplace=inplace)
        if made is not None and len(names) == 1 and names[0] in self._parts:
            made.__dict__["index"] = self._parts[names[0]]
        return made

    def drop(self, labels: Any = None, axis: Any = 0, columns: Any = None, inplace: bool = False, **_: Any) -> Any:
        gone = columns if columns is not None else labels if axis in (1, "columns") else []
        gone = gone if isinstance(gone, (list, tuple, _Columns)) else [gone]
        kept = {name: each for name, each in self._parts.items() if name not in gone}
        if not inplace:
            return self._with(kept)
        self.__dict__.update(_parts=kept, _block=None)
        return None

    def pop(self, name: Any) -> Any:
        made = self[name]
        self.drop(columns=[name], inplace=True)
        return made

    def astype(self, dtype: Any, **_: Any) -> Any:
        kinds = dtype if isinstance(dtype, dict) else dict.fromkeys(self._parts, dtype)
        parts = self._parts.items()
        return self._with({name: each.astype(kinds[name]) if name in kinds else each for name, each in parts})

    def copy(self, *_: Any, **__: Any) -> Any:
        return self._with({name: each.copy() for name, each in self._parts.items()})

    def items(self) -> Iterator[Any]:
        return ((name, self[name]) for name in self._names)

    def keys(self) -> Any:
        return self.columns

    def iterrows(self) -> Iterator[Any]:
        for row in range(len(self)):
            yield row, Series([each[row] for each in self._parts.values()], index=self._names)

    def isna(self) -> Any:
        return DataFrame({name: _np().zeros(len(self), bool) for name in self._parts})

    isnull = isna

    def apply(self, function: Any, axis: Any = 0, **_: Any) -> Any:
        if axis in (1, "columns"):
            return Series([function(row) for _, row in self.iterrows()])
        return self._with({name: function(self[name]) for name in self._names})

    def select_dtypes(self, include: Any = None, **_: Any) -> Any:
        return self._with({name: each for name, each in self._parts.items() if each.dtype != object})

    def rename(self, columns: Any = None, inplace: bool = False, **_: Any) -> Any:
        made = self._with({(columns or {}).get(name, name): each for name, each in self._parts.items()})
        self.__dict__.update({"_parts": made._parts, "_block": made._block} if inplace else {})
        return None if inplace else made

    def info(self, *_: Any, **__: Any) -> None:
        """Prints nothing."""

    def describe(self, *_: Any, **__: Any) -> Any:
        return self

    corr = describe


class _Columns(list[Any]):
    """The names of columns."""

    def tolist(self) -> list[Any]:
        return list(self)

    @property
    def values(self) -> Any:
        return _np().array(self, dtype=object)

    def drop(self, names: Any) -> Any:
        return _Columns(each for each in self if each not in ([names] if isinstance(names, str) else names))


_columns.Held.table = DataFrame
