"""What code makes models for itself, trains them and forgets them, and what makes layers or trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Class, Function, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.makers import makers
from tfmemlint.query.keras.fates import fate, model_at
from tfmemlint.query.keras.models import MODEL_LOADS, PRETRAINED
from tfmemlint.query.ordering.once import runs_once

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

TRAINS = frozenset({"fit", "compile", "fit_generator", "train_on_batch"})
LAYERS = ("tf.keras.layers.", PRETRAINED, "tf.keras.Sequential")


def trains(call: Call) -> bool:
    """Whether a call trains a model or makes it ready for that, by the word of its method, of whatever object."""
    return call.method in TRAINS


def may_be_loaded(value: Value) -> bool:
    """Whether a model is, in one of its alternatives, read from a file by what reads models."""
    return any(made.name in MODEL_LOADS for made in makers(value))


def makes_layers(file: File, code: Node, *, besides: Call) -> bool:
    """Whether some code may make layers by a call `besides` one: of Keras' classes of layers and models, or by any
    function or class of the module, whose calls are not looked into."""
    others = [call for call in calls(file, code) if call.node is not besides.node]
    if any(isinstance(target, (Function, Class)) for call in others for target in call.target.options):
        return True
    names = (name for call in others for name in call.names)
    return any(name.startswith(LAYERS) and name.rpartition(".")[2][:1].isupper() for name in names)


def trains_own_model(file: File, target: Value) -> bool:
    """Whether what is called is a function of the module that certainly builds a model, trains it and gives it to
    nobody. False where it builds one the first time only."""
    if not isinstance(target, Function):
        return False
    for made in calls(file, target.node):
        path = model_at(file, made)
        if path is not None and not runs_once(file, made.node, target.node):
            done = fate(file, made.node, target.node, path)
            if done.used and not done.kept:
                return True
    return False


def makes_own_model(file: File, call: Call, target: Value, within: Node) -> bool:
    """Whether what is called is a class of the module whose object makes a model for itself, is used `within` code that
    runs again, and is forgotten then. False for an object that is made for what else making it does."""
    if not isinstance(target, Class) or isinstance(file.tree.parent(call.node), cst.Expr):
        return False
    done = fate(file, call.node, within)
    making = (made for made in calls(file, call.node, through=1) if made is not call)
    return done.only_read and not done.kept and any(model_at(file, made) is not None for made in making)
