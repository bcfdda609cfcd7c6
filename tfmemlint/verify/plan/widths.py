"""How many columns a made-up table should have, by what an error says of the arrays that are made of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

TABLE = re.compile(r"a table of (\d+) rows was made up, with (\d+) columns")
TOTAL = re.compile(
    r"cannot reshape array of size (?P<size>\d+) into shape (?P<shape>[(\[][\d, ]+[)\]])"
    r"|a tensor with (?P<values>\d+) values, but the requested shape (?:has|requires a multiple(?P<of> of)) "
    r"(?P<wanted>\d+)"
)
LAST = re.compile(
    r"expected axis -1 of input shape to have value (?P<value>\d+).*?[(\[](?:None|\d+), (?P<has>\d+)[)\]]"
    r"|expected shape=\((?:None|\d+), (?P<named>\d+)\), found shape=\((?:None|\d+), (?P<found>\d+)\)",
    re.DOTALL,
)
ASIDE = 3
"""Columns of a table, at the most, that are not part of what is made of it: labels, an index."""

MOST = 1 << 16
"""Columns that a table is given at the most: the numbers of a small picture."""


def told(message: str, notes: Sequence[str]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """A number of columns that a table was made up with, and the one that fits, each as the sizes of a row."""
    tables = {tuple(map(int, each)) for note in notes for each in TABLE.findall(note)}
    for rows, columns in tables:
        for has, wanted in (*_of_all(message, rows, columns), *_of_last(message)):
            if 0 <= columns - has <= ASIDE and has != wanted and columns + wanted - has <= MOST:
                yield (columns,), (columns + wanted - has,)


def _of_all(message: str, rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """The numbers that a row has, and those that it should have, where a table, a batch or a row of it is reshaped."""
    found = TOTAL.search(message)
    if found is None:
        return
    has = int(found["size"] or found["values"])
    sizes = [int(each) for each in re.findall(r"\d+", found["shape"] or found["wanted"])]
    if found["of"]:
        yield from ((row, sizes[0]) for row in (columns - 1, columns, columns - 2) if row > 0 and has % row == 0)
    elif has % rows:
        yield has, math.prod(sizes)
    elif math.prod(sizes) % rows == 0 and (sizes[0] == rows or found["wanted"]):
        yield has // rows, math.prod(sizes) // rows
    else:
        yield has // rows, math.prod(sizes)


def _of_last(message: str) -> Iterator[tuple[int, int]]:
    """The same, where a layer is given too many columns or too few."""
    found = LAST.search(message)
    if found is not None:
        yield int(found["has"] or found["found"]), int(found["value"] or found["named"])
