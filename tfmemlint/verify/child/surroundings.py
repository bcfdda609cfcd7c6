"""What a program expects around it and does not find: modules, a notebook, an older TensorFlow or Keras; loaded by
`main.py`.

Nothing here lets a program go on with wrong data: what a missing module would compute raises an error that names it.
Each thing that takes effect is noted.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

Note = Callable[[str], None]

GENERATORS = {"fit_generator": "fit", "evaluate_generator": "evaluate", "predict_generator": "predict"}
"""Methods of models that Keras 3 has under other names."""


class Missing:
    """Something of a module that is not installed. It can be named, and be a base class; it computes nothing."""

    def __init__(self, path: str) -> None:
        self.__dict__["_path"] = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Missing(f"{self._path}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Settings of what is not there come to nothing."""

    def __call__(self, *_: Any, **__: Any) -> Any:
        name = self._path.partition(".")[0]
        raise ModuleNotFoundError(f"No module named '{name}', which {self._path}() needs", name=name)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return ()


class MissingModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for modules that nobody finds, where the program's own files import them."""

    def __init__(self, own: str, note: Note) -> None:
        self._own, self._note = own, note

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not self._asked_by_the_program():
            return None
        head = fullname.partition(".")[0]
        if head in sys.modules and not isinstance(sys.modules[head], _MissingModule):
            return None  # it is there, in another version
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def _asked_by_the_program(self) -> bool:
        frame = sys._getframe(2)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back  # type: ignore[assignment]
        return frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(self._own)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _MissingModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        head = module.__name__.partition(".")[0]
        self._note(f"{head} is not installed; code that calls it was left to fail")


class _MissingModule(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")


class Notebook:
    """What `get_ipython()` gives in a notebook, where nothing is asked of it that a program needs."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: []


def install(program: str, request: dict[str, Any], note: Note) -> None:
    """Put all of this around a program that is about to run. TensorFlow must have been imported."""
    sys.meta_path.append(MissingModules(os.path.join(os.path.dirname(program), ""), note))
    builtins.get_ipython = Notebook  # type: ignore[attr-defined]
    if request.get("version_1"):
        _go_back_to_version_1(note)
    elif request.get("keras_2"):
        _take_keras_2(note)


def _take_keras_2(note: Note) -> None:
    """Let `tf.keras` be Keras 2, where that is installed and nothing has asked for Keras yet."""
    if importlib.util.find_spec("tf_keras") is not None:
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        note("tf.keras is tf_keras here, as the code is written for Keras 2")


def _go_back_to_version_1(note: Note) -> None:
    """Let `tensorflow` be what TensorFlow 2 keeps of version 1. The eager runtime is started first: sessions share its
    allocator, which tells its figures only there."""
    version_1: Any = importlib.import_module("tensorflow.compat.v1")
    sys.modules["tensorflow"].zeros([1])
    version_1.disable_v2_behavior()
    sys.modules["tensorflow"] = version_1
    note("tensorflow is tensorflow.compat.v1 here, as the code is written for version 1")


def rename(keras: Any, note: Note) -> None:
    """Give a Keras 3 the names that it had in Keras 2, for what means the same: `lr`, `fit_generator`, ..."""
    for old, new in GENERATORS.items():
        if not hasattr(keras.Model, old):
            setattr(keras.Model, old, _renamed(new, old, note))
    if not hasattr(keras.metrics.Metric, "reset_states"):
        keras.metrics.Metric.reset_states = _renamed("reset_state", "reset_states", note)
    optimizer = keras.optimizers.Optimizer
    for kind in {each for each in vars(keras.optimizers).values() if isinstance(each, type)}:
        if issubclass(kind, optimizer) and "__init__" in vars(kind):
            kind.__init__ = _with_old_rates(kind.__init__, note)  # type: ignore[misc]


def _renamed(new: str, old: str, note: Note) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        note(f"{new}() was called for {old}(), which this Keras does not have")
        for gone in ("workers", "use_multiprocessing", "max_queue_size"):
            kwargs.pop(gone, None)
        if "generator" in kwargs:
            kwargs["x"] = kwargs.pop("generator")
        return getattr(self, new)(*args, **kwargs)

    return method


def _with_old_rates(make: Any, note: Note) -> Any:
    @functools.wraps(make)
    def renamed(self: Any, *args: Any, **kwargs: Any) -> None:
        if "lr" in kwargs:
            kwargs["learning_rate"] = kwargs.pop("lr")
            note("learning_rate was set for lr, which this Keras does not have")
        if kwargs.pop("decay", None) is not None:
            note("decay, which this Keras does not have, was left out")
        make(self, *args, **kwargs)

    return renamed
