"""What initialises TensorFlow's runtime: from then on the physical devices are fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.calls import Call
from tfmemlint.model.layers import networks
from tfmemlint.model.values import Array, Instance, Iterator, Sequence

if TYPE_CHECKING:
    from tfmemlint.model.effects import Order
    from tfmemlint.model.file import File

INITIALISED = "runtime initialised"

RUNS_MODEL = frozenset(
    f"tf.keras.Model.{name}"
    for name in ("fit", "evaluate", "predict", "train_on_batch", "predict_on_batch", "test_on_batch")
)


LIBRARIES = frozenset({"tensorflow_datasets.load", "tensorflow_hub.load", "tensorflow_hub.KerasLayer"})
"""Functions of other libraries that make datasets and variables."""

GRAPH_ONLY = ("tf.compat.v1.disable_v2_behavior", "tf.compat.v1.disable_eager_execution")
"""After these, ops are nodes of a graph, and a session has the devices: the eager runtime is never started."""


def initialises(call: Call) -> bool:
    """Whether a call certainly initialises the runtime."""
    file = call.evaluator.file
    if not call.names or file.contexts.entered(call.node, "tf.Graph.as_default") is not None:
        return False
    return all(_initialises(name, call) for name in call.names) and not any(file.calls(*GRAPH_ONLY))


def _initialises(name: str, call: Call) -> bool:
    if name in RUNS_MODEL or name in LIBRARIES:
        return True
    if name.endswith(".__call__"):
        given = call.value_of(0)
        return isinstance(given, Array) and isinstance(call.target, Instance)
    if name == "tf.keras.Sequential":
        return _has_input(call)
    if name == "tf.keras.Sequential.add":
        return _adds_weights(call)
    if name == "tf.keras.layers.Layer.build":
        return isinstance(call.receiver, Instance) and call.receiver.type_name in (networks.SEQUENTIAL, networks.MODEL)
    if name.startswith("tf.keras.applications."):
        return knowledge.returns_class(name) == "tf.keras.Model"  # its weights are made
    return knowledge.initialises(name) is True


def _has_input(call: Call) -> bool:
    """Whether the first layer of a Sequential model says the input's shape, so that the model is built at once."""
    layers = call.value_of("layers")
    if isinstance(layers, Iterator) or not isinstance(layers, Sequence) or not layers.items:
        return False
    first = layers.items[0]
    steps = list(networks.placed(call))
    if steps and all(step.effect is not None and step.effect.parameters == 0 for step in steps):
        return False  # without weights nothing is made
    if isinstance(first, Array):
        return True
    if not isinstance(first, Instance) or first.call is None:
        return False
    if first.type_name == "tf.keras.layers.InputLayer":
        return True
    return any(first.call.arg(name) is not None for name in ("input_shape", "input_dim", "batch_input_shape"))


def _adds_weights(call: Call) -> bool:
    """Whether a layer with weights is added to a model that knows its input's shape, so that the weights are made."""
    model, layer = call.receiver, call.value_of(0)
    if not isinstance(model, Instance) or model.call is None or model.call.name != networks.SEQUENTIAL:
        return False
    return any(
        step.layer == layer and step.shape is not None and step.effect is not None and bool(step.effect.parameters)
        for step in networks.placed(model.call)
    )


def initialisation(file: File) -> Order:
    """The order of this file's effects with the runtime's initialisation marked."""

    def classify(node: Call | cst.BaseSmallStatement) -> str | None:
        return INITIALISED if isinstance(node, Call) and initialises(node) else None

    return file.effects.order(INITIALISED, classify)
