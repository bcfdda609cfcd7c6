"""What one-hot labels weigh, and whether that is little beside the data to which they belong."""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.api import Array, Call, Value, elements, limits

SMALL_LABELS = 4 << 20
"""Bytes of all labels that are lost beside the data they belong to: 10 000 of 50 classes as float64."""

LABELS_OF_IMAGES = 64 << 20
"""Bytes of labels that are no burden beside data of ten times as many: 50 000 of the 100 classes of CIFAR-100 take 19
to 38 MiB, its pictures 586 MiB as float32."""


def bytes_of(rows: Array, labels: Value, classes: int | None) -> int | None:
    """Bytes of the rows, also where the call that makes them counts the classes of a bundled data set."""
    bundled = isinstance(labels, Array) and labels.origin is not None and labels.origin.method == "load_data"
    counted = bundled and rows.shape is not None and rows.shape[-1:] == (None,)
    return replace(rows, shape=(*(rows.shape or ())[:-1], classes)).bytes if counted else rows.bytes


def is_small(fit: Call, labels: Array, size: int | None) -> bool:
    """Whether labels are known to take few bytes, or few beside the data that `fit` is given with as many rows."""
    if size is None or size <= SMALL_LABELS:
        return size is not None
    rows = labels.shape[:1] if labels.shape else None
    given = [leaf for name in ("x", "validation_data") for leaf in elements(fit.value_of(name))]
    beside = [leaf.bytes for leaf in given if isinstance(leaf, Array) and leaf.shape and leaf.shape[:1] == rows]
    share = any(each is not None and size <= limits.LEAST_SHARE * each for each in beside)
    return share and size <= LABELS_OF_IMAGES
