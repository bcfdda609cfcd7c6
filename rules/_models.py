"""Questions about Keras models that several rules ask."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._loops import assigned_names

from tfmemlint.api import Call, File, Instance, Value, constant, knowledge, walk

OPTIMIZER_NAMES = {
    "adam": "Adam", "sgd": "SGD", "rmsprop": "RMSprop", "adagrad": "Adagrad", "adadelta": "Adadelta", "adamax": "Adamax",
    "nadam": "Nadam", "ftrl": "Ftrl", "adamw": "AdamW", "lion": "Lion", "adafactor": "Adafactor",
}  # fmt: skip


def is_model(value: Value, file: File) -> bool:
    """Whether a value is certainly a Keras model."""
    if not isinstance(value, Instance):
        return False
    if value.class_node is not None:
        return file.values.classes.derives(value.class_node, "tf.keras.Model")
    return value.type_name == "tf.keras.Model" or "tf.keras.Model" in knowledge.bases(value.type_name or "")


def all_models(value: Value, file: File) -> bool:
    """Whether every alternative of a value is a Keras model."""
    return all(is_model(option, file) for option in value.options)


def copies_of_parameters(file: File) -> tuple[int, str]:
    """How many arrays of the parameters' size training holds, and with which optimizer: weights, gradients and the
    optimizer's slots. Without a `compile` in the file it is counted as Adam, and the name is empty."""
    for compiled in file.calls("tf.keras.Model.compile"):
        optimizer = compiled.value_of("optimizer")
        name = constant(optimizer)
        kind = OPTIMIZER_NAMES.get(str(name).lower()) if isinstance(name, str) else None
        if isinstance(optimizer, Instance) and (optimizer.type_name or "").startswith("tf.keras.optimizers."):
            kind = (optimizer.type_name or "").rpartition(".")[2]
        if kind is not None:
            slots = knowledge.optimizer_slots(f"tf.keras.optimizers.{kind}")
            return 2 + (slots if slots is not None else 2), kind
    return 4, ""


def varies_with_loop(call: Call, loop: cst.For | cst.While, file: File) -> bool:
    """Whether any name that a call reads is bound by the loop."""


    bound = set(assigned_names(loop, file))
    return any(isinstance(n, cst.Name) and n.value in bound for arg in call.node.args for n in walk(arg.value))
