"""Columns that a made-up table should have besides, by what an error says of names that it does not find."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.verify.child.columns import TEXTS
from tfmemlint.verify.plan.widths import TABLE
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.runs import Run

ONE = re.compile(r"Feature (\S+) is not in features dictionary|unable to find column \"(\S+)\"")
SEVERAL = re.compile(
    r"\[([^\]]*)\] not (?:found in axis|in index)|None of \[Index\(\[([^\]]*)\]"
    r"|expected but not found: \[([^\]]*)\]"
)
FLOAT = r"'(?:numpy\.)?float(?:\d\d)?'"
OF_TEXT = re.compile(
    rf"{FLOAT} object (?:is not (?:subscriptable|iterable)|has no attribute '(?:encode|decode|lower|upper|strip|rstrip"
    rf"|split|replace|translate|startswith|endswith|isdigit|title)')|argument of type {FLOAT} is not"
    rf"|expected string or bytes-like object, got {FLOAT}"
)
"""What is said of numbers that are to be texts."""

QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
KEY = re.compile(r"'([^']*)'")
MOST = 40
"""Columns that errors have asked for, at the most."""


def with_columns(pair: Pair, run: Run) -> Pair | None:
    """The programs with the columns in their tables that the error of a run asks for; None where it asks for none."""
    known = pair.before.columns
    if run.error is None or len(known) >= MOST or not any(TABLE.search(note) for note in run.notes):
        return None
    if OF_TEXT.search(run.error.message) and TEXTS not in known:
        return having(pair, (*known, TEXTS))
    asked = [name for name in _asked(run.error.type, run.error.message) if name not in known]
    if not asked:
        return None
    beside = [name for name in _named_with(pair.before.source, asked) if name not in (*known, *asked)]
    return having(pair, (*known, *dict.fromkeys((*asked, *beside))))


def having(pair: Pair, columns: tuple[str, ...]) -> Pair:
    """The programs with these columns in the tables that are made up."""
    after = None if pair.after is None else replace(pair.after, columns=columns)
    return replace(pair, before=replace(pair.before, columns=columns), after=after)


def _asked(kind: str, message: str) -> Iterator[str]:
    for found in ONE.finditer(message):
        yield next(filter(None, found.groups())).rstrip(".")
    for found in SEVERAL.finditer(message):
        yield from ("".join(each) for each in QUOTED.findall(next(filter(None, found.groups()), "")))
    alone = KEY.fullmatch(message.strip()) if kind == KeyError.__name__ else None
    if alone is not None:
        yield alone[1]


def _named_with(source: str, names: list[str]) -> Iterator[str]:
    """The texts that the program lists together with one of these: the columns that it goes on to ask for."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            texts = [each.value for each in node.elts if isinstance(each, ast.Constant)]
            if any(each in names for each in texts):
                yield from (each for each in texts if isinstance(each, str))
