"""Which expressions are as large as a model's weights or outputs: copies of them, gradients, tensors of some size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Array, Const, Instance, Value
from tfmemlint.query.keras.models import is_model
from tfmemlint.syntax.scopes import dotted, parameters

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

WEIGHTS = frozenset({
    "weights", "variables", "trainable_weights", "trainable_variables", "non_trainable_weights", "layers",
})  # fmt: skip
SAME_SIZE = frozenset(
    {"numpy", "copy", "deepcopy", "array", "asarray", "identity", "stop_gradient", "get_value", "list"}
)
"""Functions and methods whose result is as large as what they are given."""

MOST_STEPS = 6
"""Names, displays and calls behind each other through which an item is followed to what it is a copy of."""


def copies_weights(file: File, item: cst.BaseExpression, *, left: int = MOST_STEPS) -> bool:
    """Whether an expression is certainly weights, gradients, outputs of a model or another tensor that is no scalar,
    or holds some of these: in a callback also of `self.model`. False where that is not known."""
    if left == 0:
        return False
    if isinstance(item, cst.Name):
        made = file.only_definition(item)
        inner = made.value if made is not None and not made.path else None
        return isinstance(inner, cst.BaseExpression) and copies_weights(file, inner, left=left - 1)
    if isinstance(item, (cst.Tuple, cst.List, cst.Dict)):
        values = [element.value for element in item.elements]
        return any(copies_weights(file, each, left=left - 1) for each in values)
    if isinstance(item, (cst.ListComp, cst.GeneratorExp)):
        return _each_weight(item)
    if isinstance(item, cst.Subscript):  # one array of the weights; more indices make it a part of one
        return _predicted(file, item) or (isinstance(item.value, cst.Call) and _is_weights(item.value))
    if isinstance(item, cst.Call):
        return _is_result(file, file.call(item), left - 1)
    return _is_tensor(file.value(item))


def _is_weights(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and call.func.attr.value == "get_weights" and not call.args


def _is_result(file: File, call: Call, left: int) -> bool:
    receiver = call.receiver_node
    if _is_weights(call.node) or call.name in ("tf.GradientTape.gradient", "tf.keras.models.clone_model"):
        return True
    if call.method == "predict" and receiver is not None:
        return dotted(receiver) == "self.model" or is_model(file, file.value(receiver))
    if dotted(call.node.func) == "self.model":
        return True
    if call.method in SAME_SIZE:
        given = receiver if not call.node.args else call.node.args[0].value
        return given is not None and copies_weights(file, given, left=left)
    return _is_tensor(call.value, unknown=isinstance(call.target, Instance))


def _is_tensor(value: Value, *, unknown: bool = False) -> bool:
    """Whether a value is a tensor of some size; one of unknown shape may be a scalar."""
    if not isinstance(value, Array) or value.library != "tf":
        return False
    return unknown if value.shape is None else value.shape != ()


def _each_weight(comprehension: cst.ListComp | cst.GeneratorExp) -> bool:
    """`[w.numpy() for w in self.model.trainable_variables]`, `[layer.get_weights() for layer in self.model.layers]`."""
    over, item = comprehension.for_in.iter, comprehension.elt
    of = over.attr.value if isinstance(over, cst.Attribute) and over.attr.value in WEIGHTS else None
    arrays = of is not None and of != "layers"
    if isinstance(item, cst.Call) and isinstance(item.func, cst.Attribute) and item.func.attr.value == "numpy":
        item = item.func.value
    if isinstance(item, cst.Call):
        if _is_weights(item):
            return of is not None
        copied = item.args[0].value if len(item.args) == 1 else None
        named = (dotted(item.func) or "").rpartition(".")[2]
        return arrays and isinstance(copied, cst.Name) and named in SAME_SIZE
    return isinstance(item, cst.Name) and (arrays or (isinstance(over, cst.Call) and _is_weights(over)))


def _predicted(file: File, item: cst.Subscript) -> bool:
    """Whether `logs["outputs"]` is what Keras gives a hook for each batch that is predicted."""
    hook = file.contexts.function(item)
    names = [p.name.value for p in parameters(hook)] if hook is not None else []
    key = item.slice[0].slice
    outputs = isinstance(key, cst.Index) and file.value(key.value) == Const("outputs")
    return outputs and isinstance(item.value, cst.Name) and item.value.value in names[-1:]
