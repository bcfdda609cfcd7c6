"""How much all elements of a pipeline take, and which pipelines are small."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst
from tfmemlint_rules._elements import is_label, is_name, is_number
from tfmemlint_rules._lengths import TINY
from tfmemlint_rules._names import said

from tfmemlint.api import Array, Dataset, Function, Iterator, Sequence, Step, Value, elements, integer, structure_bytes
from tfmemlint.model.mapped import body, function_of
from tfmemlint.query.pipelines import FILE_NAME_SOURCES

FEW = 100
"""Elements that `take` may leave without notice."""

A_FEW = 1 << 20
"""Bytes up to which the few elements that `take` leaves are no burden."""

PEEK = 8
"""Elements that `take` may leave however large they are: somebody wants to look at them."""

WRAPPERS = frozenset({"as_numpy_iterator", "enumerate", "iter", "tqdm", "reversed"})


def iterated(value: Value) -> Dataset | None:
    """The pipeline that is run through, wrappers taken off; of several that it may be the smallest, None if it may be
    anything else."""
    options = list(_unwrapped(value))
    found = [option for option in options if isinstance(option, Dataset) and option.source is not None]
    if not found or len(found) < len(options):
        return None
    return min(found, key=lambda ds: (not small(ds), weight(ds) or 0))


def _unwrapped(value: Value) -> Iterable[Value]:
    """All that a value may be, without what runs through it."""
    for option in value.options:
        if isinstance(option, Iterator) and option.function in WRAPPERS:
            yield from _unwrapped(option.of)
        else:
            yield option


def small(ds: Dataset, peeks: bool = True) -> bool:
    """Whether all elements together are certainly, or by what they are, no burden: a few, names, labels."""
    if ds.source in FILE_NAME_SOURCES and not any(step.name in ("map", "interleave", "flat_map") for step in ds.steps):
        return True
    size, few = weight(ds), peeks and any(_leaves_few(step) for step in ds.steps)
    if size is not None:
        return size <= (A_FEW if few else TINY) or (peeks and any(_leaves_few(step, PEEK) for step in ds.steps))
    if _toy(ds) or few or any(_labels(step) for step in ds.steps):
        return True
    if ds.source == "tf.data.TFRecordDataset" and "map" not in ds.names():
        return False
    return _names(ds) or all(
        isinstance(leaf, Array) and (is_number(leaf, ds) or leaf.dtype == "string") for leaf in elements(ds.element)
    )


def weight(ds: Dataset) -> int | None:
    """Bytes of all elements, where their number and size are known."""
    size = structure_bytes(ds.element)
    return size * ds.count if size is not None and ds.count is not None else None


def _toy(ds: Dataset) -> bool:
    """Whether the source has a handful of elements."""
    made = ds.call.value if ds.call is not None else None
    count = made.count if isinstance(made, Dataset) else None
    if ds.source == "tf.keras.utils.timeseries_dataset_from_array" and ds.call is not None:
        data = ds.call.value_of("data")
        if isinstance(data, Sequence):
            return not data.open
        count = data.shape[0] if isinstance(data, Array) and data.shape else None
    return count is not None and count <= FEW and ds.source != "tf.data.Dataset.from_tensors"


def _leaves_few(step: Step, few: int | None = None) -> bool:
    """Whether a step leaves a part, or certainly no more than a `few`."""
    if step.name not in ("take", "shard") or step.call is None:
        return False
    count = integer(step.call.value_of("count"))
    if few is not None:
        return step.name == "take" and count is not None and 0 <= count <= few
    return step.name == "shard" or count is None or 0 <= count <= FEW


def _labels(step: Step) -> bool:
    """Whether a map keeps only the last part of each element: the labels."""
    value = function_of(step) if step.name == "map" else None
    node = value.node if isinstance(value, Function) else None
    if not isinstance(node, cst.Lambda):
        return False
    names = [p.name.value for p in node.params.params]
    return (len(names) > 1 and is_name(node.body, names[-1])) or is_label(node.body)


def _names(ds: Dataset) -> bool:
    """Whether the elements are file names that a later step would open: nothing here has opened them."""
    if said(ds) and not {"map", "interleave", "flat_map", "apply"}.intersection(ds.names()):
        return True
    return ds.source == "tf.data.TextLineDataset" and not any(
        body(step).decodes for step in ds.steps if step.name == "map"
    )
