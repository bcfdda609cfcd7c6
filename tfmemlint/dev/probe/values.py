"""Compares and names the values that probed calls return. Runs only inside a probe's child process."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from typing import Any

from tfmemlint.knowledge.tables import texts

MOST_ELEMENTS = 100


def fingerprint(value: Any) -> Any:
    """Something that is equal for equal numbers, tensors, arrays, datasets and nests of them; None for other things."""
    tf = import_module("tensorflow")
    if isinstance(value, tf.data.Dataset):
        return tuple(fingerprint(element) for element in value.take(MOST_ELEMENTS))
    if isinstance(value, (list, tuple)):
        return tuple(fingerprint(item) for item in value)
    if isinstance(value, dict):
        return tuple((key, fingerprint(value[key])) for key in sorted(value, key=str))
    if isinstance(value, (int, float, complex, str, bytes)):
        return value
    if isinstance(value, (tf.RaggedTensor, tf.SparseTensor)):
        return fingerprint(tf.nest.flatten(value, expand_composites=True))
    if hasattr(value, "__array__") and not inspect.isclass(value):
        array = import_module("numpy").asarray(value)
        return (array.shape, str(array.dtype), repr(array.tolist()))
    return None


@cache
def _classes() -> dict[int, str]:
    """The id of each public class and its canonical name."""
    roots = {"tf": import_module("tensorflow"), "np": import_module("numpy")}
    keras2 = import_module("tf_keras")
    found: dict[int, str] = {}
    for name in sorted(texts("classes"), key=lambda name: (name.startswith("tf.compat"), name), reverse=True):
        root, *parts = name.split(".")
        value: Any
        starts: list[tuple[Any, list[str]]] = [(roots[root], parts)]
        if parts[0] == "keras":
            starts.insert(0, (keras2, parts[1:]))
        for value, rest in starts:
            for part in rest:
                value = getattr(value, part, None)
            if inspect.isclass(value):
                found[id(value)] = name
    return found


def public_class(value: Any) -> str | None:
    """The canonical name of the nearest public class of a value; None for classes of Python and private ones."""
    if inspect.isclass(value):
        return None
    names = _classes()
    return next((names[id(base)] for base in type(value).__mro__ if id(base) in names), None)


def preload() -> None:
    """Imports the libraries and looks their classes up, once for all forks."""
    _classes()
