"""Keras models made of layers: which layers a `Sequential` has and in which order, what shape reaches each of them,
and how many parameters a model has.

Nothing is guessed: what is added in a branch or a loop, by a function, or from a part that is not known ends what is
known of a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tfmemlint.model.calls import Call
from tfmemlint.model.layers import pretrained
from tfmemlint.model.layers.arguments import Effect
from tfmemlint.model.layers.effects import MERGES, effect, first_shape
from tfmemlint.model.layers.stacked import steps
from tfmemlint.model.transfer.table import elements, shape_of
from tfmemlint.model.unrolled import assuming
from tfmemlint.model.values import Array, Const, Instance, Sequence, Shape, Value

SEQUENTIAL = "tf.keras.Sequential"
MODEL = "tf.keras.Model"
INPUTS = ("tf.keras.layers.InputLayer", "tf.keras.Input")
ATTENDED = ("query", "value", "key")
"""The inputs of `MultiHeadAttention`, in their order."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A layer in a model: the shape that reaches it and what it does to that."""

    layer: Value
    shape: Shape | None
    effect: Effect | None


def network_effect(target: Value, given: Value) -> Effect | None:
    """What a layer or model object does to a tensor, or to a list of tensors; None where it is not known."""
    inputs = elements(given)
    shapes = [leaf.shape if isinstance(leaf, Array) else None for leaf in inputs]
    if not isinstance(target, Instance) or target.type_name not in (SEQUENTIAL, MODEL) or target.class_node is not None:
        return effect(target, *shapes)
    if target.call is None or len(shapes) != 1 or shapes[0] is None:
        return None
    if target.type_name == SEQUENTIAL:
        return _sequential_effect(target.call, shapes[0])
    if pretrained.is_pretrained(target.call):
        found = pretrained.output_shape(target.call)
        if found is None or shapes[0][1:] != pretrained.input_sizes(target.call):
            return None
        return Effect(found, None)
    return _functional_effect(target.call, shapes[0])


# -- Sequential ------------------------------------------------------------------------------------------------------


def placed(model: Call) -> Iterator[Placed]:
    """The layers of a `Sequential`, with the shapes that reach them, as far as they are known."""
    yield from _placed(model, _built_shape(model))


def placed_on(model: Call, shape: Shape) -> Iterator[Placed]:
    """The layers of a `Sequential` that is applied to a tensor of this shape."""
    yield from _placed(model, shape)


def _placed(model: Call, shape: Shape | None) -> Iterator[Placed]:
    for index, (layer, iteration) in enumerate(steps(model)):
        if layer is None or len(layer.options) != 1:
            yield Placed(layer or Const(None), None, None)
            return
        if index == 0 and shape is None:
            shape = first_shape(layer) or _model_input(layer)
        if isinstance(layer, Array) or (isinstance(layer, Instance) and layer.type_name in INPUTS):
            continue
        with assuming(model.evaluator, iteration):
            done = network_effect(layer, Array("keras", None, shape))
        yield Placed(layer, shape, done)
        shape = done.shape if done is not None else None


def _model_input(layer: Value) -> Shape | None:
    """The input's shape of a model that is the first part of another."""
    if not isinstance(layer, Instance) or layer.call is None:
        return None
    if pretrained.is_pretrained(layer.call):
        sizes = pretrained.input_sizes(layer.call)
        return None if sizes is None else (None, *sizes)
    if layer.type_name == SEQUENTIAL:
        first = next(_placed(layer.call, _built_shape(layer.call)), None)
        return first.shape if first is not None else None
    return None


def _built_shape(model: Call) -> Shape | None:
    """The shape that `model.build(shape)` states."""
    file = model.evaluator.file
    flow = file.flow(file.scope_of(model.node))
    for node in file.home(model.node).calls_by_word.get("build", ()):
        receiver = node.func.value if isinstance(node.func, cst.Attribute) else None
        reaching = flow.uses.get(id(receiver), ()) if receiver is not None else ()
        if len(reaching) == 1 and reaching[0].value is model.node:
            call = model.evaluator.call(node, model.frame)
            return shape_of(call.value_of("input_shape") if call.arg("input_shape") is not None else call.value_of(0))
    return None


def _sequential_effect(model: Call, shape: Shape) -> Effect | None:
    total: int | None = 0
    found = shape
    for step in _placed(model, shape):
        if step.effect is None:
            return None
        more = step.effect.parameters
        total = None if total is None or more is None else total + more
        found = step.effect.shape
    return Effect(found, total)


# -- functional models -----------------------------------------------------------------------------------------------


def parameters(model: Call) -> int | None:
    """The number of parameters of a `Sequential`, functional or pretrained model, or None where it is not known."""
    if model.name == SEQUENTIAL:
        steps = list(placed(model))
        if any(step.effect is None for step in steps):
            return None
        held = {(_identity(step.layer) or index): step for index, step in enumerate(steps)}
    elif model.name == MODEL:
        found = _reached(model)
        if found is None:
            return None
        held = found
    else:
        return pretrained.parameters(model) if pretrained.is_pretrained(model) else None
    counts = [step.effect.parameters if step.effect is not None else None for step in held.values()]
    return None if None in counts else sum(n for n in counts if n is not None)


def layers(model: Call) -> list[Placed]:
    """The layers of a `Sequential` or functional model, as far as they are known; of a functional one in no order."""
    if model.name == SEQUENTIAL:
        return list(placed(model))
    found = _reached(model) if model.name == MODEL else None
    return list(found.values()) if found is not None else []


def _reached(model: Call) -> dict[int, Placed] | None:
    """The layers on the way from a functional model's outputs back to its inputs; None where the way is not known."""
    inputs = {leaf.origin for leaf in elements(_given(model, "inputs", 0)) if isinstance(leaf, Array)}
    pending = elements(_given(model, "outputs", 1))
    held: dict[int, Placed] = {}
    seen: set[int] = set()
    if not inputs or None in inputs or not pending:
        return None
    while pending:
        tensor = pending.pop()
        origin = tensor.origin if isinstance(tensor, Array) and tensor.library == "keras" else None
        if origin is None:
            return None
        if origin in inputs or id(origin) in seen:
            continue
        seen.add(id(origin))
        if _repeated(origin, model):
            return None
        given = _given(origin, "inputs", 0)
        merges = (origin.name or "").removeprefix("tf.keras.layers.") in MERGES
        if not merges:
            layer = origin.target
            identity = _identity(layer)
            inputs_given = _call_inputs(origin)
            if identity is None or inputs_given is None or _repeated(layer.call, model):  # type: ignore[attr-defined]
                return None
            given = inputs_given
            held.setdefault(identity, Placed(layer, None, network_effect(layer, given)))
        pending += elements(given)
    return held


def _given(call: Call, name: str, position: int) -> Value:
    return call.value_of(position) if call.arg(position) is not None else call.given(name)


def _call_inputs(call: Call) -> Value | None:
    """What a layer is called on: one tensor or list, or the several tensors of an attention layer."""
    named = {a.keyword.value for a in call.node.args if a.keyword is not None} - {"training", "mask"}
    tensors = given_tensors(call)
    if call.open or (named and not _attention(call)) or not named <= {*ATTENDED, "attention_mask", "use_causal_mask"}:
        return None
    if len(tensors) == 1:
        return tensors[0]
    return Sequence(tuple(tensors)) if _attention(call) and tensors else None


def given_tensors(call: Call) -> list[Value]:
    """The tensors that a layer is called on: what has no name, and for an attention layer what has one of its names."""
    tensors = [call.value_of(i) for i, a in enumerate(call.node.args) if a.keyword is None]
    if _attention(call):
        tensors += [call.value_of(name) for name in ATTENDED[len(tensors) :] if call.arg(name) is not None]
    return tensors


def _attention(call: Call) -> bool:
    return isinstance(call.target, Instance) and call.target.type_name == "tf.keras.layers.MultiHeadAttention"


def _identity(layer: Value) -> int | None:
    """The same number for the same layer object."""
    return id(layer.call) if isinstance(layer, Instance) and layer.call is not None else None


def _repeated(call: Call, model: Call) -> bool:
    """Whether one place in the code stands for several layers or tensors of a model: in a loop, or called from one,
    which does not make the whole model anew."""
    contexts = call.evaluator.file.contexts
    frame = call.frame
    while True:
        if contexts.loop(call.node) is not None or contexts.comprehension(call.node) is not None:
            return True
        if frame is None or frame is model.frame:
            return False
        call, frame = frame.call, frame.caller


def _functional_effect(model: Call, shape: Shape) -> Effect | None:
    inputs, outputs = elements(_given(model, "inputs", 0)), elements(_given(model, "outputs", 1))
    if len(inputs) != 1 or len(outputs) != 1 or not isinstance(inputs[0], Array) or not isinstance(outputs[0], Array):
        return None
    if inputs[0].shape is None or inputs[0].shape[1:] != shape[1:] or outputs[0].shape is None:
        return None
    return Effect(outputs[0].shape, parameters(model))
