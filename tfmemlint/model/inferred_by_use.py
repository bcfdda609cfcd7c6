"""Pipelines and models whose beginning is not seen: what is done with an unknown value says what it must be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import BOTTOM, Api, Array, Dataset, Instance, Method, Value
from tfmemlint.syntax.scopes import dotted

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.syntax.program import Program

TELLING = frozenset({"num_parallel_calls", "reshuffle_each_iteration", "cycle_length", "padded_shapes"})
"""Parameters that only methods of tf.data pipelines have. The names of the methods are found in other libraries too."""


MODEL = "tf.keras.Model"

OF_TORCH = frozenset({"torch4keras", "keras4torch"})
"""Libraries that give PyTorch's models the methods of Keras'."""


def model_by_use(call: Call, otherwise: Value) -> Value:
    """What an unknown function returns: a Keras model, where its name is used as only those are."""
    file = call.evaluator.file
    assign = file.tree.parent(call.node)
    if otherwise is BOTTOM or not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return otherwise
    path = dotted(assign.targets[0].target)
    if path is None:
        return otherwise
    target = assign.targets[0].target
    if isinstance(target, cst.Name):
        definition = file.definition(target)
        uses = file.uses_of(definition) if definition is not None else []
        return Instance(MODEL, call) if any(id(use) in file.shown_models.names for use in uses) else otherwise
    owner = file.class_of(file.scope_of(assign))
    return Instance(MODEL, call) if (id(owner), path) in file.shown_models.paths else otherwise


class ShownModels(NamedTuple):
    """What is used as only Keras models are: Name nodes by their ids, dotted paths by the class that they stand in."""

    names: frozenset[int]
    paths: frozenset[tuple[int, str | None]]


def shown_models(file: Program) -> ShownModels:
    """What is used as only Keras models are."""
    shown = _shown(file)
    others = (node for node in shown if not isinstance(node, cst.Name))
    return ShownModels(
        frozenset(id(node) for node in shown if isinstance(node, cst.Name)),
        frozenset((id(file.class_of(file.scope_of(node))), dotted(node)) for node in others),
    )


def _shown(file: Program) -> list[cst.BaseExpression]:
    """What is compiled with an optimizer, and a loss or metrics, by name, or has weights that are read from a file or
    written to one. Nothing where PyTorch is imported and neither TensorFlow nor Keras: libraries for it have models
    with the same methods."""
    if _is_of_torch(file):
        return []
    loads = (
        file.called(node) for word in ("load_weights", "save_weights") for node in file.calls_by_word.get(word, ())
    )
    found = [func.value for func in loads if isinstance(func, cst.Attribute)]
    for node in file.calls_by_word.get("compile", ()):
        given = {arg.keyword.value for arg in node.args if arg.keyword is not None}
        if isinstance(node.func, cst.Attribute) and "optimizer" in given and not given.isdisjoint(("loss", "metrics")):
            found.append(node.func.value)
    return found


def _is_of_torch(file: Program) -> bool:
    modules = [dotted(alias.name) or "" for node in file.tree.of(cst.Import) for alias in node.names]
    modules += [dotted(node.module) or "" for node in file.tree.of(cst.ImportFrom) if node.module and not node.relative]
    roots = {module.partition(".")[0] for module in modules}
    return "torch" in roots and not any("keras" in root or "tensorflow" in root for root in roots - OF_TORCH)


def dataset_method_by_use(call: Call, otherwise: Value) -> Value:
    """What is called on an unknown object, where the call or the chain around it tells that it is a pipeline."""
    name = call.method
    if name in ("astype", "to_numpy") and call.node.args and otherwise is not BOTTOM:
        # Of NumPy or pandas: TensorFlow's own have no such methods.
        if name == "astype" or any(a.keyword is None or a.keyword.value == "dtype" for a in call.node.args):
            return Method(Array("np"), "np.ndarray.astype")
    owner = knowledge.method_owner("tf.data.Dataset", name) if name is not None else None
    if owner is None or otherwise is BOTTOM:
        return otherwise
    root: cst.BaseExpression = call.node
    while isinstance(root, cst.Call) and isinstance(root.func, cst.Attribute):
        root = root.func.value
    return Method(Dataset(None), owner) if tells(call.evaluator, chain(call.evaluator, root)) else otherwise


def chain(evaluator: Evaluator, start: cst.BaseExpression) -> list[cst.Call]:
    """The calls of tf.data methods that follow each other after an expression."""
    found: list[cst.Call] = []
    node: cst.CSTNode = start
    while True:
        attribute = evaluator.tree.parent(node)
        if not isinstance(attribute, cst.Attribute) or attribute.value is not node:
            return found
        called = evaluator.tree.parent(attribute)
        if not isinstance(called, cst.Call) or called.func is not attribute:
            return found
        if knowledge.method_owner("tf.data.Dataset", attribute.attr.value) is None:
            return found
        found.append(called)
        node = called


def tells(evaluator: Evaluator, calls: Iterable[cst.Call]) -> bool:
    """Whether calls on one object show that it is a tf.data pipeline."""
    return any(
        _is_autotune(evaluator, arg.value) or (arg.keyword is not None and arg.keyword.value in TELLING)
        for call in calls
        for arg in call.args
    )


def _is_autotune(evaluator: Evaluator, node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Attribute, cst.Name)) and evaluator.value(node) == Api("tf.data.AUTOTUNE")
