"""Keras models: what is one, and what loads, saves, changes or forgets them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Instance, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.names import home_of
from tfmemlint.syntax.scopes import Binds

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

MODEL = "tf.keras.Model"
LAYER = "tf.keras.layers.Layer"
HOLDS = frozenset({Binds.PARAMETER, Binds.VALUE, Binds.ITEM})
"""How a name gets an object, which is no function or class of the file nor one that is imported."""

CLEARS = ("clear_session", "reset_default_graph", "reset_uids")
"""Functions after which Keras or the default graph holds nothing any more, whatever module they are called by."""

MODEL_LOADS = frozenset({
    "tf.keras.models.load_model", "tf.keras.saving.load_model", "tf.saved_model.load", "tensorflow_hub.load",
    "tensorflow_hub.KerasLayer",
})  # fmt: skip
"""What reads a model from files."""

PRETRAINED = "tf.keras.applications."
"""The beginning of what makes a known architecture, mostly with weights that are loaded."""

SAVES = frozenset({"save", "save_model", "save_weights", "export"})

CHANGES = frozenset({
    "set_weights", "load_weights", "layers", "trainable", "trainable_variables", "trainable_weights", "variables",
    "weights", "fit", "compile", "train_on_batch", "add", "pop", "get_layer", "assign",
})  # fmt: skip
"""Attributes of a model by which its weights, layers or settings may become others."""

SHOWS = frozenset({"output", "input", "output_shape", "input_shape", "name", "get_weights", "get_config"})
"""Attributes of a layer that are only read."""

TAKES_OVER = ("tensorflow_model_optimization.", "tf.keras.Sequential")
"""What makes another model of one, with the same layers."""

_DISPLAYS = (cst.Tuple, cst.List, cst.Set, cst.Dict, cst.BaseComp)


def is_model(file: File, value: Value) -> bool:
    """Whether a value is certainly a Keras model, whichever of its alternatives it is: of Keras' own classes or of
    one that the file derives from them. False also where it is not known what it is."""
    return all(_is_model(file, option) for option in value.options)


def _is_model(file: File, value: Value) -> bool:
    return isinstance(value, Instance) and derives(file, value, MODEL)


def derives(file: File, value: Instance, base: str) -> bool:
    """Whether an object is of a class of Keras, or of one of the project's that derives from it."""
    if value.class_node is not None:
        return file.values.classes.derives(value.class_node, base)
    return value.type_name == base or base in knowledge.bases(value.type_name or "")


def runs_model(file: File, call: Call) -> bool:
    """Whether what is called (`model(x)`) is certainly a Keras model; False also where it is not known."""
    return is_model(file, call.target)


def applies_network(file: File, call: Call) -> bool:
    """Whether a call certainly applies a Keras model or layer: one that is known, or an object that is called with
    `training=...`, which no other callable of a program that uses TensorFlow takes.

    An object is what a parameter or another name holds, or an attribute that the file assigns; a function or class that
    is imported or inherited may take the word as well. What the call gives is a tensor, or several in a structure.
    """
    if call.target.known:
        return runs_model(file, call) or _is_layer(file, call.target)
    passed = any(arg.keyword is not None and arg.keyword.value == "training" for arg in call.node.args)
    first = call.node.args[0] if call.node.args else None
    return passed and first is not None and first.keyword is None and _is_object(file, call.node.func)


def _is_layer(file: File, value: Value) -> bool:
    return all(isinstance(option, Instance) and derives(file, option, LAYER) for option in value.options)


def _is_object(file: File, function: cst.BaseExpression) -> bool:
    if isinstance(function, cst.Attribute):
        return function.attr.value in file.set_attributes
    if not isinstance(function, cst.Name):
        return isinstance(function, cst.Subscript)
    found = file.flow(home_of(file, function)).bindings.get(function.value, ())
    return bool(found) and all(d.binds in HOLDS for d in found)


def clears(file: File, body: Node) -> bool:
    """Whether some code clears the Keras session or the default graph, itself or by functions of the module.

    False where nothing shows it: unknown functions may do so.
    """
    return next(calls(file, body, *CLEARS, through=FOLLOWED_CALLS), None) is not None


def collects(file: File, body: Node) -> bool:
    """Whether some code has Python collect its garbage, itself or by functions of the module: models that were never
    trained are freed by that."""
    return next(calls(file, body, "gc.collect", through=FOLLOWED_CALLS), None) is not None


def _model_loads(file: File) -> Iterator[Call]:
    yield from (call for call in map(file.call, file.tree.of(cst.Call)) if loads_model(call))


def loads_model(call: Call) -> bool:
    """Whether a call certainly reads a model from files, or makes one of `tf.keras.applications`."""
    name = call.name or ""
    return name in MODEL_LOADS or (name.startswith(PRETRAINED) and name.rpartition(".")[2][:1].isupper())


model_loads = Fact(_model_loads, *sorted(MODEL_LOADS), PRETRAINED)
"""Each call that reads a model from files, or makes one of `tf.keras.applications`."""


def saves_model(file: File, call: Call) -> bool:
    """Whether a call writes a model to files: `model.save(...)`, or a plain function of such a name. An uploaded
    file and an array have a `save` of their own: False for a method of what is not certainly a model."""
    if call.method not in SAVES:
        return False
    if call.name is not None:
        return call.name.startswith("tf.")
    return call.receiver_node is None or is_model(file, call.receiver)


def is_changed(file: File, made: Node) -> bool:
    """Whether the model that a call gives may be changed afterwards: its weights, layers or settings, as a part of
    another model, or by code that is not seen. False where it is only used, also by whoever finds it in an attribute.
    """
    return any(_changes(file, use) for use in uses(file, made, through=FOLLOWED_CALLS))


def _changes(file: File, use: Use) -> bool:
    if use.does is Does.METHOD and use.word != "get_layer":
        return use.word in CHANGES
    if use.does in (Does.READ, Does.METHOD) and use.place is not None:
        return use.word in CHANGES and not all(_shows(part) for part in uses(file, use.place, parts=True))
    if use.does is Does.PASS and use.call is not None and use.call.names:
        return any(name.startswith(TAKES_OVER) for name in use.call.names)
    return use.does in (Does.SET, Does.PASS) or (use.does is Does.STORE and isinstance(use.place, _DISPLAYS))


def _shows(part: Use) -> bool:
    """Whether layers or weights are only counted or printed, or one of them is only asked for its output or name."""
    if part.does is Does.PASS and part.call is not None:
        return part.call.name in ("builtins.len", "builtins.print")
    return part.does in (Does.READ, Does.METHOD) and part.word in SHOWS


def predicts_tensors(file: File, predict: Call) -> bool:
    """Whether the code behind a `predict` certainly takes its results for tensors, which Keras' own does not give: the
    model has a method of its own of that name."""
    found = uses(file, predict.node, parts=True, returned=True)
    return any(use.does is Does.METHOD and use.word == "numpy" for use in found)
