"""What a loop builds again in each iteration, the same each time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Dataset, Instance, Mapping, Sequence, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.keras.models import clears, is_model
from tfmemlint.query.limits import FEW_RUNS, FOLLOWED_CALLS
from tfmemlint.query.ordering.once import runs_once
from tfmemlint.query.pipelines.chains import pipeline_parts
from tfmemlint.query.repetition.counts import count
from tfmemlint.query.repetition.invariance import Entered, given_for, passes_unchanging, paths_of_self, unchanging
from tfmemlint.query.repetition.mutation import mutates
from tfmemlint.query.repetition.purity import draws_itself
from tfmemlint.syntax.names import Loop, assigned_names, variables
from tfmemlint.syntax.scopes import dotted, parameters
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


class Rebuilt(NamedTuple):
    """A pipeline that is built again: `place` is the call in the loop that does it, the source itself or a call of a
    function through which it is reached; `others` are such calls in further loops."""

    place: Call
    loop: Loop
    others: tuple[Call, ...] = ()


def rebuilt(file: File, source: Call) -> Rebuilt | None:
    """The innermost loop that certainly builds the pipeline of a source again and again, the same each time; the loop
    may stand around a call of the source's function, `FOLLOWED_CALLS` functions further out.

    None where anything that the pipeline is made of may change, where the loop has few iterations (`FEW_RUNS`) or
    builds it once only, and where each of them has a graph, a device or a seed of its own.
    """
    for loop in file.contexts.loops(source.node):
        if not unchanging(file, pipeline_parts(file, source, loop), loop):
            return None
        if runs_alike(file, source, loop):
            return Rebuilt(source, loop)
    function = file.contexts.function(source.node)
    if not isinstance(function, cst.FunctionDef):
        return None
    found = list(_called_again(file, source, [(function, pipeline_parts(file, source, function))]))
    return found[0]._replace(others=tuple(each.place for each in found[1:])) if found else None


def rewritten(file: File, source: Call, loop: Loop) -> bool:
    """Whether a loop gives a function of the project what the source reads from, before that, and with it something of
    each iteration: a folder and what to put there, so that the same name may hold other data each time."""
    bound, at = assigned_names(file, loop), file.tree.order(source.node)
    read = {arg.value.value for arg in source.node.args if isinstance(arg.value, cst.Name)}
    for other in calls(file, loop.body):
        given = other.node.args
        named = {arg.value.value for arg in given if isinstance(arg.value, cst.Name)}
        if other.names or not named & read or file.tree.order(other.node) >= at:
            continue
        if not file.tree.contains(other.node, source.node) and any(bound & variables(file, a.value) for a in given):
            return True
    return False


def _called_again(file: File, inner: Call, way: list[Entered]) -> Iterator[Rebuilt]:
    """The calls in loops that enter the functions of a `way`, outermost first, for the same parts of them each time."""
    function, parts = way[0]
    if file.yields(function) or function.name.value == "__init__" or runs_once(file, inner.node, function):
        return
    if draws_itself(file, function) or not unchanging(file, parts, function) or _moves_on(file, inner, way):
        return
    for caller in file.call_graph.callers(function) or ():
        whole = all(_holds_pipeline(value) for value in caller.value.options)
        if not whole and _is_experiment(file, function):
            continue
        loops = list(file.contexts.loops(caller.node))
        if loops:
            loop = _loop_of(file, caller, loops, way, whole)
            if loop is not None:
                yield Rebuilt(caller, loop)
            continue
        around = file.contexts.function(caller.node)
        if len(way) < FOLLOWED_CALLS and isinstance(around, cst.FunctionDef) and _of_same(file, caller, around):
            given = [arg.value for arg in caller.node.args] if whole else given_for(file, caller, function, parts)
            yield from _called_again(file, caller, [(around, given), *way])


def _moves_on(file: File, inner: Call, way: list[Entered]) -> bool:
    """Whether the outermost function of a way changes what the functions that it enters read of its own object."""
    function, _ = way[0]
    owner = next(parameters(function), None) if file.class_of(function) is not None else None
    if owner is None:
        return False
    methods = [entered for entered, _ in way if file.class_of(entered) is not None]
    paths = {owner.name.value + path for method in methods for path in paths_of_self(file, method)}
    return any(mutates(file, function, owner.name, besides=[inner.node], path=path) for path in paths)


def _loop_of(file: File, caller: Call, loops: list[Loop], way: list[Entered], whole: bool) -> Loop | None:
    """The innermost loop in which a call may build the pipeline many times, if it is the same up to there."""
    function, parts = way[0]
    for loop in loops:
        if not passes_unchanging(file, caller, function, loop, parts, whole=whole, inner=way[1:]):
            return None
        if runs_alike(file, caller, loop):
            return loop
    return None


def _of_same(file: File, caller: Call, around: cst.FunctionDef) -> bool:
    """Whether what is called is a plain function, or a method of the object whose method calls it."""
    owner = next(parameters(around), None) if file.class_of(around) is not None else None
    receiver = caller.receiver_node
    return receiver is None or (owner is not None and dotted(receiver) == owner.name.value)


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
    """Whether a loop tries again what failed: a `while` that success leaves, by `break` or `return` in the attempt or
    by what its condition asks for, and that counts nothing `finally`."""
    if not isinstance(loop, cst.While):
        return False
    asked = {name.value for name in walk(loop.test, cst.Name)}
    return any(_leaves(each, asked) for each in loop.body.body if isinstance(each, cst.Try))


def _leaves(attempt: cst.Try, asked: set[str]) -> bool:
    worked = [attempt.body, *([attempt.orelse] if attempt.orelse is not None else [])]
    if any(leaving for part in worked for leaving in walk(part, cst.Break, cst.Return)):
        return True
    sets = (target.target for part in worked for target in walk(part, cst.AssignTarget))
    return any(isinstance(target, cst.Name) and target.value in asked for target in sets)


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
