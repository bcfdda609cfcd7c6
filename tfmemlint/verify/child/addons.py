"""Stands in for `tensorflow_addons`, which no TensorFlow of today has, by the nearest that Keras has; loaded by
`main.py`. Of what has no counterpart nothing is made up: it can be named, and fails when it is called."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

Note = Callable[[str], None]

ROOT = "tensorflow_addons"
MODULES = frozenset({
    "activations", "callbacks", "image", "layers", "losses", "metrics", "optimizers", "rnn", "seq2seq", "text", "types",
    "utils",
})  # fmt: skip
PARTS = ("optimizers", "losses", "layers", "metrics", "activations", "callbacks")
"""Modules of Keras in which the same name is looked for."""

NEAREST = {
    "FilterResponseNormalization": "layers.BatchNormalization",
    "LAMB": "optimizers.Lamb",
    "LazyAdam": "optimizers.Adam",
    "NoisyDense": "layers.Dense",
    "NovoGrad": "optimizers.Adam",
    "ProximalAdagrad": "optimizers.Adagrad",
    "RectifiedAdam": "optimizers.Adam",
    "SGDW": "optimizers.SGD",
    "SigmoidFocalCrossEntropy": "losses.BinaryFocalCrossentropy",
    "TQDMProgressBar": "callbacks.Callback",
    "Yogi": "optimizers.Adam",
    "sigmoid_focal_crossentropy": "losses.binary_focal_crossentropy",
}
"""Paths in Keras by the names of what costs about the same."""

WRAPPERS = frozenset(("Lookahead", "MovingAverage", "SWA", "SpectralNormalization", "WeightNormalization"))
"""What is made of an optimizer or a layer."""

OF_WORK = ("learning_rate", "lr", "weight_decay", "momentum", "beta_1", "beta_2", "epsilon", "name")
"""Arguments that optimizers share."""


class Addons(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for the package and its modules. `module` is the class of modules that are gone, `missing` makes what
    stands for a thing that is nowhere, `asked` tells whether the program's own files ask."""

    def __init__(self, asked: Callable[[], bool], module: type[Any], missing: Callable[[str], Any], note: Note) -> None:
        self._asked, self._module, self._missing, self._note = asked, module, missing, note

    def install(self) -> None:
        """Come after what finds the library itself."""
        sys.meta_path.append(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != ROOT or not (self._asked() or ROOT in sys.modules):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        made: types.ModuleType = self._module(spec.name, self._found)
        return made

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is left to do."""

    def _found(self, module: str, name: str) -> Any:
        if name in MODULES:
            return importlib.import_module(f"{module}.{name}")
        part = module.rpartition(".")[2]
        found = self._made(part, name)
        if found is None:
            return self._missing(f"{module}.{name}")
        self._note(f"{ROOT} is not installed: the nearest that Keras has was taken for {part}.{name}")
        return found

    def _made(self, part: str, name: str) -> Any:
        keras = sys.modules["tensorflow"].keras
        if part in ("types", "utils"):
            return _same if name == "typechecked" else Any
        if name in WRAPPERS:
            return _wrapped
        if name.startswith(("Contrastive", "Triplet")):
            return _distances(keras)
        if name == "InstanceNormalization":
            return lambda *_, **given: keras.layers.GroupNormalization(groups=-1, **_kept(given, ("name", "axis")))
        if part == "image":
            return lambda images, *_, **__: sys.modules["tensorflow"].identity(images)
        path = NEAREST.get(name) or f"{part}.{name}"
        home, _, word = path.partition(".")
        found = vars(getattr(keras, home)).get(word) if home in PARTS else None  # not what stands for old names
        if found is None and part == "optimizers" and name[:1].isupper() and "Rate" not in name:
            found = keras.optimizers.Adam
        return _plain(found) if home == "optimizers" and found is not None and isinstance(found, type) else found


def _kept(given: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in names}


def _plain(kind: Any) -> Any:
    """A class that an optimizer stands in for: with the arguments that all of them have."""

    def made(*args: Any, **given: Any) -> Any:
        rates = [each for each in args if isinstance(each, float)]
        kept = _kept(given, OF_WORK)
        kept.setdefault("learning_rate", kept.pop("lr", rates[-1] if rates else 0.001))
        return kind(**kept)

    return made


def _wrapped(inner: Any, *_: Any, **__: Any) -> Any:
    return inner


def _same(function: Any = None, *_: Any, **__: Any) -> Any:
    return function if function is not None else _same


def _distances(keras: Any) -> Any:
    """A loss of the distances between all rows, as those of triplets have."""

    class OfDistances(keras.losses.Loss):  # type: ignore[misc]
        def __init__(self, margin: float = 1.0, *_: Any, name: str = "triplets", **__: Any) -> None:
            super().__init__(name=name)
            self.margin = margin

        def call(self, y_true: Any, y_pred: Any) -> Any:
            tensorflow = sys.modules["tensorflow"]
            rows = tensorflow.reshape(tensorflow.cast(y_pred, "float32"), [tensorflow.shape(y_pred)[0], -1])
            squares = tensorflow.reduce_sum(tensorflow.square(rows), axis=1)
            apart = squares[:, None] + squares[None, :] - 2 * tensorflow.matmul(rows, rows, transpose_b=True)
            return tensorflow.reduce_mean(tensorflow.maximum(apart + self.margin, 0.0), axis=1)

    return OfDistances
