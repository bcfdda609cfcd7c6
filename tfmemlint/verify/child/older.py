"""What libraries had elsewhere in older versions: modules of Keras by their old names, the MNIST reader of TensorFlow's
tutorials, `sklearn.externals`; loaded by `main.py`.

A name that is gone leads to what does the same today. Where there is no such thing, it can be named and computes
nothing, like a module that is not installed. Only the program's own files are given any of this.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import re
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Note = Callable[[str], None]

HOMES = (
    *("layers", "models", "", "utils", "optimizers", "losses", "metrics", "initializers", "regularizers"),
    *("constraints", "callbacks", "activations", "backend", "preprocessing.image", "preprocessing.text"),
    *("preprocessing.sequence", "applications.imagenet_utils", "layers.experimental.preprocessing"),
)
"""Modules of Keras in which a name is looked for that its own module does not have any more."""

RENAMED = {
    **{name.lower(): name for name in ("Adadelta", "Adagrad", "Adam", "Adamax", "Nadam", "RMSprop", "SGD")},
    "Convolution1D": "Conv1D",
    "Convolution2D": "Conv2D",
    "Convolution3D": "Conv3D",
    "CuDNNGRU": "GRU",
    "CuDNNLSTM": "LSTM",
    "maxnorm": "MaxNorm",
    "nonneg": "NonNeg",
    "plot": "plot_model",
    "unitnorm": "UnitNorm",
}
OLD_MODULES = (
    *("advanced_activations", "conv_utils", "convolutional", "core", "data_utils", "embeddings", "engine"),
    *("experimental", "generic_utils", "layer_utils", "local", "merge", "noise", "normalization", "np_utils"),
    *("objectives", "pooling", "recurrent", "scikit_learn", "tensorflow_backend", "topology", "training"),
    *("training_utils", "vis_utils", "visualize_util", "wrappers"),
)
"""Parts of paths that were modules of Keras."""

KERAS = ("keras", "tensorflow.keras", "tensorflow.python.keras")
MNIST = ("tensorflow.examples.tutorials.mnist.input_data", "tensorflow.contrib.learn.python.learn.datasets.mnist")
MOVED = {
    "ConfigParser": "configparser",
    "Queue": "queue",
    "cPickle": "pickle",
    "sklearn.cross_validation": "sklearn.model_selection",
    "sklearn.externals.joblib": "joblib",
    "sklearn.grid_search": "sklearn.model_selection",
}
"""Modules by the names that they had, and those that they have."""


class OldModule(types.ModuleType):
    """A module that is gone; `find` gives what its names stand for."""

    def __init__(self, name: str, find: Callable[[str, str], Any]) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self._find = find

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._find(self.__name__, name)


class Older(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules by old names. `asked` tells whether the program's own files ask, `missing` makes what stands for a
    thing that is nowhere."""

    def __init__(self, asked: Callable[[], bool], missing: Callable[[str], Any], note: Note) -> None:
        self._asked, self._missing, self._note = asked, missing, note

    def install(self) -> None:
        """Answer for modules that nobody finds, and for names that the modules of Keras do not have."""
        sys.meta_path.append(self)
        for name, module in list(sys.modules.items()):
            if _is_public(name) and "__getattr__" not in vars(module):
                module.__getattr__ = functools.partial(self.name_of, name)  # type: ignore[method-assign]

    # -- modules -----------------------------------------------------------------------------------------------------

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        of_keras = fullname.startswith(tuple(f"{root}." for root in KERAS))
        if not (of_keras or _is_known(fullname)) or not self._asked():
            return None
        if "." not in fullname and fullname not in MOVED:
            return None  # the library itself is not installed
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        name = spec.name
        if name in MNIST:
            self._note("the MNIST reader of TensorFlow's tutorials gave made-up images of the same shapes and dtypes")
            module = types.ModuleType(name)
            module.__dict__.update(read_data_sets=read_data_sets, DataSet=Rows)
            return module
        if MOVED.get(name):
            self._note(f"{MOVED[name]} was taken for {name}, which is gone")
        return OldModule(name, self._find)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is left to do."""

    # -- names -------------------------------------------------------------------------------------------------------

    def found(self, root: str, below: str, name: str) -> Any:
        """The thing of that name that Keras has; None where it has none."""
        return next(self._found(root, below, name), None)

    def name_of(self, module: str, name: str) -> Any:
        """What stands for a name that a module does not have, where the program's own files ask."""
        if name.startswith("__") or not self._asked():
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return self._find(module, name)

    def _find(self, module: str, name: str) -> Any:
        """What a name of a module that is gone, or that does not have it any more, stands for."""
        if _is_known(f"{module}.{name}"):
            return importlib.import_module(MOVED.get(f"{module}.{name}") or f"{module}.{name}")
        if MOVED.get(module):
            return getattr(importlib.import_module(MOVED[module]), name)
        root = next((each for each in KERAS if f"{module}.".startswith(f"{each}.")), None)
        if root is None:
            return self._missing(f"{module}.{name}")
        below = module[len(root) + 1 :]
        found = next(self._found(root, below, name), None)
        if found is None and (new := RENAMED.get(name)) is not None:
            found = next(self._found(root, below, new), None)
        if found is not None:
            self._note(f"{module}.{name} is taken from where Keras has it now")
            return found
        if name in OLD_MODULES:
            return OldModule(f"{module}.{name}", self._find)
        if name in SETTINGS:
            self._note(f"{name}(), which Keras does not have any more, does nothing")
            return SETTINGS[name]
        self._note(f"{module}.{name} is gone; code that calls it was left to fail")
        return self._missing(f"{module}.{name}")

    def _found(self, root: str, below: str, name: str) -> Iterator[Any]:
        """The things of that name in Keras: in the modules around the one that is asked, then in all."""
        parts = below.split(".") if below else []
        around = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
        inner = vars(source).get(name) if (source := _source(below)) is not None else None
        if inner is not None and not isinstance(inner, types.ModuleType):
            yield inner
        for home in dict.fromkeys((*around, *HOMES)):
            for head in _roots(root):
                module: Any = head
                for part in filter(None, home.split(".")):
                    module = vars(module).get(part) if isinstance(module, types.ModuleType) else None
                if isinstance(module, types.ModuleType) and name in vars(module):
                    yield vars(module)[name]


def _source(below: str) -> types.ModuleType | None:
    """The module of that path in the source of the Keras that programs import, where old ones are kept on."""
    keras = importlib.import_module("keras")
    name = f"{keras.__name__}.src.{below}"
    try:
        return importlib.import_module(name) if below else None
    except ImportError:
        return None


def _is_known(path: str) -> bool:
    """Whether a module of that name, or one below it, is known to have another name or a stand-in."""
    return any(path == name or name.startswith(f"{path}.") for name in (*MOVED, *MNIST))


def _roots(root: str) -> list[types.ModuleType]:
    """The packages in which names of Keras are looked for: the one that the program asks, then the one that is
    `tf.keras`, which has more of the old names."""
    keras = importlib.import_module("keras")
    if keras.__name__ != "keras":  # an older one stands in its place
        return [keras]
    of_tensorflow = importlib.import_module("keras._tf_keras.keras")
    return [keras, of_tensorflow] if root == "keras" else [of_tensorflow, keras]


def _is_public(name: str) -> bool:
    own = name == "keras" or name.startswith(("keras.", "tf_keras.api._v2.keras"))
    return own and not name.startswith("keras.src") and sys.modules.get(name) is not None


def be_without_eager() -> None:
    """Let the optimizers of `tf_keras` be those that work where no operation is run at once: what its others say of
    themselves is asked of their variables."""
    if importlib.util.find_spec("tf_keras") is None:
        return
    legacy = vars(importlib.import_module("tf_keras.optimizers.legacy"))
    for name, module in list(sys.modules.items()):
        if re.fullmatch(r"(?:tf_keras|keras|tensorflow\.keras)(?:\.api\._v2\.keras)?\.optimizers", name):
            new = {each: kind for each, kind in legacy.items() if isinstance(kind, type) and each in vars(module)}
            vars(module).update(new)


def be_keras_2() -> None:
    """Let `keras` be `tf_keras` for all that is imported from here on."""
    older = importlib.import_module("tf_keras")
    for name in [each for each in sys.modules if each == "keras" or each.startswith("keras.")]:
        if not name.startswith(("keras.src", "keras._tf_keras")):
            del sys.modules[name]
    for name in [each for each in sys.modules if each.startswith("tensorflow.keras")]:
        del sys.modules[name]
    sys.modules["keras"], sys.modules["tensorflow.keras"] = older, sys.modules["tensorflow"].keras
    vars(sys.modules["tensorflow.keras"]).setdefault("__version__", older.__version__)
    for name, module in list(sys.modules.items()):
        public = re.match(r"tf_keras\.(?:api\._v[12]\.keras\.)?(?!src\b|api\b)(.+)", name)
        if public is not None:
            sys.modules.setdefault(f"keras.{public[1]}", module)
            sys.modules.setdefault(f"tensorflow.keras.{public[1]}", module)


def encoders(note: Note) -> Callable[[types.ModuleType], None]:
    """What lets the encoders of scikit-learn take the arguments that they had."""

    def change(module: types.ModuleType) -> None:
        for name in ("OneHotEncoder",):
            kind: Any = getattr(module, name)
            kind.__init__ = _of_sparse(kind.__init__, note)
            kind.get_feature_names = lambda self, *args, **given: self.get_feature_names_out(*args, **given)

    return change


def _of_sparse(make: Any, note: Note) -> Any:
    @functools.wraps(make)
    def made(self: Any, *args: Any, **given: Any) -> None:
        for gone in ("categorical_features", "n_values"):
            given.pop(gone, None)
        if "sparse" in given:
            note("sparse_output was set for sparse, which this scikit-learn does not have")
            given["sparse_output"] = given.pop("sparse")
        make(self, *args, **given)

    return made


SETTINGS: dict[str, Callable[..., Any]] = {
    "image_dim_ordering": lambda: "tf",
    "set_image_dim_ordering": lambda *_: None,
    "set_session": lambda *_: None,
    "multi_gpu_model": lambda model, *_, **__: model,
}


# -- the reader of MNIST ---------------------------------------------------------------------------------------------


class Rows:
    """The images and labels of one part."""

    def __init__(self, images: Any, labels: Any) -> None:
        self.images, self.labels = images, labels
        self.num_examples, self.epochs_completed, self._at = len(images), 0, 0

    def next_batch(self, size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """The next images and labels, from the first on again after the last."""
        if self._at + size > self.num_examples:
            self._at, self.epochs_completed = 0, self.epochs_completed + 1
        start, self._at = self._at, self._at + size
        return self.images[start : start + size], self.labels[start : start + size]


def read_data_sets(
    train_dir: str = "",
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = "float32",
    reshape: bool = True,
    validation_size: int = 5000,
    **_: Any,
) -> Any:
    """Made-up images in the parts and shapes of the real reader."""
    numpy = importlib.import_module("numpy")
    draw = numpy.random.default_rng(0)
    kind = getattr(dtype, "as_numpy_dtype", dtype)

    def part(count: int) -> Rows:
        labels = draw.integers(0, 10, count, dtype="uint8")
        images = draw.random((count, 784) if reshape else (count, 28, 28, 1), dtype="float32").astype(kind, copy=False)
        return Rows(images, numpy.eye(10)[labels] if one_hot else labels)

    sizes = {"train": 60000 - validation_size, "validation": validation_size, "test": 10000}
    return types.SimpleNamespace(**{name: part(count) for name, count in sizes.items()})
