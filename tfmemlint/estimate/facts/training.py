"""`compile`, `fit`, `train_on_batch`, `predict`: what a model is trained with, and the steps that come of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.estimate.facts import graphs, objects, operations
from tfmemlint.estimate.facts.asked import Arguments, Asked
from tfmemlint.estimate.facts.recorded import Node
from tfmemlint.estimate.facts.values import NONE, Closure, Held, Listed, Object, Traced, leaves
from tfmemlint.estimate.step import Loss, Missing, Optimizer
from tfmemlint.model.values import Api, Const, Mapping, Shape, Unknown, Value, constant

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

FITS = ("fit", "fit_generator", "train_on_batch")
PREDICTS = ("predict", "predict_generator", "predict_on_batch")

TF_LOSSES = {
    "sparse_softmax_cross_entropy_with_logits": "sparse_categorical_crossentropy",
    "softmax_cross_entropy_with_logits": "categorical_crossentropy",
    "softmax_cross_entropy_with_logits_v2": "categorical_crossentropy",
    "sigmoid_cross_entropy_with_logits": "binary_crossentropy",
}
"""Functions of TensorFlow that take logits, and the losses of Keras that they are."""

SHORT = {
    "mse": "mean_squared_error", "mae": "mean_absolute_error", "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error", "bce": "binary_crossentropy", "kld": "kl_divergence",
    "kullback_leibler_divergence": "kl_divergence", "logcosh": "log_cosh", "huber_loss": "huber",
    "cosine_proximity": "cosine_similarity", "kl_divergence": "kl_divergence", "logloss": "binary_crossentropy",
}  # fmt: skip

LOGITS_GIVEN = "from_logits"


@dataclass(slots=True)
class Found:
    """A step in the making: what is known of it, and what is not."""

    line: int
    call: str
    model: str
    missing: list[Missing] = field(default_factory=list)


def compile_model(machine: Machine, model: Object, given: Arguments, node: cst.Call) -> None:
    """`model.compile(...)`, of Keras itself."""
    call = Asked(node, machine.evaluator, Api("tf.keras.Model.compile"), given)
    machine.serial += 1
    machine.put(model.fields, "#compiled", Object("compiled", call, serial=machine.serial))
    optimizer = given.get(0, "optimizer")
    if optimizer is not None and model.of is not None:
        found = optimizer_of(optimizer) if isinstance(optimizer, Const) else None
        if found is not None:
            named = Api(f"tf.keras.optimizers.{found.kind}")
            optimizer = objects.new(machine, named.name, Asked(node, machine.evaluator, named, Arguments()))
        machine.put(model.fields, "optimizer", optimizer)


def compiled(model: Object) -> Arguments | None:
    """What `compile` was given; None where it was not called."""
    kept = model.fields.get("#compiled")
    return kept.call.given_values if isinstance(kept, Object) and isinstance(kept.call, Asked) else None


def compiled_optimizer(model: Object) -> Value:
    """`model.optimizer`."""
    given = compiled(model)
    found = given.get(0, "optimizer") if given is not None else None
    return found if found is not None else Unknown("an optimizer")


# -- optimizers ------------------------------------------------------------------------------------------------------

CLASSES = ("SGD", "RMSprop", "Adam", "AdamW", "Adadelta", "Adagrad", "Adamax", "Nadam", "Ftrl", "Lion", "Adafactor",
           "Lamb")  # fmt: skip
BY_WORD = {each.lower(): each for each in CLASSES}
OLD = re.compile(r"tf\.(?:compat\.v1\.)?train\.(\w+)Optimizer")
OLD_NAMES = {"GradientDescent": "SGD", "Momentum": "SGD", "RMSProp": "RMSprop"}


def optimizer_of(value: Value | None) -> Optimizer | None:
    """An optimizer by its word, its class or its object; None where it is not known."""
    if value is None:
        return None
    said = constant(value)
    if isinstance(said, str):
        kind = BY_WORD.get(said.lower())
        return Optimizer(kind) if kind is not None else None
    if isinstance(value, Api) and "optimizers" in value.name:
        return Optimizer(value.name.rpartition(".")[2])
    if not isinstance(value, Object) or value.of is not None or not isinstance(value.call, Asked):
        return None
    name = value.type_name or ""
    kind = name.rpartition(".")[2]
    if kind == "LossScaleOptimizer":
        inner = optimizer_of(value.call.given_values.get(0, "inner_optimizer", "optimizer"))
        return replace(inner, arguments={**inner.arguments, "loss_scale": True}) if inner is not None else None
    old = OLD.fullmatch(name)
    if old is not None:
        kind = OLD_NAMES.get(old.group(1), old.group(1))
    elif not any("Optimizer" in base for base in (name, *knowledge.bases(name))) or kind == "Optimizer":
        return None
    return Optimizer(kind, graphs.arguments(value))


# -- losses ----------------------------------------------------------------------------------------------------------


def loss(value: Value | None) -> Loss | None:
    """A loss by its word, its function or its object; None where it is not known."""
    if value is None:
        return None
    said = constant(value)
    if isinstance(said, str):
        return Loss(_loss_name(said))
    if isinstance(value, Api):
        return Loss(_loss_name(value.name.rpartition(".")[2]))
    if isinstance(value, Held) and isinstance(value.of, Api):
        name = value.of.name.rpartition(".")[2]
        return Loss(_loss_name(name), constant(value.names.get(LOGITS_GIVEN, NONE)) is True)
    if isinstance(value, Object) and value.type_name is not None and value.of is None and value.call is not None:
        logits = constant(value.call.given(LOGITS_GIVEN)) is True
        return Loss(_loss_name(value.type_name.rpartition(".")[2]), logits)
    return None


def _loss_name(word: str) -> str:
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower()
    return SHORT.get(snake, snake)


def compiled_losses(model: Object, outputs: int, line: int) -> tuple[list[Value], list[Missing]]:
    """The losses of a compiled model, one for each output; none where it is not compiled, or computes them itself."""
    given = compiled(model)
    said = given.get(1, "loss") if given is not None else None
    if said is None or said == NONE:
        return [], [Missing("the loss", line)] if given is None else []
    inside = said.items if isinstance(said, Listed) else said
    several = [value for _, value in inside.items] if isinstance(inside, Mapping) else leaves(said)
    if len(several) == 1 and outputs > 1:
        several = several * outputs
    return several, []


def unknown_loss(value: Value) -> str:
    """A loss that is not known, as a noun."""
    name = graphs.plainly(value) if isinstance(value, (Closure, Held)) else None
    return f"the loss `{name}`" if name and name != "lambda" else "the loss"


def loss_of(machine: Machine, name: str, given: Arguments, node: cst.Call, logits: bool) -> Value:
    """A loss that a program computes itself: a node that knows its name and takes labels and predictions."""
    values = (*given.positions[:2], *given.names.values())
    tensors = [machine.tensor_of(leaf) for value in values for leaf in leaves(value)]
    known = [t for t in tensors if t is not None]
    word = name.rpartition(".")[2]
    predicted = _predicted(machine, given)
    shape: Shape | None = ()
    if node is not None and _elementwise(node) and predicted is not None and predicted.shape is not None:
        shape = predicted.shape[:-1]
    made = machine.record.tensor(shape, "float32", "tf")
    line = operations.line_of(machine, node)
    inputs = [predicted.number] if predicted is not None else [t.number for t in known if t.library != "np"][-1:]
    found = Loss(_loss_name(word), logits)
    machine.record.add(Node(found.kind, line, tuple(inputs), (made.number,), loss=found))
    return made


def _predicted(machine: Machine, given: Arguments) -> Traced | None:
    """The predictions among what a loss is given: of two tensors the one that some layer made."""
    values = [given.get(1, "y_pred", "logits", "output", "predictions"), given.get(0, "y_true", "labels")]
    tensors = [leaf for value in values if value is not None for leaf in leaves(value) if isinstance(leaf, Traced)]
    made = [t for t in tensors if t.number in machine.record.made]
    return made[0] if made else tensors[0] if tensors else None


def _elementwise(node: cst.Call) -> bool:
    """Whether a loss is a function, which gives a number for each place, and no object, which gives their mean."""
    func = node.func
    word = func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")
    return bool(word) and str(word)[:1].islower() and isinstance(func, cst.Attribute)


