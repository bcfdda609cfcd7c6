"""Stands in for what models are loaded from and what would be fetched; loaded by `main.py`.

Weights that are not there leave those that the model was made with: as many, of the same shapes.
"""

from __future__ import annotations

import functools
import glob
import json
import os
import types
from collections.abc import Callable, Iterator
from typing import Any

Note = Callable[[str], None]

ARCHIVES = (".tar.gz", ".tar.bz2", ".tgz", ".tar", ".zip")
CLASSES_OF_IMAGENET = "imagenet_class_index.json"


class Weights:
    """The weights and downloads of one run. `folder` is where what is fetched would lie, `missing` makes what stands
    for a thing that is nowhere."""

    def __init__(self, folder: str, missing: Callable[[str], Any], note: Note) -> None:
        self._folder, self._missing, self._note = folder, missing, note

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
            if path is None or os.path.exists(path) or glob.glob(f"{glob.escape(path)}*"):
                return method(model, filepath, *args, **kwargs)
            self._note(f"{os.path.basename(path)} is not there: the model kept the weights that it was made with")
            return types.SimpleNamespace(**dict.fromkeys(("expect_partial", "assert_consumed"), lambda: None))

        return load_weights

    def _read(self, function: Any) -> Any:
        @functools.wraps(function)
        def load_model(filepath: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(filepath, (str, os.PathLike)) or os.path.exists(filepath):
                return function(filepath, *args, **kwargs)
            self._note(f"{filepath} is not there; code that calls the model was left to fail")
            return self._missing(f"load_model({os.fspath(filepath)!r})")

        return load_model
