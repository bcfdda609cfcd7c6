"""Layers that apply another one several times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tfmemlint import knowledge
from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.optimizers import Updates
from tfmemlint.estimate.place import Place, State
from tfmemlint.estimate.program import BACKWARD, GRADIENT, Buffer
from tfmemlint.estimate.step import Applied, Graph, Tensor
from tfmemlint.estimate.weights import Shape, Unknown, Weight

GIVEN, TAKEN = 0, 1
"""The tensors of one time step: what the layer in it is applied to, and what it gives."""
MOST_STEPS = 2000
"""Time steps that are written down one by one. More are none that a program unrolls."""


def kinds(known: Mapping[str, Kind]) -> Mapping[str, Kind]:
    """The layers that apply one of those that are known."""

    def inside(applied: Applied) -> tuple[Applied, Kind]:
        if applied.inner is None or applied.inner.kind not in known:
            raise Unknown("the layer in it")
        return applied.inner, known[applied.inner.kind]

    def weights(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
        inner, kind = inside(applied)
        return kind.weights(inner, [_one_step(shape) for shape in inputs])

    def emit(place: Place) -> None:
        _each_step(place, *inside(place.applied))

    return {"TimeDistributed": Kind(emit, weights)}


def _one_step(shape: Shape) -> Shape:
    return (*shape[:1], *shape[2:])


@dataclass
class _Collected(Updates):
    """The gradients of the weights at all time steps, instead of updates."""

    found: dict[int, list[Buffer]] = field(default_factory=dict)

    def add(self, applied: Applied, index: int, gradient: Buffer, *, read: bool, rows: Buffer | None) -> None:
        gradient.why = GRADIENT
        self.found.setdefault(index, []).append(gradient)


def _each_step(place: Place, inner: Applied, kind: Kind) -> None:
    """A graph has its T steps one by one: the input with time first, a slice of it and the layer's ops for each step,
    the stacked outputs and these with the batch first. Backward every slice has a gradient as large as the whole input.
    They wait for one sum: T * x; where more than `knowledge.ADDED_EARLY` wait, they may be added as they come. Of the
    kernel T * W wait."""
    steps = place.length(1)
    if steps > MOST_STEPS:
        raise Unknown("the number of time steps")
    x, n = place.x(), place.out_bytes()
    turned = place.op("transpose", [x], x.bytes)
    updates = _Collected(place.program, None)
    states = []
    for _ in range(steps):
        piece = place.op("strided_slice", [turned], x.bytes // steps)
        states.append(_step(place, inner, kind, piece, updates))
    stacked = place.op("stack", [state.values[TAKEN] for state in states], n)
    place.give(place.op("transpose", [stacked], n))

    def backward(dy: Buffer) -> None:
        dy = place.op("transpose", [dy], n)
        pieces = [place.op("unstack", [dy], n // steps) for _ in states]
        waiting: list[Buffer] = []
        for state, piece in zip(states, pieces, strict=True):
            wide = _step_gradient(place, state, piece, x.bytes)
            waiting += [wide] if wide is not None else []
            if len(waiting) * x.bytes > knowledge.ADDED_EARLY and len(waiting) > 1:
                waiting = [place.op("AddN", waiting, x.bytes, in_place=waiting)]
        dx = place.op("AddN", waiting, x.bytes, in_place=waiting) if len(waiting) > 1 else next(iter(waiting), None)
        for index, found in updates.found.items():
            place.update(index, place.op("AddN", found, found[0].bytes, in_place=found))
        if dx is not None:
            place.pass_on(place.op("transpose", [dx], x.bytes))

    place.on_backward(backward)


def _step(place: Place, inner: Applied, kind: Kind, piece: Buffer, updates: Updates) -> State:
    """Writes down the layer in it at one time step."""
    (given,), (taken,) = (
        [place.state.graph.tensors[each] for each in ends] for ends in (place.applied.inputs[:1], place.applied.outputs)
    )
    applied = replace(inner, name=place.applied.name, line=place.applied.line, layer=place.applied.layer)
    applied = replace(applied, inputs=(GIVEN,), outputs=(TAKEN,), dtype=place.applied.dtype)
    tensors = {GIVEN: _without_time(given), TAKEN: _without_time(taken)}
    graph = Graph(tensors, (applied,), (GIVEN,), (TAKEN,))
    state = State(place.program, graph, place.state.batch, place.state.backward, updates)
    state.values[GIVEN], state.dtypes[GIVEN] = piece, place.applied.dtype
    if place.wants():
        state.wanted.add(GIVEN)
    kind.emit(place.inside(state, applied))
    return state


def _without_time(tensor: Tensor) -> Tensor:
    return replace(tensor, shape=_one_step(tensor.shape))


def _step_gradient(place: Place, state: State, dy: Buffer, whole: int) -> Buffer | None:
    """Writes down the backward pass of one time step; gives the gradient of the whole input from its slice."""
    state.gradients[TAKEN].append(dy)
    for run in reversed(state.tape):
        run()
    place.program.owner, place.program.part = place.applied, BACKWARD
    piece = state.gradient(GIVEN)
    return place.op("StridedSliceGrad", [piece], whole) if piece is not None else None
