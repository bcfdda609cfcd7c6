"""Where pipelines are consumed: `fit`, `evaluate`, `predict` and training loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
from tfmemlint_rules._datasets import pipelines
from tfmemlint_rules._model_inputs import TAKING, drawn_from, is_model, origin, taken, used_as_model

from tfmemlint.api import Call, Dataset, File, Function, Node, own_nodes, walk

NAMES = ("fit", "evaluate", "predict")
METHODS = tuple(f"tf.keras.Model.{name}" for name in NAMES)
TRAINS = TAKING | {"tf.GradientTape"}


@dataclass(frozen=True)
class Consumption:
    """A place that consumes pipelines: the node to point at, what may arrive there, and for which parameter.

    `model_call` is the call in a loop that gives an element to a model as it is.
    """

    node: Node | Call
    datasets: tuple[Dataset, ...]
    model_call: Call | None = None
    parameter: str = ""


def consumptions(file: File) -> Iterator[Consumption]:
    """All places of a file where only pipelines arrive at a model's methods or at a training loop."""
    for call in _calls(file):
        for parameters in (("x", 0), ("validation_data",)):
            found = tuple(pipelines(call, *parameters))
            if found:
                yield Consumption(call, found, None, str(parameters[0]))
    for loop in file.tree.of(cst.For):
        value = file.contexts.iterated(loop)
        options = value.options if value is not None else ()
        if options and all(isinstance(option, Dataset) for option in options) and trains(loop, file):
            datasets = tuple(option for option in options if isinstance(option, Dataset))
            yield Consumption(loop, datasets, _model_call(loop, loop.iter, file))
    for words in ("next", "get_next"):
        for node in file.calls_by_word.get(words, ()):
            assign = file.tree.parent(node)
            loop_around = file.contexts.loop(node)
            if isinstance(assign, cst.Assign) and loop_around is not None:
                drawn = drawn_from(assign, file)
                if drawn and trains(loop_around, file):
                    yield Consumption(file.call(node), drawn, _model_call(loop_around, node, file))


def _calls(file: File) -> Iterator[Call]:
    """Calls of a model's methods, also where only the use of the object tells that it is a model."""
    yield from file.calls(*METHODS)
    for name in NAMES:
        for node in file.calls_by_word.get(name, ()):
            call = file.call(node)
            receiver = call.receiver_node
            if not call.target.known and receiver is not None and used_as_model(receiver, file):
                yield call


def trains(loop: cst.For | cst.While, file: File) -> bool:
    """Whether a loop's body trains or runs a model: itself, or in a function of the module that it calls."""
    return any(_trains(node, file, 2) for node in walk(loop.body, cst.Call))


def _trains(node: cst.Call, file: File, depth: int) -> bool:
    call = file.call(node)
    if any(name in TRAINS for name in call.names) or is_model(call, file):
        return True
    if depth == 0:
        return False
    return any(
        isinstance(inner, cst.Call) and _trains(inner, file, depth - 1)
        for target in call.target.options
        if isinstance(target, Function)
        for inner in own_nodes(target.node, cst.Call)
    )


def _model_call(loop: cst.For | cst.While, source: Node, file: File) -> Call | None:
    """The first call in a loop that gives a model exactly what the loop takes from `source`."""
    for node in walk(loop.body):
        if isinstance(node, cst.Call):
            call = file.call(node)
            for arg in taken(call, file):
                definition = origin(arg.value, file)
                if definition is not None and definition.value is source:
                    return call
    return None
