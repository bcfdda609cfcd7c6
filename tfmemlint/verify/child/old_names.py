"""Gives a Keras 3 the names, arguments and file names that Keras 2 had; loaded by `main.py`.

Only what costs the same memory is taken for something else, and each thing that takes effect is noted.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Any

Note = Callable[[str], None]

GENERATORS = {"fit_generator": "fit", "evaluate_generator": "evaluate", "predict_generator": "predict"}
"""Methods of models that Keras 3 has under other names."""

OF_LAYERS = {
    "implementation": "the layer computes in its own way",
    "unroll_mode": "the layer computes in its own way",
    "weights": "the layer keeps the weights that it was made with",
}
"""Arguments of layers that are gone, and what becomes of them."""

COUNTS = ("filters", "input_dim", "output_dim", "units")
"""Arguments of layers of which Keras 2 made whole numbers."""

WHOLE, WEIGHTS = ".keras", ".weights.h5"
"""What the names of files end with, of models and of weights."""


def rename(keras: Any, note: Note) -> None:
    """Give a Keras the names that it had in Keras 2, for what means the same: `lr`, `fit_generator`, ..."""
    for old, new in GENERATORS.items():
        if not hasattr(keras.Model, old):
            setattr(keras.Model, old, _renamed(new, old, note))
    if not hasattr(keras.metrics.Metric, "reset_states"):
        keras.metrics.Metric.reset_states = _renamed("reset_state", "reset_states", note)
    optimizer = keras.optimizers.Optimizer
    for kind in {each for each in vars(keras.optimizers).values() if isinstance(each, type)}:
        if issubclass(kind, optimizer) and "__init__" in vars(kind):
            kind.__init__ = _with_old_rates(kind.__init__, note)  # type: ignore[misc]
    keras.layers.Layer.__init__ = _without_itself(keras.layers.Layer.__init__, note)
    if not keras.__version__.startswith("3."):
        return
    _name_ends(keras, note)
    for kind in {each for each in vars(keras.layers).values() if isinstance(each, type)}:
        if "__init__" in vars(kind) and _counts_of(kind):
            kind.__init__ = _with_whole_numbers(kind.__init__, note)  # type: ignore[misc]
    keras.Layer.__init__ = _without_old(keras.Layer.__init__, note)
    keras.Model.save = _ends_as(keras.Model.save, (WHOLE, ".h5", ".hdf5"), WHOLE, note)
    keras.Model.save_weights = _ends_as(keras.Model.save_weights, (WEIGHTS,), WEIGHTS, note)
    keras.callbacks.ModelCheckpoint.__init__ = _checkpoint(keras.callbacks.ModelCheckpoint.__init__, note)


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


def _counts_of(kind: Any) -> bool:
    return not inspect.signature(kind.__init__).parameters.keys().isdisjoint(COUNTS)


def _with_whole_numbers(make: Any, note: Note) -> Any:
    names = list(inspect.signature(make).parameters)

    def whole(name: str, value: Any) -> Any:
        if name not in COUNTS or isinstance(value, int) or not hasattr(value, "__int__"):
            return value
        note(f"{name} of a layer was made a whole number, as Keras 2 does")
        return int(value)

    @functools.wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:  # Keras looks up by name what its signature has
        given = [whole(name, value) for name, value in zip(names[1:], args, strict=False)]
        make(self, *given, *args[len(given) :], **{name: whole(name, value) for name, value in kwargs.items()})

    made.__signature__ = inspect.signature(make)  # type: ignore[attr-defined]
    return made


class _Shape:
    """The shapes of what a layer takes or gives, where the layer sets no attribute of that name itself."""

    def __init__(self, word: str) -> None:
        self._word = word

    def __get__(self, layer: Any, owner: Any = None) -> Any:
        if layer is None:
            return self
        ends = getattr(layer, self._word)
        return [tuple(each.shape) for each in ends] if isinstance(ends, (list, tuple)) else tuple(ends.shape)


def _name_ends(keras: Any, note: Note) -> None:
    """Let a `Sequential` of known shapes tell its ends before it is called, and layers the shapes of theirs."""

    def end(word: str) -> Any:
        inherited = getattr(keras.Model, word)

        def read(self: Any) -> Any:
            inner = getattr(self, "_functional", None)
            if inner is None or self._inbound_nodes:
                return inherited.__get__(self)
            note(f"a Sequential gave its {word} before it was called, as in Keras 2")
            return getattr(inner, word)

        return property(read)

    for word in ("input", "output"):
        setattr(keras.Sequential, word, end(word))
        if not hasattr(keras.Layer, f"{word}_shape"):
            setattr(keras.Layer, f"{word}_shape", _Shape(word))


def _without_itself(make: Any, note: Note) -> Any:
    """The constructor, which takes the layer once more, `super().__init__(self)`: the first Keras 2 had it for true."""

    @functools.wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        if args and args[0] is self:
            note(f"{type(self).__name__} hands itself to the constructor of layers: that was left out")
            args = args[1:]
        make(self, *args, **kwargs)

    return made


def _without_old(make: Any, note: Note) -> Any:
    @functools.wraps(make)
    def made(self: Any, **kwargs: Any) -> None:  # Keras looks up by name whatever this takes
        for name in OF_LAYERS.keys() & kwargs.keys():
            del kwargs[name]
            note(f"{name} of {type(self).__name__}, which this Keras does not take, was left out: {OF_LAYERS[name]}")
        make(self, **kwargs)

    return made


def _ends_as(method: Any, endings: tuple[str, ...], ending: str, note: Note) -> Any:
    """The method that writes a file whose name must have one of these endings."""

    @functools.wraps(method)
    def saved(self: Any, filepath: Any = None, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("save_format", None)
        return method(self, _ended(filepath, endings, ending, note), *args, **kwargs)

    return saved


def _checkpoint(make: Any, note: Note) -> Any:
    @functools.wraps(make)
    def made(self: Any, filepath: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs.pop("period", None) is not None:
            note("period of ModelCheckpoint, which this Keras does not take, was left out")
        weights = kwargs.get("save_weights_only", args[3] if len(args) > 3 else False)
        endings, ending = ((WEIGHTS,), WEIGHTS) if weights else ((WHOLE, ".h5"), WHOLE)
        make(self, _ended(filepath, endings, ending, note), *args, **kwargs)

    return made


def _ended(path: Any, endings: tuple[str, ...], ending: str, note: Note) -> Any:
    """A path with an ending that this Keras takes."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if text is None or text.endswith(endings):
        return path
    note(f"{os.path.basename(text)} was written as a file that ends with {ending}, which this Keras asks for")
    return f"{text}{ending}"
