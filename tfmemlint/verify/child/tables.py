"""Stands in for tables that a program reads and that are not there: rows of the columns that its code names; loaded by
`main.py`."""

from __future__ import annotations

import functools
import importlib
import os
import re
import types
from collections.abc import Callable, Sequence
from typing import Any

Note = Callable[[str], None]

ROWS, ROWS_OF_MANY, COLUMNS = 1000, 32_000, 10
OF_PANDAS = (
    *("read_csv", "read_excel", "read_feather", "read_fwf", "read_hdf", "read_json", "read_parquet", "read_pickle"),
    *("read_sql", "read_sql_query", "read_sql_table", "read_table"),
)
OF_POLARS = (
    *("read_csv", "read_excel", "read_ipc", "read_json", "read_ndjson", "read_parquet"),
    *("scan_csv", "scan_ipc", "scan_ndjson", "scan_parquet"),
)
OF_TEXTS = ("caption", "comment", "description", "message", "review", "sentence", "summary", "text", "title", "tweet")
OF_FILES = ("file", "image", "img", "path")
FILES = 64
"""Files that a made-up folder has, by their numbers (see `files.py`)."""

OF_KEYS = re.compile(r"(?:^|[_\W])(?:id|ID|Id|idx|index|isbn|ISBN|item|movie|product|user)$|[a-z]I[dD]$")
"""Names of columns by which tables are joined, and rows told apart."""

DIGITS, PIXELS = 10, 784
"""What tables of digits have, wherever they are from: a label, and the numbers of a picture."""

OF_TIMES = ("date", "time")
OF_LABELS = ("label", "class", "target", "category")
PLACES = re.compile(r"\.iloc\s*\[[^,\]]*,\s*\[?([\d\s:,]*)")
"""The columns that are taken of a table by their places."""

TAKEN = re.compile(r"\.(?:skip|take|shuffle)\(\s*(?:\w+\s*=\s*)?(\d[\d_]*)")
NUMBERED = re.compile(r"^[ \t]*(\w+)\s*=\s*(\d[\d_]*)\s*(?:#.*)?$", re.MULTILINE)
BEHIND = re.compile(r"\[\s*(\w+)\s*:\s*\]")
"""Names of numbers, and what rows are taken from on: `series[split:]`."""

MOST_COLUMNS, MOST_ROWS, MOST_SHOWN = 1000, 100_000, 300
AS_ARRAY = (".iloc[", ".values", ".to_numpy(", ".drop(", ".pop(", ".select_dtypes(")
"""What code has that takes all columns of a table, or all but those that it names."""


class Tables:
    """The made-up tables of one run, for a program with this source; `find` gives where a file lies, None for one that
    is not there."""

    def __init__(
        self,
        source: str,
        asked: Callable[[], bool],
        find: Callable[[str], str | None],
        root: str,
        note: Note,
        sizes: Any,
        columns: Callable[..., Any],
        many: bool = False,
    ) -> None:
        """`asked` tells whether the program's own files ask; `root` is where files lie that were made up, whose names a
        program found by listing a folder; `sizes` gives numbers of rows and of columns that fit; `columns` reads what
        the code says of columns; `many` asks for more rows."""
        self._source, self._asked, self._find, self._root, self._note = source, asked, find, root, note
        self._sizes, self._rows = sizes, sizes.rows(max(ROWS_OF_MANY if many else ROWS, _most_rows(source)))
        self._columns = functools.lru_cache(lambda kind: columns(source, dir(kind)))
        self._kinds: dict[str, Any] = {}

    def patch(self, pandas: types.ModuleType) -> None:
        """Put this in front of the functions of pandas."""
        for name in OF_PANDAS:
            if name in vars(pandas):
                setattr(pandas, name, self._made_up(getattr(pandas, name), self._of_pandas))
        kind: Any = pandas.Series
        kind.map = self._mapped(kind.map)

    def patch_polars(self, polars: types.ModuleType) -> None:
        """Put this in front of the functions of Polars."""
        for name in OF_POLARS:
            if name in vars(polars):
                setattr(polars, name, self._made_up(getattr(polars, name), self._of_polars))

    def _made_up(self, function: Any, make: Callable[..., Any]) -> Any:
        of_query = "sql" in function.__name__

        @functools.wraps(function)
        def read(source: Any = None, *args: Any, **options: Any) -> Any:
            path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
            if of_query and (isinstance(source, str) or not args):
                path = "what a database is asked for"
            listed = path is not None and path.startswith(self._root)
            if path is None or (not listed and (found := self._find(path)) is not None):
                given = (source if path is None else found,) if source is not None else ()
                return function(*given, *args, **options)
            if listed:
                path = f"{os.path.basename(os.path.dirname(path))}/*"
            return make(path, function.__name__, options)

        return read

    def _mapped(self, function: Any) -> Any:
        """The method that maps values, which knows the keys only as the program runs: made-up ones are no keys."""

        @functools.wraps(function)
        def mapped(series: Any, arg: Any = None, *args: Any, **options: Any) -> Any:
            found = function(series, arg, *args, **options)
            if not self._kinds or not isinstance(arg, dict) or not arg or not len(found) or not found.isna().all():
                return found
            values = list(arg.values())
            self._note("values of a made-up table are none of the keys that they are mapped by: others were taken")
            return type(series)([values[row % len(values)] for row in range(len(found))], index=series.index)

        return mapped

    # -- columns -----------------------------------------------------------------------------------------------------

    def _made(self, path: str, known: Any, given: Sequence[Any] | None, whole: bool) -> tuple[list[Any], int]:
        """The columns of a table and their number of rows, which are noted. `given` are those that the call itself
        names, `whole` says that these are all."""
        named = list(dict.fromkeys([*(given or ()), *([] if whole else known.all or known.names)]))
        if "mnist" in os.path.basename(path).lower() and not (given or known.all):
            known.words.setdefault(OF_LABELS[0], list(range(DIGITS)))
            named = [OF_LABELS[0], *(f"pixel{number}" for number in range(PIXELS))]
        shown, count = ", ".join(map(str, named)), max(COLUMNS, _widest(self._source))
        shown = f"{shown[:MOST_SHOWN]}..." if len(shown) > MOST_SHOWN else shown
        if not named or (not whole and not known.all and any(each in self._source for each in AS_ARRAY)):
            named += [f"column_{number}" for number in range(max(count - len(named), 2))]
        wanted = self._sizes.columns(len(named))
        if not whole or isinstance(given, range):
            named += [f"column_{len(named) + number}" for number in range(wanted - len(named))]
        size = f"a table of {self._rows} rows was made up, with {len(named)} columns"
        self._note(": ".join(filter(None, (f"{path} is not there: {size}", shown))))
        return named, self._rows

    def _of_pandas(self, path: str, reader: str, options: dict[str, Any]) -> Any:
        pandas = importlib.import_module("pandas")
        known = self._columns(pandas.DataFrame)
        names, used, parsed = (options.get(each) for each in ("names", "usecols", "parse_dates"))
        if names is None and isinstance(used, (list, tuple)) and used and isinstance(used[0], str):
            names = used
        times = known.times | {each for each in (parsed if isinstance(parsed, list) else ()) if isinstance(each, str)}
        label = None
        if names is None and not known.all and options.get("header", "") is None:
            label = _label(path)
            names = range(COLUMNS if label is None else 1)
        columns, rows = self._made(path, known, names, whole=names is not None)
        rows = min(rows, options.get("nrows") or rows)
        made = self._kind(pandas)({name: column(label or name, rows, known, times) for name in columns})
        index = options.get("index_col")
        made = made.set_index(index) if isinstance(index, (str, list)) and set(_listed(index)) <= set(made) else made
        if options.get("squeeze"):  # as older versions of pandas did
            return pandas.Series(made.iloc[:, -1])
        size = options.get("chunksize")
        return made if not size else iter([made[at : at + size] for at in range(0, rows, size)])

    def _of_polars(self, path: str, reader: str, options: dict[str, Any]) -> Any:
        polars = importlib.import_module("polars")
        known = self._columns(polars.DataFrame)
        columns, rows = self._made(path, known, options.get("new_columns") or options.get("columns"), whole=False)
        times = known.times if options.get("try_parse_dates") else frozenset()
        values = {str(name): column(name, rows, known, times) for name in columns}
        made = polars.DataFrame({name: list(each) if isinstance(each, list) else each for name, each in values.items()})
        return made.lazy() if reader.startswith("scan") else made

    def _kind(self, pandas: types.ModuleType) -> Any:
        """The class of tables that have any further column that the program's own files ask for by its name."""
        if "pandas" not in self._kinds:
            self._kinds["pandas"] = _open_ended(pandas, self._further, self._note)
        return self._kinds["pandas"]

    def _further(self, table: Any, name: Any) -> Any:
        """One more column of a table; None where there shall be none."""
        if not self._asked() or not isinstance(name, str) or name.startswith("_"):
            return None
        known = self._columns(importlib.import_module("pandas").DataFrame)
        self._note(f"{name} of a table was made up, as the code asks for it")
        return column(name, len(table), known, known.times)


def _open_ended(pandas: Any, further: Callable[[Any, Any], Any], note: Note) -> Any:
    numpy = importlib.import_module("numpy")

    def complete(table: Any, key: Any) -> None:
        for name in _listed(key) if isinstance(key, (str, list, slice)) else ():
            if isinstance(name, str) and name not in table.columns:
                values = further(table, name)
                if values is not None:
                    table[name] = values

    class ByLabel(type(pandas.DataFrame().loc)):  # type: ignore[misc]
        """Rows and columns by their names: `table.loc[:, names]`."""

        def __getitem__(self, key: Any) -> Any:
            if isinstance(key, tuple) and len(key) == 2:
                complete(self.obj, key[1])
            return super().__getitem__(key)

    class MadeUpTable(pandas.DataFrame):  # type: ignore[misc]
        """A table that has what is asked of it; one that is made of it has, too."""

        @property
        def _constructor(self) -> Any:
            return MadeUpTable

        @property
        def loc(self) -> Any:
            return ByLabel("loc", self)

        def drop(self, *args: Any, **options: Any) -> Any:
            try:
                return super().drop(*args, **options)
            except KeyError:
                note("columns that a made-up table does not have were not dropped")
                return super().drop(*args, **{**options, "errors": "ignore"})

        def __getitem__(self, key: Any) -> Any:
            complete(self, key)
            flags = key if str(getattr(key, "dtype", "")) == "bool" and len(key) == len(self) else None
            if flags is not None and len(self) and not flags.any():
                note("no row of a made-up table is as the code wants it: half of them were taken")
                key = flags | (numpy.arange(len(self)) % 2 == 0)
            return super().__getitem__(key)

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                values = further(self, name) if not name.startswith("_") else None
                if values is None:
                    raise
                self[name] = values
                return self[name]

    return MadeUpTable


def _most_rows(source: str) -> int:
    """The number of rows that steps of pipelines and slices ask for: `skip(46_797)` and `series[split:]` leave nothing
    of fewer."""
    given = dict(NUMBERED.findall(source))
    words = [*TAKEN.findall(source), *(given.get(word, word) for word in BEHIND.findall(source))]
    asked = (int(word.replace("_", "")) for word in words if word[0].isdigit())
    return max((2 * number for number in asked if 2 * number <= MOST_ROWS), default=0)


def _widest(source: str) -> int:
    """The number of columns that places in the code ask for: `table.iloc[:, [11]]` asks for twelve."""
    found = (int(number) for inside in PLACES.findall(source) for number in re.findall(r"\d+", inside))
    return max((number + 1 for number in found if number < MOST_COLUMNS), default=0)


def _label(path: str) -> str | None:
    """The word by which the name of a file says that there are labels in it and nothing else: `y_train.txt`."""
    words = re.findall(r"[a-z]+", os.path.splitext(os.path.basename(path))[0].lower())
    found = next((word for word in words if word in OF_LABELS or word.removesuffix("s") in OF_LABELS), None)
    return OF_LABELS[0] if found is None and words[:1] == ["y"] else found


def _listed(names: Any) -> list[Any]:
    if isinstance(names, slice):
        return [names.start, names.stop]
    return list(names) if isinstance(names, list) else [names]


def column(name: Any, rows: int, known: Any, times: Any = frozenset()) -> Any:
    """Values of a column, by what the code does with it and by its name."""
    numpy, pandas = importlib.import_module("numpy"), importlib.import_module("pandas")
    draw, word = numpy.random.default_rng(0), str(name).lower()
    hours = pandas.date_range("2020-01-01", periods=rows, freq="h") if rows else []
    if name in known.words:
        words = _with_others(known.words[name])
        return [words[row % len(words)] for row in range(rows)]
    if name in times:
        return hours
    if any(each in word for each in OF_TIMES):
        return [f"{hour:%Y-%m-%d %H:%M:%S}" for hour in hours]
    if any(each in word for each in OF_FILES):
        return [f"{row % FILES:03}{known.ending}" for row in range(rows)]
    if name in known.texts or any(each in word for each in OF_TEXTS):
        return [f"some words of text {row}" for row in range(rows)]
    if any(each in word for each in OF_LABELS):
        return draw.integers(0, 2, rows)
    if OF_KEYS.search(str(name)):
        return numpy.arange(rows)
    return draw.random(rows)


def _with_others(words: Sequence[Any]) -> list[Any]:
    """Values that a column is compared with: beside a single one stands another."""
    if len(words) > 1:
        return [each if isinstance(words[0], type(each)) else type(words[0])(each) for each in words]
    one = words[0]
    return [one, "text" if isinstance(one, str) else one - 1 if one > 0 else one + 1]
