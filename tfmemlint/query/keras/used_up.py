"""Models that code which runs again makes, uses and forgets each time, and what they leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Const, Function, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.makers import makers
from tfmemlint.query.keras.fates import Fate, fate, fits, model_at
from tfmemlint.query.keras.making import (
    makes_layers,
    makes_own_model,
    may_be_loaded,
    shares_layers,
    trains,
    trains_own_model,
)
from tfmemlint.query.keras.models import PRETRAINED, clears, is_changed
from tfmemlint.query.keras.networks import parameter_count
from tfmemlint.query.keras.weights import left_bytes
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.ordering.conditions import asks_type
from tfmemlint.query.ordering.once import asks_function_of_step, runs_once
from tfmemlint.query.tracing.graphs import in_own_graph
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

SMALL = 1 << 20
"""Bytes of weights up to which a model that is never trained leaves nothing to speak of: it has no graphs."""

STEPS = ("apply_gradients", "minimize")
"""Methods of optimizers that change a model's weights."""

FLOAT32 = 4


class UsedUp(NamedTuple):
    """A model that is made, used and forgotten each time: whether it is `trained` (None: not known), and the bytes that
    a trained one leaves with words for them (None and "" where they are not known)."""

    trained: bool | None
    bytes: int | None = None
    words: str = ""


def used_up(file: File, call: Call, within: Node) -> UsedUp | None:
    """What becomes of the model that a call in code that runs again makes, if that code uses it and nobody keeps it."""
    if not (call.value.known or call.target.known):
        return None
    if runs_once(file, call.node, within) or in_own_graph(file, call.node, within):
        return None
    if asks_type(file, call.node, within) or asks_function_of_step(file, call.node, within):
        return None  # the loop goes through things of several kinds, or steps, and builds one for some
    targets = call.target.options
    if any(isinstance(target, Function) and clears(file, target.node) for target in targets):
        return None
    if may_be_loaded(call.value):
        return None  # TFM606, where it is the same each time
    path = model_at(file, call)
    if path is None:
        own = all(trains_own_model(file, t) or makes_own_model(file, call, t, within) for t in targets)
        return UsedUp(True if _fits(file, call) else None) if own else None
    if isinstance(file.tree.parent(call.node), cst.Expr):
        return None  # called for what else it does
    if call.name == "tf.keras.Model" and not _has_new_layers(file, call, within):
        return None  # another view of layers that are there already
    if all(_gives_view(file, target) for target in targets):
        return None
    if path and any(_keeps_network(file, call, target, path[0], within) for target in targets):
        return None  # members of an ensemble: the model trains one of them
    if (call.name or "").startswith(PRETRAINED) and not is_changed(file, call.node):
        return None  # loaded rather than built: TFM606
    return _of_fate(file, call, fate(file, call.node, within, path))


def _gives_view(file: File, target: Value) -> bool:
    """Whether what is called is a function that makes one model, of layers that it is given."""
    function = target.node if isinstance(target, Function) else None
    return function is not None and any(shares_layers(file, call, function) for call in calls(file, function))


def _keeps_network(file: File, call: Call, target: Value, index: int, within: Node) -> bool:
    """Whether what is called gives a network beside the model that is made with it, and that one is kept."""
    if not isinstance(target, Function) or not isinstance(target.node, cst.FunctionDef):
        return False
    applied = {each.func.value for each in walk(target.node, cst.Call) if isinstance(each.func, cst.Name)}
    for value in (node.value for node in file.returns(target.node)):
        given = [each.value for each in value.elements] if isinstance(value, cst.Tuple) else []
        networks = [i for i, each in enumerate(given) if isinstance(each, cst.Name) and each.value in applied]
        if any(i != index and fate(file, call.node, within, (i,)).kept for i in networks):
            return True
    return False


def _of_fate(file: File, call: Call, done: Fate) -> UsedUp | None:
    compiled = any(calls(file, call.node, "tf.keras.Model.compile", through=1))
    if done.kept or not (done.used or done.only_read or compiled):
        return None
    trained = True if _fits(file, call) else done.trained
    if trained and (file.may_be_version_1 or _runs_eagerly(file)):
        trained = None  # the graph that holds its variables can be cleared, or there is none
    made = makers(call.value)
    if trained is False and len(made) == 1 and _is_small(made[0]):
        return None
    return given_up(file, call) if trained else UsedUp(trained)


def given_up(file: File, call: Call) -> UsedUp:
    """What a model leaves that certainly is trained and forgotten."""
    made = makers(call.value)
    known = left_bytes(file, made[0]) if len(made) == 1 else None
    return UsedUp(True, *known) if known is not None else UsedUp(True)


def _is_small(model: Call) -> bool:
    count = parameter_count(model)
    return count is not None and count * FLOAT32 < SMALL


def _fits(file: File, call: Call) -> bool:
    return not file.may_be_version_1 and fits(file, call.node)


def may_train(file: File, call: Call, made: UsedUp) -> bool:
    """Whether the model that a call makes may be trained: False where the call is of functions that use it up
    themselves, and nothing that they run trains."""
    functions = all(isinstance(target, Function) for target in call.target.options)
    if made.trained or not functions or model_at(file, call) is not None:
        return True
    run = list(calls(file, call.node, through=FOLLOWED_CALLS))
    return any(trains(each) or each.method in STEPS for each in run)


@once_per_file
def _runs_eagerly(file: File) -> bool:
    return any(each.value_of("run_eagerly") == Const(True) for each in file.calls("tf.keras.Model.compile"))


def _has_new_layers(file: File, made: Call, within: Node) -> bool:
    """Whether the code makes layers for a functional model, or trains it."""
    return makes_layers(file, within, besides=made) or any(trains(call) for call in calls(file, within))
