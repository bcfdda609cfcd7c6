"""Columns of tables, with the methods that those of pandas have for making arrays of them; loaded by `main.py`."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Iterator
from typing import Any

COMPUTED = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
COMPARED = ("eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "xor")
COUNTED = ("sum", "mean", "std", "var", "min", "max", "median", "all", "any", "prod")


def _np() -> Any:
    return importlib.import_module("numpy")


def as_array(values: Any) -> Any:
    numpy = _np()
    made = numpy.asarray(getattr(values, "values", values))
    return made.astype(object) if made.dtype.kind in "US" else made


class _Places:
    """What `iloc` and `loc` give."""

    def __init__(self, data: Any, by_name: bool) -> None:
        self._data, self._by_name = data, by_name

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        rows = as_array(rows) if isinstance(rows, (list, Series)) else rows
        if not self._data.is_table:
            return self._data[rows] if not isinstance(rows, int) else self._data.values[rows]
        names = self._data._names
        chosen = columns if isinstance(columns, str) or not isinstance(columns, (int, slice, list, Series)) else None
        if chosen is not None:
            found = self._data[chosen]
            return found.values[rows] if isinstance(rows, int) else found[rows]
        if isinstance(columns, int) and not self._by_name:
            return self._data[names[columns]][rows]
        table = self._data[self._chosen(names, columns)]
        if isinstance(rows, int):
            return Series([table[name].values[rows] for name in table._names], index=table._names)
        return table._with({name: each[rows] for name, each in table._parts.items()})

    def _chosen(self, names: list[Any], columns: Any) -> list[Any]:
        if isinstance(columns, slice) and self._by_name and isinstance(columns.start or columns.stop, str):
            first = names.index(columns.start) if columns.start is not None else 0
            last = names.index(columns.stop) + 1 if columns.stop is not None else len(names)
            return names[first:last]
        if isinstance(columns, slice):
            return names[columns]
        return [each if isinstance(each, str) or self._by_name else names[each] for each in columns]

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, tuple) and isinstance(key[1], str):
            self._data[key[1]].values[as_array(key[0]) if isinstance(key[0], Series) else key[0]] = value
        elif not self._data.is_table:
            self._data.values[key] = value


class Held:
    """What columns and tables have in common."""

    values: Any
    index: Any
    is_table = False
    table: Any = None
    """The class of tables."""

    def _computed(self, values: Any) -> Any:
        """The same with these values in place of its own."""
        raise NotImplementedError

    @property
    def iloc(self) -> Any:
        return _Places(self, by_name=False)

    @property
    def loc(self) -> Any:
        return _Places(self, by_name=True)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def to_numpy(self, dtype: Any = None, **_: Any) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)

    def head(self, n: int = 5) -> Any:
        return self.iloc[:n]

    def tail(self, n: int = 5) -> Any:
        return self.iloc[-n:]

    def sample(self, n: Any = None, frac: Any = None, **_: Any) -> Any:
        count = len(self) if n is None and frac is None else int(n if n is not None else frac * len(self))
        return self.iloc[_np().random.default_rng(0).permutation(len(self))[:count]]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)

    def __len__(self) -> int:
        return int(self.shape[0])

    def _whole(self, *_: Any, inplace: bool = False, **__: Any) -> Any:
        """The same data, of which no value is missing, twice there or out of order."""
        return None if inplace else self

    dropna = drop_duplicates = sort_values = sort_index = reset_index = fillna = interpolate = ffill = bfill = _whole
    set_index = rename_axis = clip = _whole


class Series(Held):
    """A column."""

    def __init__(self, data: Any = (), index: Any = None, name: Any = None, dtype: Any = None) -> None:
        self.values, self.name = as_array(list(data.values()) if isinstance(data, dict) else data), name
        self.values = self.values if dtype is None else self.values.astype(dtype)
        self.index = index if index is not None else list(data) if isinstance(data, dict) else range(len(self.values))

    def _with(self, values: Any) -> Any:
        return Series(values, name=self.name)

    _computed = _with

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def size(self) -> int:
        return int(self.values.size)

    @property
    def str(self) -> Any:
        return _Texts(self)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.values[list(self.index).index(key)]
        found = self.values[as_array(key) if isinstance(key, (list, Series)) else key]
        return self._with(found) if getattr(found, "ndim", 0) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values[as_array(key) if isinstance(key, Series) else key] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def astype(self, dtype: Any, **_: Any) -> Any:
        return self._with(self.values.astype(object if dtype in (str, "str", "category") else dtype))

    def map(self, arg: Any, *_: Any, **__: Any) -> Any:
        get = (lambda each: arg.get(each, each)) if isinstance(arg, dict) else arg
        return self._with([get(each) for each in self.values])

    apply = replace = map

    def tolist(self) -> list[Any]:
        return list(self.values.tolist())

    to_list = tolist

    def unique(self) -> Any:
        return _np().unique(self.values)

    def nunique(self) -> int:
        return len(self.unique())

    def value_counts(self, **_: Any) -> Any:
        names, counts = _np().unique(self.values, return_counts=True)
        return Series(counts, index=list(names))

    def isna(self) -> Any:
        return self._with(_np().zeros(len(self.values), bool))

    isnull = isna

    def isin(self, values: Any) -> Any:
        return self._with(_np().isin(self.values, list(values)))

    def copy(self, *_: Any, **__: Any) -> Any:
        return self._with(self.values.copy())

    def to_frame(self, *_: Any) -> Any:
        return Held.table({self.name: self.values})


class _Texts:
    """The methods of texts, for each of a column."""

    def __init__(self, column: Series) -> None:
        self._column = column

    def __getattr__(self, name: str) -> Any:
        def called(*args: Any, **_: Any) -> Any:
            return Series([getattr(f"{each}", name)(*args) for each in self._column.values])

        return called


def _other(value: Any) -> Any:
    return value.values if isinstance(value, Held) else value


def _of_values(function: Any, turned: bool) -> Any:
    def computed(self: Any, other: Any = None) -> Any:
        given = (_other(other), self.values) if turned else (self.values, _other(other))
        found = function(*given)
        return self._computed(found)

    return computed


def _of_one(function: Any) -> Any:
    return lambda value, _: function(value)


def _counted(name: str) -> Any:
    def counted(self: Any, *_: Any, axis: Any = 0, **__: Any) -> Any:
        if isinstance(self, Series):
            return getattr(_np(), name)(self.values)
        return Series(getattr(_np(), name)(self.values, axis=axis), index=list(self) if axis == 0 else None)

    return counted


for _name in (*COMPUTED, *COMPARED):
    _function = getattr(operator, _name)
    setattr(Held, f"__{_name.rstrip('_')}__", _of_values(_function, False))
    if _name in COMPUTED:
        setattr(Held, f"__r{_name}__", _of_values(_function, True))
for _name in COUNTED:
    setattr(Held, _name, _counted(_name))
for _name in ("invert", "neg", "abs"):
    setattr(Held, f"__{_name}__", _of_values(_of_one(getattr(operator, _name)), False))
