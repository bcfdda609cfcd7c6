"""What makes variables: layers with weights, models, optimizers, metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Api, Class, Function, Value
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.ordering.conditions import conditions
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

MODEL = "tf.keras.Model"
LAYERS = "tf.keras.layers."
LAYER = "tf.keras.layers.Layer"
MAKES_WEIGHTS = frozenset({"add_weight", "add_variable", "add_metric", "get_variable"})
"""Methods of layers, and of older TensorFlow, by which a class makes variables."""

Classes = tuple[cst.ClassDef, ...]
"""Classes of the module that are being looked into."""

AROUND = {"tf.keras.layers.TimeDistributed": "layer", "tf.keras.layers.RNN": "cell"}
"""Layers that have no weights but those of the one that they are given, by the parameter."""

PLAIN_BASES = frozenset({LAYER, "tf.Module", "tf.keras.layers.InputSpec"})
"""Classes that hold nothing by themselves."""


ENDS = frozenset({"input", "inputs"})
"""Attributes of models that are the tensors at which they begin."""


def creates_state(file: File, call: Call) -> str | None:
    """What kind of variables a call certainly creates, or makes an object for that will: "a variable", "a layer's
    weights", "a model", "an optimizer", "a metric". None where it creates none, or where that is not known."""
    return _creates(file, call, ())


def _creates(file: File, call: Call, entered: Classes) -> str | None:
    for target in call.target.options:
        if isinstance(target, Class):
            if file.values.classes.derives(target.node, MODEL):
                return "a model"
            layer = file.values.classes.derives(target.node, LAYER)
            return "a layer's weights" if layer and _class_bears(file, target.node, entered) else None
    name = call.name or ""
    if name == "tf.Variable" or name.endswith("Layer.add_weight"):
        return "a variable"
    if not knowledge.is_class(name):
        application = name.startswith("tf.keras.applications.") and knowledge.returns_class(name) == MODEL
        return "a model" if application else None
    if name.startswith(LAYERS):
        return "a layer's weights" if _layer_bears(file, name, call, entered) else None
    if name == MODEL:
        return None if _of_layers_elsewhere(call) else "a model"
    if name == "tf.keras.Sequential":
        return "a model"
    kinds = {"tf.keras.optimizers.Optimizer": "an optimizer", "tf.keras.metrics.Metric": "a metric"}
    return next((kind for base, kind in kinds.items() if base in (name, *knowledge.bases(name))), None)


def _of_layers_elsewhere(call: Call) -> bool:
    """Whether a model is certainly made between tensors of another, with whose layers it shares all weights:
    `Model(model.input, model.get_layer("last").output)`."""
    args = call.node.args
    given = next((a.value for a in args if a.keyword is not None and a.keyword.value == "inputs"), None)
    if given is None and args and args[0].keyword is None:
        given = args[0].value
    if isinstance(given, cst.List) and len(given.elements) == 1:
        given = given.elements[0].value
    return isinstance(given, cst.Attribute) and given.attr.value in ENDS


def state_made_by(
    file: File, function: cst.FunctionDef | cst.Lambda, *, through: int = FOLLOWED_CALLS
) -> Iterator[Call]:
    """The calls that certainly create state each time a function runs: no `if` and no `try` decides. Functions of the
    module that it calls are gone into, `through` of them behind each other."""
    for call in map(file.call, walk(function.body, cst.Call)):
        if any(conditions(file, call.node, function)):
            continue
        if creates_state(file, call) is not None:
            yield call
        inner = [t.node for t in call.target.options if isinstance(t, Function) and t.node is not function]
        for each in inner if through else ():
            yield from state_made_by(file, each, through=through - 1)


def outermost_state(file: File, call: Call) -> bool:
    """Whether no other creation of state in the same expression holds this one (`Sequential([Dense(1)])`)."""
    for above in file.tree.ancestors(call.node):
        if isinstance(above, (cst.BaseSmallStatement, cst.BaseCompoundStatement, cst.Lambda)):
            return True
        if isinstance(above, cst.Call) and creates_state(file, file.call(above)) is not None:
            return False
    return True


def _layer_bears(file: File, name: str, call: Call, entered: Classes) -> bool:
    """Whether a layer of Keras has weights or other variables once it is built; one around another has that one's,
    which are new where it is made in the same expression."""
    if name in AROUND:
        inner = call.arg(AROUND[name])
        made = inner.expression if inner is not None else None
        return isinstance(made, cst.Call) and _creates(file, file.call(made), entered) is not None
    return _has_variables(name)


def _has_variables(layer: str) -> bool:
    return layer not in PLAIN_BASES and knowledge.holds_variables(layer) is not False


def _class_bears(file: File, node: cst.ClassDef, entered: Classes) -> bool:
    """Whether a class of the module makes weights in one of its methods, or has a base of which that is not known."""
    if node in entered:
        return False
    entered = (*entered, node)
    for call in map(file.call, walk(node.body, cst.Call)):
        if call.method in MAKES_WEIGHTS or _creates(file, call, entered) is not None:
            return True
    return not all(_is_plain(file, file.value(base.value), entered) for base in node.bases)


def _is_plain(file: File, base: Value, entered: Classes) -> bool:
    if len(base.options) > 1:
        return all(_is_plain(file, option, entered) for option in base.options)
    if isinstance(base, Class):
        return not _class_bears(file, base.node, entered)
    return isinstance(base, Api) and (base.name in PLAIN_BASES or knowledge.holds_variables(base.name) is False)
