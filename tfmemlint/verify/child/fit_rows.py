"""Rows of what is given to Keras' training; loaded by `main.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def even(given: dict[str, Any], any_made_up: bool) -> Iterator[str]:
    """Cut the rows and labels of a training to as many: a loop that makes some of them may have been cut; those that
    were made up to whole batches, where the model is made for one size of them. Says what was cut, in words."""
    counts = {count(given.get(name)) for name in ("x", "y")}
    if len(counts) == 2 and None not in counts and 0 not in counts:
        least = min(filter(None, counts))
        given.update({name: first(given[name], least) for name in ("x", "y")})
        yield f"x and y had {max(filter(None, counts))} and {least} rows: both were cut to {least}"
    batch, rows = _batch(given.get("self")), count(given.get("x"))
    rest = rows % batch if any_made_up and batch and rows else 0
    if rows and rest and rows > rest and count(given.get("y")) == rows:
        given.update({name: first(given[name], rows - rest) for name in ("x", "y")})
        yield f"x and y had {rows} rows: both were cut to {rows - rest}, for batches of {batch}"


def _batch(model: Any) -> int | None:
    """The rows of a batch that a model is made for; None where it takes any number."""
    inputs: Any = getattr(model, "inputs", None) or ()
    shape: Any = getattr(inputs[0], "shape", None) if len(inputs) else None
    return shape[0] if shape is not None and len(shape) and isinstance(shape[0], int) else None


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
