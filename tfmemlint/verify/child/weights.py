"""Stands in for what models are loaded from and what would be fetched; loaded by `main.py`.

Weights that are not there leave those that the model was made with: as many, of the same shapes.
"""

from __future__ import annotations

import functools
import glob
import json
import math
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

Note = Callable[[str], None]

ARCHIVES = (".tar.gz", ".tar.bz2", ".tgz", ".tar", ".zip")
CLASSES_OF_IMAGENET = "imagenet_class_index.json"


_exists, _glob = os.path.exists, glob.glob
"""What is there, made-up files left out."""


class Weights:
    """The weights and downloads of one run. `folder` is where what is fetched would lie; `made_up` is told what has
    sizes that were made up."""

    def __init__(self, folder: str, note: Note, made_up: Note) -> None:
        self._folder, self._note, self._made_up = folder, note, made_up

    def of_keras(self, keras: Any) -> Iterator[tuple[Any, Any]]:
        """The functions of a Keras that fetch files and load models, each with what takes its place. Weights are as
        they were made where their file is not there."""
        keras.Model.load_weights = self._loaded(keras.Model.load_weights)
        yield keras.utils.get_file, self.get_file
        yield keras.models.load_model, self._read(keras.models.load_model)

    def get_file(
        self, fname: str | None = None, origin: str | None = None, untar: bool = False, *args: Any, **options: Any
    ) -> str:
        """The path at which the file would lie, or the folder that it would be unpacked to."""
        name = os.path.basename(os.fspath(fname or origin or "file"))
        if untar or options.get("extract"):
            name = next((name[: -len(each)] for each in ARCHIVES if name.endswith(each)), name)
        path = os.path.join(self._folder, name)
        if name == CLASSES_OF_IMAGENET:
            os.makedirs(self._folder, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                json.dump({number: [f"n{number:08}", f"class_{number}"] for number in range(1000)}, file)
        elif not name.endswith((".h5", ".keras")):
            self._note(f"{name} cannot be fetched: what is read of it is made up")
        return path

    def _loaded(self, method: Any) -> Any:
        @functools.wraps(method)
        def load_weights(model: Any, filepath: Any, *args: Any, **kwargs: Any) -> Any:
            path = os.fspath(filepath) if isinstance(filepath, (str, os.PathLike)) else None
            if path is None or (path and (_exists(path) or _glob(f"{glob.escape(path)}*"))):
                return method(model, filepath, *args, **kwargs)
            name = os.path.basename(path) or "a file without a name"
            self._note(f"{name} is not there: the model kept the weights that it was made with")
            return types.SimpleNamespace(**dict.fromkeys(("expect_partial", "assert_consumed"), lambda: None))

        return load_weights

    def _lies_there(self, path: str) -> bool:
        """Whether a file is there that was not made up: of a model nothing is, not even its folder."""
        return _exists(path) and not os.path.abspath(path).startswith(os.path.dirname(self._folder))

    def _read(self, function: Any) -> Any:
        @functools.wraps(function)
        def load_model(filepath: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(filepath, (str, os.PathLike)) or self._lies_there(os.fspath(filepath)):
                return function(filepath, *args, **kwargs)
            self._made_up(f"{os.fspath(filepath)} is not there: a model of one small layer was made up")
            return _model_of_use()

        return load_model


def _model_of_use() -> Any:
    """A compiled model that takes anything and gives what it is trained to give, ten numbers until then: all the same,
    so that the first one is the largest, and the first of any list of classes is the one."""
    tensorflow = sys.modules["tensorflow"]
    keras: Any = tensorflow.keras

    class Loaded(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.given, self.inner = (10,), keras.layers.Dense(10, "sigmoid", kernel_initializer="zeros")

        def call(self, inputs: Any, *_: Any, **__: Any) -> Any:
            first = tensorflow.cast(tensorflow.nest.flatten(inputs)[0], "float32")
            rows = tensorflow.reshape(first, [tensorflow.shape(first)[0], -1])
            means = tensorflow.reduce_mean(rows, axis=1, keepdims=True)
            return tensorflow.reshape(self.inner(means), [-1, *self.given])

        def fit(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any) -> Any:
            self._fitting(y)
            return super().fit(x, y, *args, **kwargs)

        def evaluate(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any) -> Any:
            self._fitting(y)
            return super().evaluate(x, y, *args, **kwargs)

        def _fitting(self, y: Any) -> None:
            """Give what these labels are compared with."""
            shape = getattr(y, "shape", None)
            if shape is not None and not self.inner.built and "sparse" not in str(self.loss):
                self.given = tuple(shape[1:]) or (1,)
                self.inner = keras.layers.Dense(math.prod(self.given), activation="sigmoid")

    made = Loaded()
    made.compile("sgd", "mse")
    return made
