"""What initialises TensorFlow's runtime: from then on the physical devices are fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model import knowledge
from tfmemlint.model.calls import Call
from tfmemlint.model.values import Array, Instance, Iterator, Sequence

if TYPE_CHECKING:
    from tfmemlint.model.effects import Order
    from tfmemlint.model.file import File

INITIALISED = "runtime initialised"

RUNS_MODEL = frozenset(
    f"tf.keras.Model.{name}"
    for name in ("fit", "evaluate", "predict", "train_on_batch", "predict_on_batch", "test_on_batch")
)


def initialises(call: Call) -> bool:
    """Whether a call certainly initialises the runtime."""
    if not call.names or call.evaluator.file.contexts.entered(call.node, "tf.Graph.as_default") is not None:
        return False
    return all(_initialises(name, call) for name in call.names)


def _initialises(name: str, call: Call) -> bool:
    if name in RUNS_MODEL:
        return True
    if name.endswith(".__call__"):
        given = call.value_of(0)
        return isinstance(given, Array) and isinstance(call.target, Instance)
    if name == "tf.keras.Sequential":
        return _has_input(call)
    if name.startswith("tf.keras.applications."):
        return knowledge.returns_class(name) == "tf.keras.Model"  # its weights are made
    return knowledge.initialises(name) is True


def _has_input(call: Call) -> bool:
    """Whether the first layer of a Sequential model says the input's shape, so that the model is built at once."""
    layers = call.value_of("layers")
    if isinstance(layers, Iterator) or not isinstance(layers, Sequence) or not layers.items:
        return False
    first = layers.items[0]
    if isinstance(first, Array):
        return True
    if not isinstance(first, Instance) or first.call is None:
        return False
    if first.type_name == "tf.keras.layers.InputLayer":
        return True
    return any(first.call.arg(name) is not None for name in ("input_shape", "input_dim", "batch_input_shape"))


def initialisation(file: File) -> Order:
    """The order of this file's effects with the runtime's initialisation marked."""

    def classify(node: Call | cst.BaseSmallStatement) -> str | None:
        return INITIALISED if isinstance(node, Call) and initialises(node) else None

    return file.effects.order(INITIALISED, classify)
