"""What the weights of a layer take in memory while they are trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Const, Instance, Value, constant
from tfmemlint.query.facts import classes_deriving
from tfmemlint.query.flow.uses import Does, uses
from tfmemlint.query.keras.models import model_loads
from tfmemlint.query.keras.networks import parameter_count
from tfmemlint.query.keras.untrained import is_never_trained
from tfmemlint.units import show_bytes

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

OPTIMIZERS = "tf.keras.optimizers."
FLOAT32 = 4
ADAM_SLOTS = 2


def trained_bytes(file: File, layer: Call, count: int) -> tuple[int, str]:
    """The bytes that `count` float32 parameters of a layer take with what training adds to them, and words that say
    so. A layer that certainly is frozen, or of a model that nothing trains, takes its weights alone; what is not
    compiled in the file counts as Adam's."""
    weights = count * FLOAT32
    if is_frozen(file, layer) or is_never_trained(file, layer):
        return weights, f"{show_bytes(weights)} of weights"
    optimizer = _compiled_optimizer(file)
    slots = knowledge.optimizer_slots(f"{OPTIMIZERS}{optimizer}") if optimizer else ADAM_SLOTS
    size = weights * (2 + (ADAM_SLOTS if slots is None else slots))  # the weights, their gradients and the slots
    return size, f"{show_bytes(weights)} of weights, {show_bytes(size)} in training with " + (
        optimizer or "an optimizer like Adam"
    )


def left_bytes(file: File, model: Call) -> tuple[int, str] | None:
    """The bytes that a trained model leaves in memory, float32 weights and optimizer slots, and words that say so; None
    where its parameters are not known. The weights alone where the optimizer is not known or parts may be frozen."""
    count = parameter_count(model)
    if count is None:
        return None
    optimizer, frozen = _compiled_optimizer(file), any(n.attr.value == "trainable" for n in file.tree.of(cst.Attribute))
    slots = knowledge.optimizer_slots(f"{OPTIMIZERS}{optimizer}") if optimizer and not frozen else None
    size = count * FLOAT32 * (1 + (slots or 0))
    return size, f"{show_bytes(size)} of weights{' and optimizer slots' if slots else ''}"


def largest_model(file: File) -> int | None:
    """The bytes of float32 weights of the largest model that the file makes; None where one is not known, or is loaded
    or of a class, and where none is seen."""
    if any(model_loads.of(file)) or any(classes_deriving("tf.keras.Model").of(file)):
        return None
    counts = [parameter_count(made) for made in file.calls("tf.keras.Sequential", "tf.keras.Model")]
    known = [count for count in counts if count is not None]
    return max(known) * FLOAT32 if known and len(known) == len(counts) else None


def is_frozen(file: File, layer: Call) -> bool:
    """Whether a layer is certainly not trained: made with `trainable=False`, or set so afterwards. False also where it
    is not known."""
    if layer.value_of("trainable") == Const(False):
        return True
    for use in uses(file, layer.node, attributes=True):
        target = file.tree.parent(use.place) if use.does is Does.SET and use.place is not None else None
        assign = file.tree.parent(target) if target is not None else None
        if use.word == "trainable" and isinstance(assign, cst.Assign) and file.value(assign.value) == Const(False):
            return True
    return False


def is_optimizer(value: Value) -> bool:
    """Whether a value is certainly an optimizer of Keras."""
    return isinstance(value, Instance) and (value.type_name or "").startswith(OPTIMIZERS)


def _compiled_optimizer(file: File) -> str | None:
    """The class of the optimizer that the first `compile` of the file is given; None where none is known."""
    for compiled in file.calls("tf.keras.Model.compile"):
        optimizer = compiled.value_of("optimizer")
        name = constant(optimizer)
        if isinstance(optimizer, Instance) and is_optimizer(optimizer):
            return (optimizer.type_name or "").rpartition(".")[2]
        known = (each.rpartition(".")[2] for each in knowledge.subclasses(f"{OPTIMIZERS}Optimizer"))
        found = next((kind for kind in known if isinstance(name, str) and kind.lower() == name.lower()), None)
        if found is not None:
            return found
    return None
