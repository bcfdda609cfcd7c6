"""Questions about Keras models that several rules ask."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import (
    Call,
    Class,
    Const,
    File,
    Function,
    Instance,
    Node,
    Sequence,
    Value,
    constant,
    dotted,
    knowledge,
    show_bytes,
    walk,
)

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


def frozen(layer: Call, file: File) -> bool:
    """Whether a layer is certainly not trained: made with `trainable=False`, or set so afterwards."""
    if layer.value_of("trainable") == Const(False):
        return True
    assign = file.tree.parent(layer.node)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    name = dotted(target) if target is not None else None
    return name is not None and any(
        dotted(t.target) == f"{name}.trainable" and file.value(other.value) == Const(False)
        for other in file.tree.of(cst.Assign)
        for t in other.targets
    )


def in_training(file: File, layer: Call, count: int) -> tuple[int, str]:
    """The bytes that a layer's float32 parameters take with what training adds to them, and words that say so."""
    copies, optimizer = copies_of_parameters(file)
    if frozen(layer, file):
        return count * 4, f"{show_bytes(count * 4)} of weights"
    trained = f" with {optimizer}" if optimizer else " with an optimizer like Adam"
    size = count * 4 * copies
    return size, f"{show_bytes(count * 4)} of weights, {show_bytes(size)} in training{trained}"


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
