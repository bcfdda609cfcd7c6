"""Lets summaries that TensorBoard writes come to nothing, where it is not installed; loaded by `main.py`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import Any

NAMES = ("audio", "histogram", "image", "scalar", "text")
"""Functions of TensorFlow that ask for TensorBoard."""


def install(note: Callable[[str], None]) -> None:
    """Put what writes nothing in their place."""
    if importlib.util.find_spec("tensorboard") is not None:
        return

    def written(*_: Any, **__: Any) -> bool:
        note("TensorBoard is not installed: summaries are not written")
        return True

    tensorflow: Any = sys.modules["tensorflow"]
    for home in (tensorflow.compat.v2.summary, getattr(tensorflow, "summary", None)):
        for name in NAMES if home is not None else ():
            if hasattr(home, name):
                setattr(home, name, written)
