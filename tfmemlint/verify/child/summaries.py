"""Lets summaries that TensorBoard writes come to nothing, where it is not installed, and debuggers that watch what
sessions run; loaded by `main.py`."""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable
from typing import Any

NAMES = ("audio", "histogram", "image", "scalar", "text")
"""Functions of TensorFlow that ask for TensorBoard."""

DEBUG = "tensorflow.python.debug"
WATCHED, HOOK = "DebugWrapperSession", "DebugHook"
"""What the names of debuggers end with: of those that watch a session, and of those that are given to one."""


def changes(note: Callable[[str], None]) -> dict[str, Callable[[types.ModuleType], None]]:
    """What is done to the debuggers when they are imported: what they watch runs without them, as nobody looks on."""

    def watched(session: Any, *_: Any, **__: Any) -> Any:
        note(f"{DEBUG} watches nothing here: the session runs as it is")
        session.add_tensor_filter = lambda *_, **__: None
        return session

    def change(module: types.ModuleType) -> None:
        hook: Any = sys.modules["tensorflow"].compat.v1.train.SessionRunHook
        for name in list(vars(module)):
            if name.endswith(WATCHED):
                setattr(module, name, watched)
            elif name.endswith(HOOK):
                setattr(module, name, lambda *_, **__: hook())

    install(note)
    return {DEBUG: change}


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
