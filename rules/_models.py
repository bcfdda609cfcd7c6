"""Questions about Keras models that several rules ask."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._loops import assigned_names

from tfmemlint.api import Call, Class, File, Function, Instance, Node, Sequence, Value, constant, knowledge, walk

OPTIMIZER_NAMES = {
    "adam": "Adam", "sgd": "SGD", "rmsprop": "RMSprop", "adagrad": "Adagrad", "adadelta": "Adadelta",
    "adamax": "Adamax", "nadam": "Nadam", "ftrl": "Ftrl", "adamw": "AdamW", "lion": "Lion", "adafactor": "Adafactor",
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


BUILDERS = frozenset({"tf.keras.Sequential", "tf.keras.Model", "tf.keras.models.clone_model"})
CLEARS = frozenset({"clear_session", "reset_default_graph", "reset_uids"})


def model_at(call: Call) -> tuple[int, ...] | None:
    """Where a call gives a new model: () for the result itself, an index for a model in a tuple; None for no model.

    Constructors, `clone_model`, `tf.keras.applications` and the module's own functions and classes make models.
    """
    if call.names:
        if not all(name in BUILDERS or name.startswith("tf.keras.applications.") for name in call.names):
            return None
    elif not all(isinstance(target, (Function, Class)) for target in call.target.options):
        return None
    found = {_model_path(value, call) for value in call.value.options}
    return found.pop() if len(found) == 1 else None


def _model_path(value: Value, call: Call) -> tuple[int, ...] | None:
    file = call.evaluator.file
    if isinstance(value, Sequence) and value.kind == "tuple" and not value.open:
        return next(((i,) for i, item in enumerate(value.items) if is_model(item, file)), None)
    return () if is_model(value, file) else None


def clears(body: Node, file: File) -> bool:
    """Whether the code clears the Keras session or the default graph, itself or by a function of the module."""
    for node in walk(body):
        if isinstance(node, cst.Call):
            call = file.call(node)
            if call.method in CLEARS:
                return True
            inside = (n for t in call.target.options if isinstance(t, Function) for n in walk(t.node.body))
            if any(isinstance(n, cst.Call) and file.call(n).method in CLEARS for n in inside):
                return True
    return False
