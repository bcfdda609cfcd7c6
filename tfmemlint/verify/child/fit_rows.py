"""Rows of what is given to Keras' training; loaded by `main.py`."""

from __future__ import annotations

from typing import Any


def first(data: Any, rows: int) -> Any:
    """The first rows of what is given to `fit`."""
    if isinstance(data, (list, tuple)):
        return [first(each, rows) for each in data] if all(hasattr(each, "shape") for each in data) else data[:rows]
    return {key: value[:rows] for key, value in data.items()} if isinstance(data, dict) else data[:rows]


def count(data: Any) -> int | None:
    """The number of rows of what is given to `fit`, where it is an array or a list of arrays."""
    if isinstance(data, (list, tuple)) and data:
        return count(data[0])
    if isinstance(data, dict) and data:
        return count(next(iter(data.values())))
    shape = getattr(data, "shape", None)
    return int(shape[0]) if shape is not None and len(shape) and shape[0] is not None else None
