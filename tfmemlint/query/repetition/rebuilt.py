"""What a loop builds again in each iteration, the same each time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Dataset, Instance, Mapping, Sequence, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.keras.models import clears, is_model
from tfmemlint.query.limits import FEW_RUNS
from tfmemlint.query.ordering.once import runs_once
from tfmemlint.query.pipelines.chains import pipeline_parts
from tfmemlint.query.repetition.counts import count
from tfmemlint.query.repetition.invariance import passes_unchanging, unchanging
from tfmemlint.query.repetition.purity import draws_itself
from tfmemlint.syntax.names import Loop, assigned_names, variables

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node


class Rebuilt(NamedTuple):
    """A pipeline that is built again: `place` is the call in the loop that does it, the source itself or a call of the
    function that it stands in."""

    place: Call
    loop: Loop


def rebuilt(file: File, source: Call) -> Rebuilt | None:
    """The innermost loop that certainly builds the pipeline of a source again and again, the same each time; the loop
    may stand around a call of the source's function.

    None where anything that the pipeline is made of may change, where the loop has few iterations (`FEW_RUNS`) or
    builds it once only, and where each of them has a graph, a device or a seed of its own.
    """
    for loop in file.contexts.loops(source.node):
        if not unchanging(file, pipeline_parts(file, source, loop), loop):
            return None
        if runs_alike(file, source, loop):
            return Rebuilt(source, loop)
    function = file.contexts.function(source.node)
    if not isinstance(function, cst.FunctionDef) or file.yields(function) or function.name.value == "__init__":
        return None
    parts = pipeline_parts(file, source, function)
    if runs_once(file, source.node, function) or draws_itself(file, function) or not unchanging(file, parts, function):
        return None
    callers = file.call_graph.callers(function) or ()
    found = (_called_again(file, caller, function, parts) for caller in callers)
    return next((each for each in found if each is not None), None)


def _called_again(file: File, caller: Call, function: cst.FunctionDef, parts: list[Node]) -> Rebuilt | None:
    """The loop in which a call builds what these parts of a function make, the same each time."""
    whole = all(_holds_pipeline(value) for value in caller.value.options)
    if not whole and _is_experiment(file, function):
        return None
    for loop in file.contexts.loops(caller.node):
        if not passes_unchanging(file, caller, function, loop, parts, whole=whole):
            return None
        if runs_alike(file, caller, loop):
            return Rebuilt(caller, loop)
    return None


def runs_alike(file: File, call: Call, loop: Loop) -> bool:
    """Whether a loop may run a call in it many times, each in the same graph, on the same device and with no seed of
    its own. False for loops of at most `FEW_RUNS` iterations, for those that try again, and where the call stands so
    that it runs once."""
    most = count(file, loop)
    if (most is not None and most <= FEW_RUNS) or _retries(loop) or runs_once(file, call.node, loop):
        return False
    blocks = (block for block in file.contexts.withs(call.node) if file.tree.contains(loop, block))
    entered = [item.item for block in blocks for item in block.items]
    if any(variables(file, each) & assigned_names(file, loop) for each in entered):
        return False
    return not any(_own_world(each) for body in (*entered, loop.body) for each in calls(file, body))


def _own_world(call: Call) -> bool:
    return any(knowledge.in_group(name, group) for name in call.names for group in ("begins_graph", "sets_seed"))


def _retries(loop: Loop) -> bool:
    """Whether a loop retries or waits: a `while` with a `try` in it."""
    return isinstance(loop, cst.While) and any(isinstance(statement, cst.Try) for statement in loop.body.body)


def _holds_pipeline(value: Value) -> bool:
    """Whether a value is a pipeline, or a container with one in it."""
    items: Iterable[Value] = (value,)
    if isinstance(value, Sequence):
        items = value.items
    elif isinstance(value, Mapping):
        items = (item for _, item in value.items)
    return any(isinstance(item, Dataset) for item in items)


def _is_experiment(file: File, function: cst.FunctionDef) -> bool:
    """Whether a function makes a model or an optimizer: a whole experiment, with data of its own."""
    made = [option for call in calls(file, function) for option in call.value.options]
    optimizers = (each.type_name or "" for each in made if isinstance(each, Instance))
    return (
        clears(file, function)
        or any(is_model(file, each) for each in made)
        or any(name.startswith("tf.keras.optimizers.") for name in optimizers)
    )
