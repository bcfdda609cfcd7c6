"""Whether a model is built behind a place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import CALLBACK, Class, Function
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.uses import Does, uses
from tfmemlint.query.keras.making import names_layer
from tfmemlint.query.keras.models import LAYER, MODEL
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.repetition.counts import count
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

OF_MODELS = frozenset({"compile", "fit_generator", "train_on_batch", "trainable_variables", "trainable_weights"})
"""Attributes that models of Keras have, and those of other libraries do not."""

RUNS_CALLBACKS = ("fit", "fit_generator", "evaluate", "predict")


def may_build_after(file: File, node: Node, through: int = FOLLOWED_CALLS) -> bool:
    """Whether anything that may build a model runs after a place: layers or a model of Keras or of the file that are
    made, also by functions of the file, and calls of what is not known that may give a model. It stands in a loop
    around that is not known to run once, behind the place, or behind a call of its function, `through` functions
    further out; of a callback's method behind what trains with callbacks.

    A view of layers that are there (`Model(net.input, layer.output)`) and a model that is loaded, with the dtypes that
    it was saved with, are not built. True also for functions of which no call is seen. False says that nothing of the
    kind is seen.
    """
    for loop in file.contexts.loops(node):
        if count(file, loop) != 1 and any(_builds(file, each) for each in walk(loop, cst.Call) if each is not node):
            return True
    function, start = file.contexts.function(node), file.tree.order(node)
    around = walk(function, cst.Call) if function is not None else file.tree.of(cst.Call)
    if any(_builds(file, each) for each in around if file.tree.order(each) > start):
        return True
    if function is None:
        return False
    callers = [call.node for call in file.call_graph.callers(function) or ()] or list(_runs_callback(file, function))
    return not callers or not through or any(may_build_after(file, each, through - 1) for each in callers)


def _runs_callback(file: File, method: cst.FunctionDef | cst.Lambda) -> Iterator[cst.Call]:
    """The calls that train with callbacks, where a method is one of those."""
    owner = file.class_of(method)
    if owner is None or not file.values.classes.derives(owner, CALLBACK):
        return
    for word in RUNS_CALLBACKS:
        for node in file.calls_by_word.get(word, ()):
            if any(arg.keyword is not None and arg.keyword.value == "callbacks" for arg in node.args):
                yield node


def _builds(file: File, node: cst.Call) -> bool:
    """Whether a call may build a model, itself or in functions of the file."""
    return any(_may_give_model(file, each) for each in calls(file, node, through=FOLLOWED_CALLS))


def _may_give_model(file: File, call: Call) -> bool:
    if any(map(names_layer, call.names)):
        return True
    classes = file.values.classes
    made = [target.node for target in call.target.options if isinstance(target, Class)]
    if any(classes.derives(each, LAYER) or classes.derives(each, MODEL) for each in made):
        return True
    if call.names and all(name.startswith("tf.") for name in call.names):
        return False
    bound = not call.names and call.receiver_node is None and not isinstance(file.tree.parent(call.node), cst.Expr)
    return (not call.target.known and bound) or _is_used_as_model(file, call)


def _is_used_as_model(file: File, call: Call) -> bool:
    """Whether what a call gives, that the file does not make itself, has what only models have."""
    if any(isinstance(target, (Class, Function)) for target in call.target.options):
        return False
    found = uses(file, call.node, attributes=True, through=FOLLOWED_CALLS)
    return any(use.does in (Does.READ, Does.METHOD) and use.word in OF_MODELS for use in found)
