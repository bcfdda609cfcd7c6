"""Which integer arrays are one picture, a sample or a column: little, though their numbers of rows are not known; and
which are rows that a list collects."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import ITEM_BYTES, Array
from tfmemlint.query.limits import FEW_COLUMNS, FEW_ROWS
from tfmemlint.query.repetition.repeats import repetitions

if TYPE_CHECKING:
    from tfmemlint.model.file import File

SAMPLE = 8 << 20
"""Bytes as float64 of a thousand pictures of digits (6 MiB), which people take to try something, and of one photo of
512 x 512."""


def is_picture_elsewhere(file: File, data: Array) -> bool:
    """Whether an array is one picture of unknown size that another module reads from a file."""
    origin = data.origin
    if origin is None or data.size is not None or file.is_own(origin.node):
        return False
    return knowledge.in_group(origin.name, "reads_picture") and len(data.shape or ()) <= 3


def is_small_picture(data: Array) -> bool:
    """Whether an array is one picture that is read from a file, of a size as models take it."""
    read = data.origin is not None and knowledge.in_group(data.origin.name, "reads_picture")
    alone = data.shape is not None and math.prod(size or 0 for size in data.shape[:-3]) == 1
    return read and alone and data.size is not None and data.size * ITEM_BYTES["float64"] < SAMPLE


def is_sample(data: Array) -> bool:
    """Whether an array is a constant slice of a bundled data set, of a few small rows."""
    loaded = data.origin is not None and (data.origin.name or "").endswith(".load_data")
    if not loaded or data.size is None or not data.shape or (data.shape[0] or 0) > FEW_ROWS:
        return False
    return data.size * ITEM_BYTES["float64"] < SAMPLE


def is_short_column(data: Array) -> bool:
    """Whether an array is one number for each row of a table of unknown length that has a few columns, as the heights
    of boxes are."""
    made = data.origin.value if data.origin is not None else None
    table = made.shape if isinstance(made, Array) and data.size is None and len(data.shape or ()) == 1 else None
    return table is not None and len(table) == 2 and 0 < (table[1] or 0) <= FEW_COLUMNS


def rows_collected(file: File, node: cst.BaseExpression, row: Array) -> Array | None:
    """The array whose rows are scaled one by one and collected in a list: `[row / 255 for row in images]`."""
    places: list[cst.BaseExpression] = [node]
    function, above = file.contexts.function(node), file.tree.parent(node)
    if isinstance(above, cst.Return) and function is not None:
        places = [call.node for call in file.call_graph.callers(function) or ()]
    for place in places:
        again = next(repetitions(file, place, calls=0), None)
        over = again.over if again is not None else None
        whole = isinstance(over, Array) and over.shape is not None and over.shape[1:] == row.shape
        if again is not None and whole and isinstance(over, Array) and over.origin is row.origin:
            put = file.tree.parent(file.tree.parent(place) or place)
            appended = isinstance(put, cst.Call) and file.call(put).method == "append"
            if appended or (isinstance(again.place, cst.ListComp) and again.place.elt is place):
                return over
    return None
