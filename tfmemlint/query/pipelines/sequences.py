"""Batches that are examples themselves: sequences of numbers, characters, records or pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Array, Const, Mapping, Sequence, Step
from tfmemlint.syntax.scopes import dotted

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

OF_SEQUENCES = re.compile(r"(?i)(?:^|[_.])(?:seq|sequence|time_?steps?|window|frames?)(?:_|$|len|size)")
"""Names of the lengths of sequences."""


def makes_sequences(batch: Call, after: Iterable[Step]) -> bool:
    """Whether a `batch` may make examples rather than batches of them: sequences of numbers, characters or records.

    It may where full groups are asked for or a map follows, unless the elements are known to be pairs or arrays of
    their own. Rows of numbers in full groups are sequences, single numbers in groups that nothing takes apart are not.
    Whatever the elements are, it does where the name of its size says so and a map follows.
    """
    full = batch.arg("drop_remainder") is not None and batch.value_of("drop_remainder") != Const(False)
    mapped = any(step.name in ("map", "filter") for step in after)
    size = batch.arg("batch_size")
    if mapped and size is not None and OF_SEQUENCES.search(dotted(size.expression) or ""):
        return True
    datasets = batch.datasets()
    leaves = [leaf for ds in datasets for leaf in elements(ds.element)]
    if len(leaves) == 1 and isinstance(leaves[0], Array) and leaves[0].shape == ():
        return full or mapped
    if all(isinstance(ds.element, (Sequence, Mapping)) for ds in datasets):
        return False
    shapes = [leaf.shape for leaf in leaves if isinstance(leaf, Array) and leaf.shape]
    if full and len(shapes) == len(leaves) == 1 and len(shapes[0]) == 1:
        return True
    known = bool(leaves) and len(shapes) == len(leaves)
    return not known and (full or mapped)
