"""What takes the elements of a pipeline: calls of models, also of those that are known by how they are used alone."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Binds, Call, Const, Dataset, Definition, File, Function, Instance, Node, dotted, own_nodes
from tfmemlint.api import Iterator as Items

FITTING = frozenset({
    "epochs", "steps_per_epoch", "validation_data", "validation_steps", "validation_split", "callbacks",
    "initial_epoch", "class_weight",
})  # fmt: skip
COMPILING = frozenset({"optimizer", "loss", "metrics", "loss_weights", "run_eagerly", "jit_compile"})
WEIGHTS = frozenset({"trainable_variables", "trainable_weights"})
"""What only Keras models are asked for: arguments of `fit` and `compile`, and attributes."""

TAKING = frozenset(
    f"tf.keras.Model.{name}"
    for name in ("__call__", "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")
)
STEPS = 3
"""Calls of module functions through which an element is followed to the model."""


def used_as_model(node: cst.CSTNode, file: File) -> bool:
    """Whether what is not known otherwise is used as only a Keras model is, where the same name stands for it."""
    name = dotted(node)
    if name is None or file.value(node).known:
        return False
    home = _home(node, file)
    for word in ("compile", "fit", *WEIGHTS):
        for load in file.loads(word):
            attribute = file.tree.parent(load)
            if (
                isinstance(attribute, cst.Attribute)
                and attribute.attr is load
                and dotted(attribute.value) == name
                and _home(attribute.value, file) is home
                and (word in WEIGHTS or _says_model(attribute, file))
            ):
                return True
    return False


def _says_model(attribute: cst.Attribute, file: File) -> bool:
    node = file.tree.parent(attribute)
    if not isinstance(node, cst.Call) or node.func is not attribute:
        return False
    words = {arg.keyword.value for arg in node.args if arg.keyword is not None}
    if attribute.attr.value == "fit":
        return bool(words & FITTING) and not _made_by_class(attribute.value, file)
    first = file.value(node.args[0].value) if node.args else None
    return bool(words & COMPILING) or isinstance(first, (Const, Instance))


def _made_by_class(node: cst.BaseExpression, file: File) -> bool:
    """Whether a name stands for an object of a class that is not seen: it may batch what it is given itself."""
    found = file.definitions(node)
    return any(isinstance(d.value, cst.Call) and _is_class(d.value.func) for d in found)


def _is_class(function: cst.BaseExpression) -> bool:
    return (dotted(function) or "").rpartition(".")[2][:1].isupper()


def _home(node: cst.CSTNode, file: File) -> Node:
    """The scope whose name this is; for `self.x` the class."""
    root = node
    while isinstance(root, (cst.Attribute, cst.Subscript)):
        root = root.value
    scope = file.scope_of(node)
    owner = file.class_of(scope)
    if root is not node and owner is not None and isinstance(root, cst.Name) and root.value == "self":
        return owner
    while isinstance(root, cst.Name) and not isinstance(scope, cst.Module):
        if root.value in file.flow(scope).bindings:
            return scope
        scope = file.scope_of(scope)
    return scope


def is_model(call: Call, file: File) -> bool:
    """Whether the call calls a Keras model."""
    targets = call.target.options
    if not call.target.known:
        func = call.node.func
        training = any(arg.keyword is not None and arg.keyword.value == "training" for arg in call.node.args)
        return (training and not _is_class(func)) or used_as_model(func, file)
    return all(
        isinstance(t, Instance) and t.type_name in ("tf.keras.Model", "tf.keras.Sequential") for t in targets
    ) and bool(targets)


def taken(call: Call, file: File, depth: int = STEPS) -> Iterator[cst.Arg]:
    """The arguments that a call gives to a model: its own first one, or what a function of the module hands on."""
    args = [arg for arg in call.node.args if not arg.star]
    if is_model(call, file) or (call.names and TAKING.issuperset(call.names)):
        yield from args[:1]
    targets = call.target.options
    if depth == 0 or not all(isinstance(target, Function) for target in targets):
        return
    names = call.parameter_names
    for i, arg in enumerate(args):
        name = arg.keyword.value if arg.keyword is not None else names[i] if i < len(names) else None
        if name is not None and all(
            isinstance(target, Function) and _hands_on(target, name, file, depth - 1) for target in targets
        ):
            yield arg


def _hands_on(function: Function, name: str, file: File, depth: int) -> bool:
    """Whether a function gives its parameter to a model as it is."""
    for node in own_nodes(function.node, cst.Call):
        assert isinstance(node, cst.Call)
        for arg in taken(file.call(node), file, depth):
            definition = origin(arg.value, file)
            if definition is not None and definition.binds is Binds.PARAMETER and definition.name == name:
                return True
    return False


def origin(node: cst.BaseExpression, file: File) -> Definition | None:
    """The definition that an expression is, as it is, a part of: unpacked, picked out by a key, cast or scaled."""
    for _ in range(6):
        inner = _inner(node, file)
        if inner is not None:
            node = inner
            continue
        made = file.only_definition(node) if isinstance(node, cst.Name) else None
        if made is None:
            return None
        value = made.value
        if made.binds is not Binds.VALUE or not isinstance(value, cst.BaseExpression):
            return made
        if not isinstance(value, cst.Name) and _inner(value, file) is None:
            return made
        node = value
    return None


def _inner(node: cst.BaseExpression, file: File) -> cst.BaseExpression | None:
    """What a part, a cast or a scaled version is made of."""
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        index = node.slice[0].slice
        plain = isinstance(index, cst.Index) and isinstance(index.value, (cst.SimpleString, cst.Integer))
        return node.value if plain else None
    if isinstance(node, cst.BinaryOperation) and isinstance(node.right, (cst.Integer, cst.Float)):
        return node.left
    if isinstance(node, cst.Call) and node.args and file.call(node).name == "tf.cast":
        return node.args[0].value
    return None


def drawn_from(assign: cst.Assign, file: File) -> tuple[Dataset, ...]:
    """The pipelines of which `x = next(iterator)` takes an element; empty where it does something else."""
    call = file.call(assign.value) if isinstance(assign.value, cst.Call) else None
    if call is None or call.method not in ("next", "get_next"):
        return ()
    value = call.receiver if call.method == "get_next" else call.value_of(0)
    while isinstance(value, Items):
        value = value.of
    options = value.options
    return tuple(o for o in options if isinstance(o, Dataset)) if all(isinstance(o, Dataset) for o in options) else ()
