"""Programs that train on Keras's graph by themselves, with the updates that an optimizer gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Function
from tfmemlint.query.facts import calls_named
from tfmemlint.query.ordering.conditions import conditions

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

GIVES_UPDATES = "get_updates"


@once_per_file
def updates_graph(file: File) -> bool:
    """Whether the program certainly has one graph, which it trains by updates: it asks an optimizer for those of a
    loss, `optimizer.get_updates(loss=..., params=...)`, or gives some to `K.function(..., updates=[...])`, with no `if`
    or `try` around it. False where nothing shows it.

    TensorFlow 2 refuses updates where it executes eagerly, and since 2.4 the outputs of its models have no derivatives
    in a graph; Keras 3 has neither of the two.
    """
    asked = (call for call in calls_named(GIVES_UPDATES).of(file) if _of_loss(file, call))
    given = (call for call in file.calls("tf.keras.backend.function") if _has_updates(file, call))
    return any(next(conditions(file, call.node), None) is None for call in (*asked, *given))


def _of_loss(file: File, call: Call) -> bool:
    """Whether an optimizer is asked, by parameters that have these names nowhere else; one that wraps another does not
    count, which may be there for all versions."""
    named = {arg.keyword.value for arg in call.node.args if arg.keyword is not None}
    if not named >= {"loss", "params"} or any(isinstance(each, Function) for each in call.target.options):
        return False
    function = file.contexts.function(call.node)
    return not isinstance(function, cst.FunctionDef) or function.name.value != GIVES_UPDATES


def _has_updates(file: File, call: Call) -> bool:
    given = call.arg("updates")
    return given is not None and _are_some(file, given.expression)


def _are_some(file: File, expression: cst.BaseExpression) -> bool:
    """Whether updates are certainly not none: a list of some, or what an optimizer gives. What a model has of its own
    is an empty list in later versions."""
    made = file.written(expression)
    if isinstance(made, cst.BinaryOperation):
        return _are_some(file, made.left) or _are_some(file, made.right)
    if isinstance(made, cst.Call):
        return file.call(made).method == GIVES_UPDATES
    return isinstance(made, (cst.List, cst.Tuple)) and any(not isinstance(e, cst.StarredElement) for e in made.elements)
