"""Layers whose sizes the program does not choose: their weights are loaded, or who calls the code sets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Instance
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.makers import makers
from tfmemlint.query.flow.parameters import parameters_behind
from tfmemlint.query.keras.making import TRAINS, trains
from tfmemlint.query.keras.networks import layers_of
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.ordering.conditions import conditions
from tfmemlint.syntax.scopes import parameters

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


def takes_given_weights(file: File, layer: Call) -> bool:
    """Whether a model that has a layer is certainly given weights from a file before the same code trains it: they fit
    this size alone. False where an `if` decides, as for one's own checkpoint."""
    loads = (file.call(node) for node in file.calls_by_word.get("load_weights", ()))
    return any(_holds(load, layer) and _comes_first(file, load) for load in loads)


def only_runs(file: File, layer: Call) -> bool:
    """Whether a model that has a layer certainly is given weights from a file, and nothing in the program trains."""
    return not any(file.calls_by_word.get(word) for word in TRAINS) and takes_given_weights(file, layer)


def _holds(load: Call, layer: Call) -> bool:
    """Whether the model for which weights are loaded certainly has a layer."""
    of_class = [each.class_node for each in load.receiver.options if isinstance(each, Instance)]
    tree = layer.evaluator.file.tree
    if any(each is not None and tree.contains(each, layer.node) for each in of_class):
        return True
    return any(each.node is layer.node for made in makers(load.receiver) for each in layers_of(made))


def _comes_first(file: File, load: Call) -> bool:
    home, start = file.contexts.function(load.node) or file.module, file.tree.order(load.node)
    if next(conditions(file, load.node, home), None) is not None:
        return False
    return not any(trains(call) and file.tree.order(call.node) < start for call in calls(file, home))


def is_default(file: File, size: cst.BaseExpression) -> bool:
    """Whether a size certainly comes from parameters of which the file knows their defaults alone, `FOLLOWED_CALLS`
    calls away: who uses the code from elsewhere chooses it."""
    return _is_default(file, size, FOLLOWED_CALLS)


def _is_default(file: File, size: cst.BaseExpression, left: int) -> bool:
    function = file.contexts.function(size)
    if not isinstance(function, cst.FunctionDef):
        return False
    own = [param.name.value for param in parameters(function)][: file.class_of(function) is not None]
    given = parameters_behind(file, size)
    if not given or set(own) & set(given):
        return False  # an attribute of the object may be anything
    passed = [call.arg(name) for call in file.call_graph.callers(function) or () for name in given]
    return all(arg is None or (left > 0 and _is_default(file, arg.expression, left - 1)) for arg in passed)
