"""Which expressions in a callback are copies of weights or outputs, and where a container keeps what it is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
from tfmemlint_rules._models import all_models

from tfmemlint.api import Array, Call, Const, File, Instance, Node, Value, dotted, parameters, walk

ADDS = frozenset({"append", "appendleft", "extend", "insert", "add"})
TRIMS = frozenset({"pop", "popleft", "popitem", "clear"})
WEIGHTS = frozenset({
    "weights", "variables", "trainable_weights", "trainable_variables", "non_trainable_weights", "layers",
})  # fmt: skip
SAME_SIZE = frozenset(
    {"numpy", "copy", "deepcopy", "array", "asarray", "identity", "stop_gradient", "get_value", "list"}
)
"""Functions and methods whose result is as large as what they are given."""


@dataclass(frozen=True, slots=True)
class Kept:
    """`item` is added to `container` by the statement or call at `where`."""

    where: Node
    container: cst.BaseExpression
    item: cst.BaseExpression


def kept(body: Node) -> Iterator[Kept]:
    """What code adds to containers: `c.append(x)`, `c[k] = x`, `c += [x]`."""
    for node in walk(body):
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.args:
            if node.func.attr.value in ADDS:
                yield Kept(node, node.func.value, node.args[-1].value)
        elif isinstance(node, cst.Assign) and isinstance(target := node.targets[0].target, cst.Subscript):
            index = target.slice[0].slice
            if not (isinstance(index, cst.Index) and isinstance(index.value, (cst.SimpleString, cst.Integer))):
                yield Kept(node, target.value, node.value)
        elif isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.AddAssign):
            yield Kept(node, node.target, node.value)


def trimmed(container: cst.BaseExpression, within: Node) -> bool:
    """Whether code takes things out of a container again, or starts it anew."""
    name = dotted(container)
    for node in walk(within):
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in TRIMS:
            if dotted(node.func.value) == name:
                return True
        if isinstance(node, (cst.AssignTarget, cst.Del)):
            target = node.target
            inner = target.value if isinstance(target, cst.Subscript) else target
            deleted = isinstance(node, cst.Del) or not isinstance(target, cst.Subscript)
            if deleted and dotted(inner) == name:
                return True
    return False


def bounded(container: cst.BaseExpression, within: Node) -> bool:
    """Whether a container is made as `deque(maxlen=...)`."""
    for node in walk(within):
        if isinstance(node, cst.Assign) and any(dotted(t.target) == dotted(container) for t in node.targets):
            made = node.value
            if isinstance(made, cst.Call) and any(a.keyword and a.keyword.value == "maxlen" for a in made.args):
                return True
    return False


def is_copy(item: cst.BaseExpression, file: File, depth: int = 6) -> bool:
    """Whether an item is weights, gradients, outputs of a model or another tensor that is no scalar."""
    if depth == 0:
        return False
    if isinstance(item, cst.Name):
        found = file.definitions(item)
        values = [d.value for d in found if not d.path]
        if len(found) == len(values) == 1 and isinstance(values[0], cst.BaseExpression):
            return is_copy(values[0], file, depth - 1)
        return False
    if isinstance(item, (cst.Tuple, cst.List)):
        return any(is_copy(element.value, file, depth - 1) for element in item.elements)
    if isinstance(item, cst.Dict):
        return any(is_copy(element.value, file, depth - 1) for element in item.elements)
    if isinstance(item, (cst.ListComp, cst.GeneratorExp)):
        return _each_weight(item)
    if isinstance(item, cst.Subscript) and _predicted(item, file):
        return True
    if isinstance(item, cst.Subscript):  # one array of the weights; more indices make it a part of one
        inner = item.value
        return isinstance(inner, cst.Call) and isinstance(inner.func, cst.Attribute) and _is_weights(inner)
    if isinstance(item, cst.Call):
        return _is_result(file.call(item), file, depth - 1)
    return _is_tensor(file.value(item))


def _is_weights(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and call.func.attr.value == "get_weights" and not call.args


def _is_result(call: Call, file: File, depth: int) -> bool:
    receiver = call.receiver_node
    if _is_weights(call.node) or call.name in ("tf.GradientTape.gradient", "tf.keras.models.clone_model"):
        return True
    if call.method == "predict" and receiver is not None:
        return is_own_model(receiver) or all_models(file.value(receiver), file)
    if call.method == "model" and isinstance(call.node.func, cst.Attribute) and is_own_model(call.node.func):
        return True
    if call.method in SAME_SIZE:
        given = receiver if not call.node.args else call.node.args[0].value
        return given is not None and is_copy(given, file, depth)
    return _is_tensor(call.value, unknown=isinstance(call.target, Instance))


def _is_tensor(value: Value, unknown: bool = False) -> bool:
    """Whether a value is a tensor of some size; one of unknown shape may be a scalar."""
    if not isinstance(value, Array) or value.library != "tf":
        return False
    return unknown if value.shape is None else value.shape != ()


def _each_weight(comprehension: cst.ListComp | cst.GeneratorExp) -> bool:
    """`[w.numpy() for w in self.model.trainable_variables]`, `[layer.get_weights() for layer in self.model.layers]`."""
    over, item = comprehension.for_in.iter, comprehension.elt
    if isinstance(item, cst.Call) and isinstance(item.func, cst.Attribute) and item.func.attr.value == "numpy":
        item = item.func.value
    each = isinstance(over, cst.Attribute) and over.attr.value in WEIGHTS and over.attr.value != "layers"
    if isinstance(item, cst.Call):
        copied = item.args[0].value if len(item.args) == 1 else None
        named = dotted(item.func) or ""
        if _is_weights(item):
            return isinstance(over, cst.Attribute) and over.attr.value in WEIGHTS
        return each and isinstance(copied, cst.Name) and named.rpartition(".")[2] in SAME_SIZE
    return isinstance(item, cst.Name) and (each or (isinstance(over, cst.Call) and _is_weights(over)))


def is_own_model(node: cst.BaseExpression) -> bool:
    """Whether an expression is `self.model`."""
    return dotted(node) == "self.model"


def _predicted(item: cst.Subscript, file: File) -> bool:
    """Whether `logs["outputs"]` is what Keras gives a hook for each batch that is predicted."""
    hook = file.contexts.function(item)
    names = [p.name.value for p in parameters(hook)] if hook is not None else []
    key = item.slice[0].slice
    outputs = isinstance(key, cst.Index) and file.value(key.value) == Const("outputs")
    return outputs and isinstance(item.value, cst.Name) and item.value.value in names[-1:]
