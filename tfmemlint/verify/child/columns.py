"""What the code of a program says of the columns of its tables: names, and what is in them; loaded by `main.py`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

READERS = re.compile(r"(?:read|scan)_\w+|from_csv")
"""Functions that give a table."""

WITH_NAMES = frozenset({
    "by", "columns", "id_vars", "index", "labels", "left_on", "on", "parse_dates", "partition_by", "right_on", "subset",
    "usecols", "value_vars", "values", "x_col", "y_col",
})  # fmt: skip
"""Parameters of methods of tables that name columns."""

BY_NAME = frozenset({
    "col", "count_values", "drop", "drop_duplicates", "drop_nulls", "explode", "get", "get_column",
    "group_by", "groupby",
    "insert", "nunique", "partition_by", "pop", "select", "set_index", "sort", "sort_values", "value_counts",
})  # fmt: skip
"""Methods whose first arguments name columns."""

OF_FEATURES = re.compile(r"(?:numeric|categorical)_column\w*")
"""Functions that describe a column by its name, some with the values that it may have."""

OF_ALL = frozenset(("iloc", "index", "loc", "values"))
OF_TABLES = frozenset(("concat", "enumerate", "merge", "shuffle", "train_test_split"))
"""Functions that give tables, or their rows, of those that they are given."""

OF_TEXTS = frozenset({
    "encode", "endswith", "find", "isdigit", "lower", "replace", "rstrip", "split", "startswith", "strip", "title",
    "upper",
})  # fmt: skip
"""Methods of texts."""

NUMBERS_AS_TEXTS = ("2010", "2011", "2012", "2013")
"""Texts of which each part is a number."""

TEXTS = "*"
"""What is asked for where all columns that the code names are to be of texts."""

PICTURES = re.compile(r"(\.(?:bmp|gif|jpeg|jpg|png))[\"']")
OF_CLASSES = ["class_0", "class_1"]
"""What Keras takes for the classes of pictures that a table names: texts."""

TABLE = re.compile(r"(?:.*_)?(?:df|dataframe|data_?frame|table|metadata|meta)\d?|(?:df|table)_.*", re.IGNORECASE)
"""Names that tables mostly have."""


class Columns:
    """The columns that a program names, with what tells of their values: `attributes` are the names that the tables of
    the library itself have."""

    def __init__(self, source: str, attributes: Iterable[str], asked: Iterable[str] = ()) -> None:
        """With the names that an earlier run of the program has `asked` for in vain."""
        self._nodes = list(ast.walk(ast.parse(source)))
        self._own = OF_ALL.union(attributes)
        self._tables = self._found()
        asked = list(asked)
        self.names: list[Any] = list(dict.fromkeys((*self._named(), *(each for each in asked if each != TEXTS))))
        """In the order in which the code has them."""
        self.all = [name for names in self._renamed() for name in names]
        """All columns, where the code gives them names."""
        self.words: dict[str, list[Any]] = {}
        """The values that a column is compared with, and the keys that it is mapped by."""
        self.texts: set[str] = {*self.names} if TEXTS in asked else set()
        """Columns of texts, by the methods that are called on them, or all of them where an error has said so."""
        self.ending = next(iter(PICTURES.findall(source)), ".jpg")
        """What the names of pictures end with."""
        self.times: set[str] = set()
        for node in self._nodes:
            self._look(node)

    # -- tables ------------------------------------------------------------------------------------------------------

    def _found(self) -> frozenset[str]:
        """The names of tables and of their rows."""
        found: set[str] = set()
        while True:
            before = len(found)
            for node in self._nodes:
                if isinstance(node, ast.Assign) and self._is_table(node.value, found):
                    found |= {name for target in node.targets for name in _names(target)}
                elif isinstance(node, ast.For) and self._is_table(node.iter, found):
                    found |= set(_names(node.target))
                elif isinstance(node, ast.Call) and self._is_over_rows(node, found):
                    inner = [each for each in node.args if isinstance(each, ast.Lambda)]
                    found |= {arg.arg for each in inner for arg in each.args.args}
                    found |= self._parameters([each.id for each in node.args if isinstance(each, ast.Name)])
            if len(found) == before:
                return frozenset(found)

    def _functions(self, names: Sequence[str]) -> list[ast.FunctionDef]:
        return [node for node in self._nodes if isinstance(node, ast.FunctionDef) and node.name in names]

    def _parameters(self, functions: Sequence[str]) -> set[str]:
        """The first parameters of functions with these names."""
        return {node.args.args[0].arg for node in self._functions(functions) if node.args.args}

    def _is_over_rows(self, node: ast.Call, found: set[str]) -> bool:
        function = node.func
        return (
            isinstance(function, ast.Attribute) and function.attr == "apply" and self._is_table(function.value, found)
        )

    def _is_table(self, node: ast.expr | None, found: set[str] | frozenset[str]) -> bool:
        """Whether an expression is a table, or what a method of one gives; columns are not told apart."""
        while node is not None:
            if isinstance(node, ast.Name):
                return node.id in found or TABLE.fullmatch(node.id) is not None
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if READERS.fullmatch(name):
                    return True
                if name in OF_TABLES or isinstance(node.func, ast.Name):
                    given = [*node.args, *(each for arg in node.args for each in getattr(arg, "elts", ()))]
                    return name in OF_TABLES and any(self._is_table(each, found) for each in given)
                node = node.func
            elif isinstance(node, ast.Attribute):
                if TABLE.fullmatch(node.attr):
                    return True
                if node.attr not in self._own or node.attr in ("values", "shape", "columns", "index", "dtypes"):
                    return False  # one column, or no table
                node = node.value
            elif isinstance(node, ast.Subscript):
                if _text(node.slice) is not None:
                    return False  # one column
                node = node.value
            else:
                return False
        return False

    # -- names -------------------------------------------------------------------------------------------------------

    def _renamed(self) -> Iterator[list[Any]]:
        for node in self._nodes:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "attr", "") == "columns":
                names = list(_texts(node.value))
                if names:
                    yield names
                    return

    def _named(self) -> Iterator[Any]:
        """The columns that are named: `table["price"]`, `table[["a", "b"]]`, `drop(columns=["c"])`, `table.price`."""
        called = {id(node.func) for node in self._nodes if isinstance(node, ast.Call)}
        for node in self._nodes:
            if isinstance(node, ast.Subscript):
                yield from _texts(node.slice)
            elif isinstance(node, ast.Attribute) and id(node) not in called:
                if self.is_column(node):
                    yield node.attr
            elif isinstance(node, ast.Call):
                yield from self._in_call(node)

    def _in_call(self, node: ast.Call) -> Iterator[Any]:
        name = getattr(node.func, "attr", "")
        if name in BY_NAME:
            for arg in node.args:
                yield from _texts(arg)
        if OF_FEATURES.fullmatch(name) and node.args:
            yield from _texts(node.args[0])
        if name == "rename":
            maps = [each.value for each in node.keywords if each.arg == "columns"] + node.args[:1]
            keys = [key for each in maps if isinstance(each, ast.Dict) for key in each.keys if key is not None]
            yield from _texts(ast.List(keys))
        for keyword in node.keywords:
            if keyword.arg in WITH_NAMES:
                yield from _texts(keyword.value)

    def is_column(self, node: ast.Attribute) -> bool:
        """Whether an attribute is a column of a table, or a field of its rows."""
        if node.attr in self._own or node.attr.startswith("_"):
            return False
        return self._is_table(node.value, self._tables)

    # -- values ------------------------------------------------------------------------------------------------------

    def _column(self, node: ast.expr) -> str | None:
        """The name of the column that an expression is."""
        if isinstance(node, ast.Subscript):
            return _text(node.slice)
        if isinstance(node, ast.Attribute) and self.is_column(node):
            return node.attr
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "col" and node.args:
            return _text(node.args[0])
        return None

    def _look(self, node: ast.AST) -> None:
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In)):
            self._equal(self._column(node.left), node.comparators[0])
        elif isinstance(node, ast.Attribute) and node.attr in ("str", "dt"):
            column = self._column(node.value)
            if column is not None:
                (self.texts if node.attr == "str" else self.times).add(column)
        elif isinstance(node, ast.Call):
            self._look_at_call(node)

    def _look_at_call(self, node: ast.Call) -> None:
        name, first = getattr(node.func, "attr", ""), node.args[0] if node.args else None
        given = {each.arg: each.value for each in node.keywords} if name == "flow_from_dataframe" else {}
        column = _text(given["y_col"]) if "y_col" in given else None
        if column is not None and _text(given.get("class_mode", ast.Constant(""))) not in ("raw", "multi_output"):
            self.words.setdefault(column, OF_CLASSES)
        if first is None:
            return
        if name == "to_datetime" and (column := self._column(first)) is not None:
            self.times.add(column)
        if OF_FEATURES.fullmatch(name) and len(node.args) > 1:
            self._equal(_text(first), node.args[1])
        inner = self._column(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if inner is None:
            return
        if name in ("isin", "eq", "is_in"):
            self._equal(inner, first)
        elif name in ("map", "replace") and isinstance(first, ast.Dict):
            self._equal(inner, ast.List([key for key in first.keys if key is not None]))
        elif name in ("split", "lower", "strip", "encode"):
            self.texts.add(inner)
        elif name in ("apply", "map"):
            self._look_at_each(inner, first)

    def _look_at_each(self, column: str, function: ast.expr) -> None:
        """A function that is called with each value of a column: texts, by what it does with them, or numbers as
        texts."""
        named = function.id if isinstance(function, ast.Name) else None
        known = [function] if isinstance(function, ast.Lambda) else self._functions([named] if named else [])
        for each in (each for each in known if each.args.args):
            word, inside = each.args.args[0].arg, list(ast.walk(each))
            if not any(_is_text_here(node, word) for node in inside):
                continue
            makers = (node for node in inside if isinstance(node, ast.Call) and _called(node) in ("int", "float"))
            if any(isinstance(name, ast.Name) and name.id == word for node in makers for name in ast.walk(node)):
                self.words.setdefault(column, list(NUMBERS_AS_TEXTS))
            else:
                self.texts.add(column)

    def _equal(self, column: str | None, other: ast.expr) -> None:
        items = other.elts if isinstance(other, (ast.List, ast.Tuple, ast.Set)) else [other]
        words = [each.value for each in items if isinstance(each, ast.Constant) and isinstance(each.value, (int, str))]
        if column is not None and words and not any(isinstance(each, bool) for each in words):
            known = self.words.setdefault(column, [])
            known += [each for each in words if each not in known]


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "id", getattr(node.func, "attr", "")))


def _is_text_here(node: ast.AST, word: str) -> bool:
    """Whether a part of a text is taken of a name, or a method of texts."""
    inner = node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None
    is_it = isinstance(inner, ast.Name) and inner.id == word
    return is_it and (isinstance(node, ast.Subscript) or getattr(node, "attr", "") in OF_TEXTS)


def _names(target: ast.AST) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.List, ast.Tuple)):
        for each in target.elts:
            yield from _names(each)


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _texts(node: ast.AST) -> Iterator[str]:
    if (text := _text(node)) is not None:
        yield text
    elif isinstance(node, (ast.List, ast.Tuple)):
        for item in node.elts:
            yield from _texts(item)
