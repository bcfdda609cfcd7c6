"""Stands in for the estimators of TensorFlow 1, which TensorFlow has had no more since 2.16: their input functions run,
and what these give is gone through in place of training; loaded by `main.py`."""

from __future__ import annotations

import builtins
import collections
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

Note = Callable[[str], None]

NAME = "tensorflow.estimator"
STEPS = 50
"""Elements that are fetched of tensors of a graph, as training would step by step."""

GIVEN = ("config", "mode", "params")
"""What an estimator gives an input function that has a parameter of this name."""


class Estimator:
    """An estimator that trains nothing."""

    def __init__(self, *_: Any, **options: Any) -> None:
        self.model_dir, self.params, self.config = (options.get(name) for name in ("model_dir", "params", "config"))

    def train(self, input_fn: Any, *_: Any, **__: Any) -> Estimator:
        """Go through what the function gives."""
        self._run(input_fn, ModeKeys.TRAIN)
        return self

    def evaluate(self, input_fn: Any, *_: Any, **__: Any) -> dict[str, float]:
        """Go through what the function gives; all measures are 0."""
        self._run(input_fn, ModeKeys.EVAL)
        return collections.defaultdict(float)

    def predict(self, input_fn: Any, *_: Any, **__: Any) -> Iterator[Any]:
        """Go through what the function gives, of which nothing is known."""
        self._run(input_fn, ModeKeys.PREDICT)
        return iter(())

    def _run(self, input_fn: Any, mode: str) -> None:
        tensorflow: Any = sys.modules["tensorflow"]
        known = dict(zip(GIVEN, (self.config, mode, self.params), strict=True))
        given = {name: known[name] for name in inspect.signature(input_fn).parameters if name in known}
        if tensorflow.executing_eagerly():
            builtins.tfmemlint_consume(input_fn(**given))  # type: ignore[attr-defined]
            return
        with tensorflow.Graph().as_default():
            made = input_fn(**given)
            if isinstance(made, tensorflow.data.Dataset):
                builtins.tfmemlint_consume(made)  # type: ignore[attr-defined]
            else:
                _fetch([each for each in tensorflow.nest.flatten(made) if tensorflow.is_tensor(each)])


def _fetch(tensors: list[Any]) -> None:
    """Have a session compute these again and again."""
    tensorflow: Any = sys.modules["tensorflow"]
    version_1 = tensorflow.compat.v1
    with version_1.Session() as session:
        session.run((version_1.global_variables_initializer(), version_1.tables_initializer()))
        session.run(version_1.get_collection(version_1.GraphKeys.TABLE_INITIALIZERS))
        for _ in range(STEPS if tensors else 0):
            try:
                session.run(tensors)
            except tensorflow.errors.OutOfRangeError:
                return
            builtins.tfmemlint_mark()  # type: ignore[attr-defined]


class ModeKeys:
    """What a model function is told of its use."""

    TRAIN, EVAL, PREDICT = "train", "eval", "infer"


class Spec(types.SimpleNamespace):
    """What is told an estimator: of a run, of its training, of what a model function makes."""

    def __init__(self, *given: Any, **options: Any) -> None:
        first = {"input_fn": given[0]} if given and callable(given[0]) else {}
        super().__init__(**first, **options)

    def replace(self, **options: Any) -> Spec:
        """The same with other values."""
        return Spec(**{**vars(self), **options})


def train_and_evaluate(estimator: Any, train_spec: Any, eval_spec: Any = None, *_: Any) -> None:
    """Go through the data of both."""
    estimator.train(train_spec.input_fn)
    if eval_spec is not None:
        estimator.evaluate(eval_spec.input_fn)


def numpy_input_fn(x: Any, y: Any = None, batch_size: int = 128, *_: Any, **__: Any) -> Callable[[], Any]:
    """A function that gives batches of arrays, or of the columns of a table."""
    x = dict(x) if hasattr(x, "columns") else x
    rows = x if y is None else (x, y)
    return lambda: sys.modules["tensorflow"].data.Dataset.from_tensor_slices(rows).batch(batch_size)


def _other(name: str) -> Any:
    """What else there was: estimators by the ends of their names, and what is told them."""
    if name.startswith("__"):
        raise AttributeError(name)
    return Estimator if name.endswith(("Classifier", "Regressor", "Ranker")) else Spec


def install(note: Note) -> None:
    """Have it there where TensorFlow has none, and say so when it is asked for."""
    tensorflow: Any = sys.modules["tensorflow"]
    if hasattr(tensorflow, "estimator"):
        return
    module: Any = types.ModuleType(NAME)
    inputs = types.SimpleNamespace(numpy_input_fn=numpy_input_fn, pandas_input_fn=numpy_input_fn)
    own = {"Estimator": Estimator, "ModeKeys": ModeKeys, "inputs": inputs, "train_and_evaluate": train_and_evaluate}

    def named(name: str) -> Any:
        found = own[name] if name in own else _other(name)
        note(f"{NAME} is gone: what its input functions give is gone through in place of training")
        return found

    module.__getattr__ = named
    sys.modules[NAME] = module
    for home in (tensorflow, tensorflow.compat.v1, tensorflow.compat.v2):
        home.estimator = module
