"""Lets programs that import Keras from TensorFlow's source, `tensorflow.python.keras.layers`, have the Keras that
`tf.keras` is: both were the same when they were written, and fit each other only then; loaded by `main.py`."""

from __future__ import annotations

import contextlib
import functools
import importlib
import re
import types
from collections.abc import Callable
from typing import Any

OWN = "tensorflow.python.keras"
NAMED = re.compile(rf"{re.escape(OWN)}((?:\.\w+)*)")
BELOW = (
    *("activations", "backend", "callbacks", "constraints", "initializers", "layers", "losses", "metrics", "models"),
    *("optimizers", "regularizers", "utils"),
)
"""Its modules that are imported as names of it: `from tensorflow.python.keras import layers`."""


def install(text: str, older: Any, note: Callable[[str], None]) -> None:
    """Put the names in place where a program of this text asks for them and Keras 2 is there; `older` finds names."""
    named = {found[1:] for found in NAMED.findall(text)}
    if not named or importlib.import_module("keras").__name__ == "keras":
        return
    note(f"names of {OWN} are those of tf.keras, as it was in the versions that the code is written for")
    for below in sorted({*named, *BELOW}):
        with contextlib.suppress(ImportError):  # gone as a whole, which others answer for, or a name in a module
            _fill(importlib.import_module(f"{OWN}.{below}" if below else OWN), below, older)


def _fill(module: Any, below: str, older: Any) -> None:
    for name, value in list(vars(module).items()):
        if not name.startswith("_") and isinstance(value, (type, types.FunctionType)):
            found = older.found(OWN, below, name)
            if found is not None and not isinstance(found, types.ModuleType):
                setattr(module, name, found)
    if "__getattr__" not in vars(module):
        module.__getattr__ = functools.partial(older.name_of, f"{OWN}.{below}".rstrip("."))
