"""`tf.contrib` for programs of version 1, made of what TensorFlow 2 keeps of it; loaded by `main.py`.

A name that lives on elsewhere is taken from there, and the layers that most programs use are made of those that do the
same. Of the others nothing is made up: they can be named and imported, and fail when they are called.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

Note = Callable[[str], None]

ROOT = "tensorflow.contrib"
READER = f"{ROOT}.learn.python.learn.datasets.mnist"
"""A module that others answer for."""

MODULES = frozenset({
    "bayesflow", "core_rnn_cell", "crf", "cudnn_rnn", "data", "datasets", "distribute", "distributions", "eager",
    "estimator", "framework", "image", "keras", "layers", "learn", "legacy_seq2seq", "lookup", "losses",
    "memory_stats", "metrics", "nets", "ops", "opt", "python", "quantize", "rnn", "saved_model", "seq2seq", "slim",
    "summary", "tensorboard", "tensorrt", "tpu", "training", "utils",
})  # fmt: skip
"""Names that are modules."""

HOMES = (
    "nn.rnn_cell",
    "nn",
    "data.experimental",
    "data",
    "distribute",
    "train",
    "losses",
    "initializers",
    "summary",
    "",
)
"""Where TensorFlow 2 keeps what has the same name."""

MOVED = {
    "BasicRNNCell": "nn.rnn_cell.BasicRNNCell",
    "LSTMBlockCell": "nn.rnn_cell.LSTMCell",
    "LSTMBlockFusedCell": "nn.rnn_cell.LSTMCell",
    "LayerNormBasicLSTMCell": "nn.rnn_cell.BasicLSTMCell",
    "max_pooling2d": "layers.max_pooling2d",
    "one_hot_encoding": "one_hot",
    "xavier_initializer": "glorot_uniform_initializer",
    "xavier_initializer_conv2d": "glorot_uniform_initializer",
    "get_global_step": "train.get_or_create_global_step",
    "get_or_create_global_step": "train.get_or_create_global_step",
    "streaming_accuracy": "metrics.accuracy",
    "streaming_auc": "metrics.auc",
    "streaming_mean": "metrics.mean",
    "streaming_precision": "metrics.precision",
    "streaming_recall": "metrics.recall",
}
"""What has another name now: paths in TensorFlow by the names that they had."""


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for the package, and each module of it at any depth. `module` is the class of modules that are gone, and
    `missing` makes what stands for a thing that is nowhere."""

    def __init__(self, module: type[types.ModuleType], missing: Callable[[str], Any], note: Note) -> None:
        self._module: Any = module
        self._missing, self._note = missing, note

    def install(self) -> None:
        """Let TensorFlow have the package. `tensorflow` must be that of version 1."""
        sys.meta_path.insert(0, self)
        package = importlib.import_module(ROOT)
        version_1: Any = sys.modules["tensorflow"]
        version_1.contrib = package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if f"{fullname}.".startswith(f"{ROOT}.") and fullname != READER:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        made: types.ModuleType = self._module(spec.name, self._found)
        return made

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is left to do."""

    def _found(self, module: str, name: str) -> Any:
        path = f"{module}.{name}"
        if path == READER or name in MODULES:
            return importlib.import_module(path)
        found = LAYERS.get(name) or _reached(MOVED.get(name, ""))
        found = found or next(filter(None, (_reached(f"{home}.{name}".lstrip(".")) for home in HOMES)), None)
        if found is None:
            return self._missing(path)
        self._note("tf.contrib is gone: what is named of it is made of what TensorFlow 2 has")
        return found


def _reached(path: str) -> Any:
    """What TensorFlow has at a path; None where there is nothing."""
    found: Any = sys.modules["tensorflow"] if path else None
    for part in path.split(".") if path else ():
        found = getattr(found, part, None)
    return found


# -- layers ----------------------------------------------------------------------------------------------------------

DEFAULTS: dict[str, list[dict[str, Any]]] = {}
"""What `arg_scope` gives the calls of functions, by their names, the inner ones last."""


class arg_scope:
    """Gives functions arguments for all calls inside."""

    def __init__(self, functions: Any, **given: Any) -> None:
        known = functions if isinstance(functions, dict) else {}
        self.scope = dict(known)
        for function in () if known else functions:
            name = getattr(function, "__name__", str(function))
            self.scope[name] = {**(DEFAULTS.get(name) or [{}])[-1], **given}

    def __enter__(self) -> dict[str, Any]:
        for name, given in self.scope.items():
            DEFAULTS.setdefault(name, []).append(given)
        return {**{name: stack[-1] for name, stack in DEFAULTS.items() if stack}, **self.scope}

    def __exit__(self, *_: Any) -> None:
        for name in self.scope:
            DEFAULTS[name].pop()


def add_arg_scope(function: Any) -> Any:
    """A function that takes what `arg_scope` gives it."""

    @functools.wraps(function)
    def scoped(*args: Any, **given: Any) -> Any:
        return function(*args, **{**(DEFAULTS.get(function.__name__) or [{}])[-1], **given})

    return scoped


UNUSED = ("biases_regularizer", "data_format", "outputs_collections", "updates_collections", "variables_collections")
OF_WEIGHTS = {
    "biases_initializer": "bias_initializer",
    "num_outputs": "units",
    "rate": "dilation_rate",
    "stride": "strides",
    "weights_initializer": "kernel_initializer",
    "weights_regularizer": "kernel_regularizer",
}
OF_FILTERS = {**OF_WEIGHTS, "num_outputs": "filters"}


def _layer(name: str, renamed: dict[str, str], fixed: dict[str, Any], activation: str | None = None) -> Any:
    """A layer of version 1 by the arguments of the one in contrib, with what normalizes and activates its output."""

    def layer(inputs: Any, *args: Any, scope: Any = None, reuse: Any = None, **given: Any) -> Any:
        version_1 = sys.modules["tensorflow"]
        activate = given.pop("activation_fn", getattr(version_1.nn, activation) if activation else None)
        normalize, settings = given.pop("normalizer_fn", None), given.pop("normalizer_params", None) or {}
        taken = {renamed.get(key, key): value for key, value in given.items() if key not in UNUSED}
        taken["use_bias"] = normalize is None and taken.get("bias_initializer", "zeros") is not None
        with version_1.variable_scope(scope, name, reuse=reuse):
            made = getattr(version_1.layers, name)(inputs, *args, **{**fixed, **taken})
            made = normalize(made, **settings) if normalize is not None else made
        return activate(made) if activate is not None else made

    return layer


def _pool(kind: str) -> Any:
    def pool(
        inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", scope: Any = None, **_: Any
    ) -> Any:
        return getattr(sys.modules["tensorflow"].layers, kind)(inputs, kernel_size, stride, padding)

    return pool


OF_NORMALIZING = ("center", "epsilon", "scale", "trainable")


def _batch_norm(inputs: Any, decay: float = 0.999, is_training: Any = True, **given: Any) -> Any:
    version_1 = sys.modules["tensorflow"]
    activate = given.get("activation_fn")
    kept = {"scale": False, **{name: given[name] for name in OF_NORMALIZING if name in given}}
    with version_1.variable_scope(given.get("scope"), "BatchNorm", reuse=given.get("reuse")):
        made = version_1.layers.batch_normalization(inputs, momentum=decay, training=is_training, **kept)
    return activate(made) if activate is not None else made


def _dropout(inputs: Any, keep_prob: Any = 0.5, is_training: Any = True, **_: Any) -> Any:
    return sys.modules["tensorflow"].layers.dropout(inputs, 1 - keep_prob, training=is_training)


def _flatten(inputs: Any, *_: Any, **__: Any) -> Any:
    return sys.modules["tensorflow"].layers.flatten(inputs)


def _softmax(logits: Any, *_: Any, **__: Any) -> Any:
    return sys.modules["tensorflow"].nn.softmax(logits)


def _regularizer(scale: float = 0.0, *_: Any, **__: Any) -> Any:
    return lambda weights: scale * sys.modules["tensorflow"].nn.l2_loss(weights)


def _repeat(inputs: Any, times: int, layer: Any, *args: Any, scope: str | None = None, **given: Any) -> Any:
    scope = scope or getattr(layer, "__name__", "repeat")
    with sys.modules["tensorflow"].variable_scope(scope):
        for number in range(times):
            inputs = layer(inputs, *args, scope=f"{scope}_{number + 1}", **given)
    return inputs


def _named(name: str, function: Any) -> Any:
    function.__name__ = name
    return add_arg_scope(function)


SAME = {"padding": "same"}
LAYERS: dict[str, Any] = {
    "arg_scope": arg_scope,
    "add_arg_scope": add_arg_scope,
    "repeat": _repeat,
    "l2_regularizer": _regularizer,
    "softmax": _softmax,
    **{name: _named(name, _layer("conv2d", OF_FILTERS, SAME, "relu")) for name in ("conv2d", "convolution2d")},
    "conv2d_transpose": _named("conv2d_transpose", _layer("conv2d_transpose", OF_FILTERS, SAME, "relu")),
    **{name: _named(name, _layer("dense", OF_WEIGHTS, {}, "relu")) for name in ("fully_connected", "relu")},
    "linear": _named("linear", _layer("dense", OF_WEIGHTS, {})),
    "max_pool2d": _named("max_pool2d", _pool("max_pooling2d")),
    "avg_pool2d": _named("avg_pool2d", _pool("average_pooling2d")),
    "batch_norm": _named("batch_norm", _batch_norm),
    "dropout": _named("dropout", _dropout),
    "flatten": _named("flatten", _flatten),
}
"""The layers that most programs use, and what goes with them."""
