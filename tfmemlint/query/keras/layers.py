"""Keras layers: what reaches them, how many parameters they have then, and which layers a model is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.calls import Call
from tfmemlint.model.layers.effects import effect
from tfmemlint.model.layers.networks import INPUTS, SEQUENTIAL, placed
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Api, Array, Const, Instance, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.uses import Does, uses

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.query.repetition.repeats import Repetition
    from tfmemlint.syntax.tree import Node

LAYER = "tf.keras.layers.Layer"
INPUT_SHAPES = ("input_shape", "batch_input_shape", "input_dim", "batch_shape")
"""Parameters by which a layer of Keras 2 states what comes into the model."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A layer that is applied to something: the call that makes it, and how many parameters it has then; None where
    that is not known."""

    made: Call
    parameters: int | None


@cache
def layers_applied(kind: str) -> Fact[Applied]:
    """Each application of a layer of this class: of an object that is called, and of a part of a `Sequential`, as far
    as these are known. A layer that is applied several times is several facts."""

    def applied(file: File) -> Iterator[Applied]:
        for node in file.tree.of(cst.Call):
            call = file.call(node)
            made = _of_kind(call.target, kind) if node.args else None
            if made is not None:
                given = call.value_of(0)
                done = effect(call.target, given.shape if isinstance(given, Array) else None)
                yield Applied(made, done.parameters if done is not None else None)
        for model in file.calls(SEQUENTIAL):
            for step in placed(model):
                made = _of_kind(step.layer, kind)
                if made is not None:
                    yield Applied(made, step.effect.parameters if step.effect is not None else None)

    return Fact(applied, kind)


def parameters_of(file: File, made: Call) -> int | None:
    """How many parameters the layer that a call makes has for certain; None where that is not known, or it is applied
    to several things. Of an `Input` and of what is no layer there are none."""
    value = made.value
    kind = value.type_name if isinstance(value, Instance) else None
    applied = layers_applied(kind).of(file) if kind is not None else []
    counts = [each.parameters for each in applied if each.made.node is made.node]
    return counts[0] if len(counts) == 1 else None


def _of_kind(layer: Value, kind: str) -> Call | None:
    """The call that makes a layer, if it is of this class."""
    return layer.call if isinstance(layer, Instance) and layer.type_name == kind else None


def layers_in(file: File, model: Call) -> Iterator[Call]:
    """The calls that make the layers of a `Sequential` or functional model, as far as they are known: of a functional
    model those on the way back from its outputs. Nothing for what makes other models."""
    outputs = model.given("outputs") if model.arg(1) is None else model.value_of(1)
    found = [step.layer for step in placed(model)] if model.name == SEQUENTIAL else _behind(outputs)
    yield from (layer.call for layer in found if isinstance(layer, Instance) and layer.call is not None)


def _behind(outputs: Value) -> Iterator[Value]:
    """What is called to make some tensors, and those that it is called on."""
    pending, seen = elements(outputs), set[int]()
    while pending:
        tensor = pending.pop()
        made = tensor.origin if isinstance(tensor, Array) else None
        if isinstance(made, Call) and id(made) not in seen:
            seen.add(id(made))
            yield made.target
            pending += [leaf for i in range(len(made.node.args)) for leaf in elements(made.value_of(i))]


def acts_on_last_axis(layer: Value) -> str | None:
    """The name of Keras' class of a layer that certainly gives the same for each step alone and for all at once: it
    acts on the last axis of its input and has no function of the program in it. None for others."""
    if not isinstance(layer, Instance) or layer.class_node is not None or layer.call is None:
        return None
    made, chosen = layer.call, knowledge.group_parameters("acts_on_last_axis").get(layer.type_name or "")
    if chosen is None or made.open or any(made.arg(name) is not None for name in (*chosen, "activity_regularizer")):
        return None
    function = made.given("activation")
    named = isinstance(function, Const) or (isinstance(function, Api) and function.name.startswith("tf."))
    if not named and not made.lacks("activation"):
        return None
    return (layer.type_name or "").rpartition(".")[2]


def is_first(file: File, layer: Call) -> bool:
    """Whether a layer is certainly applied to the input of a model: called on it, first in a `Sequential`, or given the
    shape of what it is applied to."""
    if any(layer.arg(name) is not None for name in INPUT_SHAPES):
        return True
    element = file.tree.parent(layer.node)
    display = file.tree.parent(element) if isinstance(element, cst.Element) else None
    if isinstance(display, cst.List):
        before = display.elements[: next(i for i, each in enumerate(display.elements) if each is element)]
        return all(isinstance(each.value, cst.Call) and file.call(each.value).name in INPUTS for each in before)
    applied = [use.call.value_of(0) for use in uses(file, layer.node) if use.does is Does.CALL and use.call is not None]
    return bool(applied) and all(
        isinstance(given, Array) and given.origin is not None and given.origin.name in INPUTS for given in applied
    )


def in_layer(file: File, node: Node) -> bool:
    """Whether code stands in a method of a class that certainly derives from Keras' `Layer`."""
    function = file.contexts.function(node)
    owner = file.class_of(function) if function is not None else None
    return owner is not None and file.values.classes.derives(owner, LAYER)


def is_layer_output(value: Value) -> bool:
    """Whether a value is certainly what calling a layer gives, or is computed from that by TensorFlow's functions."""
    return isinstance(value, Array) and value.origin is not None and value.origin.name == f"{LAYER}.__call__"


def calls_items(file: File, again: Repetition) -> bool:
    """Whether the iterations call their items by name, as layers that are applied one after the other are."""
    found = calls(file, again.place)
    return any(isinstance(call.node.func, cst.Name) and call.node.func.value in again.items for call in found)
