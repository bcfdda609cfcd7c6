"""Where pipelines are consumed: `fit`, `evaluate`, `predict`, training loops, and functions that return them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Dataset
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.pipelines.model_inputs import drawn_from, feeds_model, model_arguments, origin, used_as_model
from tfmemlint.query.pipelines.pipelines import PIPELINES, pipelines_of

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.names import Loop
    from tfmemlint.syntax.tree import Node

NAMES = ("fit", "evaluate", "predict")
METHODS = tuple(f"tf.keras.Model.{name}" for name in NAMES)

PIPELINE_NAME = re.compile(
    r"(^|_)(ds|dataset|datasets|pipeline|input_fn|data_loader|dataloader|loader)(_|$)|^input_fn|_input_fn"
    r"|^(preprocess|process|prepare|make|get|build|create|load|read)_(train|val|valid|test|data|batch|input)"
)
"""Names of functions that make the input of a model."""


@dataclass(frozen=True, slots=True)
class Consumption:
    """A place that consumes pipelines.

    `node` is the call of `fit` and its like, the loop, the call that draws an element in a loop, or the function that
    returns the pipelines. `datasets` are what may arrive there, and nothing else may; `validation` what may arrive as
    the validation data of `fit`. `taker` is the call that gives a model the elements as they are: the method itself, or
    the call of a model in the loop; None where none is seen. `returned` says that a function named as an input pipeline
    gives them to callers that are not seen to go on with them.
    """

    node: Node | Call
    datasets: tuple[Dataset, ...]
    taker: Call | None = None
    validation: tuple[Dataset, ...] = field(default=(), kw_only=True)
    returned: bool = field(default=False, kw_only=True)


def _consumptions(file: File) -> Iterator[Consumption]:
    yield from _methods(file)
    yield from _loops(file)
    yield from _draws(file)
    yield from _returned(file)


consumptions = Fact(_consumptions, *PIPELINES)
"""Each place at which pipelines are consumed: methods of models, training loops, functions that return them."""


def _methods(file: File) -> Iterator[Consumption]:
    for call in _model_methods(file):
        data, validation = call.arg("x") or call.arg(0), call.arg("validation_data")
        datasets = pipelines_of(data.value) if data is not None else ()
        validated = pipelines_of(validation.value) if validation is not None else ()
        if datasets or validated:
            yield Consumption(call, datasets, call, validation=validated)


def _model_methods(file: File) -> Iterator[Call]:
    """Calls of a model's methods, also where only the use of the object tells that it is a model."""
    yield from file.calls(*METHODS)
    for node in (node for name in NAMES for node in file.calls_by_word.get(name, ())):
        call = file.call(node)
        if not call.target.known and call.receiver_node is not None and used_as_model(file, call.receiver_node):
            yield call


def _loops(file: File) -> Iterator[Consumption]:
    for loop in file.tree.of(cst.For):
        value = file.contexts.iterated(loop)
        datasets = pipelines_of(value) if value is not None else ()
        if datasets and trains(file, loop):
            yield Consumption(loop, datasets, _taker(file, loop, loop.iter))


def _draws(file: File) -> Iterator[Consumption]:
    for node in (node for word in ("next", "get_next") for node in file.calls_by_word.get(word, ())):
        loop = file.contexts.loop(node)
        if loop is None or not isinstance(file.tree.parent(node), cst.Assign):
            continue
        datasets = drawn_from(file, node)
        if datasets and trains(file, loop):
            yield Consumption(file.call(node), datasets, _taker(file, loop, node))


def trains(file: File, loop: Loop) -> bool:
    """Whether a loop's body certainly trains or runs a model, itself or in functions of the module that it calls."""
    inside = calls(file, loop.body, through=FOLLOWED_CALLS)
    return any("tf.GradientTape" in call.names or feeds_model(file, call) for call in inside)


def _taker(file: File, loop: Loop, source: Node) -> Call | None:
    """The first call in a loop that gives a model exactly what the loop takes from `source`."""
    for call in calls(file, loop.body):
        for arg in model_arguments(file, call):
            made = origin(file, arg.value)
            if made is not None and made.value is source:
                return call
    return None


def _returned(file: File) -> Iterator[Consumption]:
    for function in file.tree.of(cst.FunctionDef):
        if PIPELINE_NAME.search(function.name.value):
            datasets = returned_pipelines(file, function)
            if datasets and not _carried_on(file, function):
                yield Consumption(function, datasets, returned=True)


def returned_pipelines(file: File, function: cst.FunctionDef) -> tuple[Dataset, ...]:
    """The pipelines that a function returns, alone or in tuples and dictionaries; none where some `return` gives
    none, or may give something else."""
    found: list[Dataset] = []
    for statement in file.returns(function):
        given = elements(file.value(statement.value)) if statement.value is not None else ()
        made = [option for value in given for option in value.options if isinstance(option, Dataset)]
        if not made or (len(given) == 1 and len(made) != len(given[0].options)):
            return ()
        found += made
    return tuple(found)


def _carried_on(file: File, function: cst.FunctionDef) -> bool:
    """Whether a caller goes on with what a function gives, or a prefetch elsewhere comes after its steps."""
    if any(isinstance(file.tree.parent(c.node), cst.Attribute) for c in file.call_graph.callers(function) or ()):
        return True
    others = (ds for call in file.calls("tf.data.Dataset.prefetch") for ds in call.datasets())
    made = (step.call for ds in others for step in ds.steps if step.call is not None)
    return any(file.tree.contains(function, call.node) for call in made)
