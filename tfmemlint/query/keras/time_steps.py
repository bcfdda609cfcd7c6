"""How many steps a layer goes through that Keras applies to each step of a sequence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.layers.networks import INPUTS, MODEL, SEQUENTIAL, placed, placed_on
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Array, Const, Dataset, Instance, Sequence, Shape, Value, integer
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.makers import makers
from tfmemlint.query.flow.uses import Does, uses
from tfmemlint.query.keras.networks import layers_of
from tfmemlint.query.keras.policies import policy_set_in_program
from tfmemlint.query.pipelines.pipelines import BATCHING
from tfmemlint.units import AtLeast

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

FIT = f"{MODEL}.fit"
BATCH = 32
"""The rows of a batch where `fit` is not told how many, and a modest number where it is not seen."""

FLOAT32 = 4


def has_fixed_steps(file: File, wrapper: Call) -> bool:
    """Whether what a `TimeDistributed` is applied to certainly has a number of time steps that is fixed while Keras
    traces a model: by the shape of the input, which a number states though nobody knows it, or by the arrays that the
    model is trained on. Over any number of steps Keras 3 takes `vectorized_map`. False where nothing tells."""
    shape = _reaching(file, wrapper)
    if shape is not None and len(shape) > 2 and shape[1] is not None:
        return True
    before = list(_before(file, wrapper))
    return any(map(_states_steps, before)) and all(_is_of_keras(call) for call in before)


def step_gradients(file: File, wrapper: Call) -> int | None:
    """Bytes of the gradients that a `TimeDistributed` of Keras 3 keeps in a training step: one of its whole input, in
    float32, for each time step; at least what a tape does not add up early, where they are more. None where the steps,
    sizes or dtype are not known, nor the rows of the pipelines that the model is trained on."""
    shape = _reaching(file, wrapper)
    if shape is None or len(shape) < 3 or shape[1] is None or None in shape[2:]:
        return None
    rows = _rows(file, wrapper)
    if rows is None or policy_set_in_program(file):
        return None
    found = shape[1] * rows * math.prod(size for size in shape[1:] if size is not None) * FLOAT32
    return found if found <= knowledge.ADDED_EARLY else AtLeast(knowledge.ADDED_EARLY)


def _before(file: File, wrapper: Call) -> Iterator[Call]:
    """The calls that make the layers before one, with the model's input."""
    for model in file.calls(SEQUENTIAL):
        layers = [step.layer for step in placed(model)]
        at = next((i for i, layer in enumerate(layers) if _is(layer, wrapper)), None)
        if at is not None:
            yield from (layer.call for layer in layers[:at] if isinstance(layer, Instance) and layer.call is not None)
            yield from (call for call in calls(file, model.node) if call.name in INPUTS)
    for use in uses(file, wrapper.node):
        pending = elements(use.call.value_of(0)) if use.does is Does.CALL and use.call is not None else []
        while pending:
            tensor = pending.pop()
            made = tensor.origin if isinstance(tensor, Array) else None
            if made is not None and made.name in INPUTS:
                yield made
            elif made is not None:
                yield from makers(made.target)
                pending += elements(made.value_of(0))


def _is_of_keras(made: Call) -> bool:
    return made.name in INPUTS or (made.name or "").startswith("tf.keras.layers.")


def _states_steps(made: Call) -> bool:
    """Whether an input's shape is given with a number of steps, of whatever name."""
    given = made.arg("input_shape") or (made.arg("shape") or made.arg(0) if made.name in INPUTS else None)
    shape = given.value if given is not None else None
    first = shape.items[0] if isinstance(shape, Sequence) and shape.items else None
    return first is not None and Const(None) not in first.options


def _reaching(file: File, wrapper: Call) -> Shape | None:
    """The shape that reaches a layer when its model is built, or trained on arrays where that says more."""
    for use in uses(file, wrapper.node):
        given = use.call.value_of(0) if use.does is Does.CALL and use.call is not None else None
        if isinstance(given, Array):
            return _with_steps(given.shape, [_shape(fit, "y") for fit in _fits(file, wrapper)])
    for model in file.calls(SEQUENTIAL):
        found = next((step.shape for step in placed(model) if _is(step.layer, wrapper)), None)
        if found is not None and len(found) > 1 and found[1] is None:
            for fit in _fits(file, wrapper):
                given_shape = _shape(fit, "x")
                trained = placed_on(model, given_shape) if given_shape is not None else ()
                found = next((step.shape or found for step in trained if _is(step.layer, wrapper)), found)
                found = _with_steps(found, [_shape(fit, "y")])
        if found is not None:
            return found
    return None


def _with_steps(shape: Shape | None, targets: list[Shape | None]) -> Shape | None:
    """A shape with the steps of what the model is to give for each of them, where it has not said how many."""
    if shape is None or len(shape) < 3 or shape[1] is not None:
        return shape
    known = {each[1] for each in targets if each is not None and len(each) > 2}
    return (shape[0], *known, *shape[2:]) if len(known) == 1 else shape


def _rows(file: File, wrapper: Call) -> int | None:
    """The rows of a batch that the model is trained on; None where pipelines decide them in ways that are not known."""
    fits = list(_fits(file, wrapper))
    said = [rows for fit in fits if (rows := integer(fit.value_of("batch_size"))) is not None]
    given = [option for fit in fits for option in fit.value_of("x").options if isinstance(option, Dataset)]
    sizes = [_batch_size(ds) for ds in given]
    if None in sizes:
        return None
    return max((*said, *(size for size in sizes if size is not None)), default=BATCH)


def _batch_size(ds: Dataset) -> int | None:
    batch = next((step.call for step in reversed(ds.steps) if step.name in BATCHING), None)
    return integer(batch.value_of("batch_size")) if batch is not None else None


def _fits(file: File, wrapper: Call) -> Iterator[Call]:
    """The calls that train a model which has the layer."""
    for fit in file.calls(FIT):
        if any(each.node is wrapper.node for made in makers(fit.receiver) for each in layers_of(made)):
            yield fit


def _shape(fit: Call, name: str) -> Shape | None:
    given = fit.value_of(name)
    return given.shape if isinstance(given, Array) else None


def _is(layer: Value, wrapper: Call) -> bool:
    return isinstance(layer, Instance) and layer.call is not None and layer.call.node is wrapper.node
