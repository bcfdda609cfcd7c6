"""Recurrent layers as loops over time, as they run on a CPU. On a GPU cuDNN keeps about as much a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.place import Place
from tfmemlint.estimate.program import GRADIENT, Buffer
from tfmemlint.estimate.step import Applied
from tfmemlint.estimate.weights import Shape, Unknown, Weight, channels, flag, known, number, numbers


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell: its gates, the tensors of its units that each time step keeps, and the rows of its bias."""

    gates: int
    kept: int
    biases: int = 1


_CELLS = {"LSTM": _Cell(4, 7), "GRU": _Cell(3, 6, 2), "SimpleRNN": _Cell(1, 1), "ConvLSTM2D": _Cell(4, 7)}
_STEPS_AT_ONCE = 4
"""Gradients of the recurrent kernel that wait to be added, of the time steps, with more than one thread."""


def _weights(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    cell, units = _CELLS[applied.kind], number(applied.arguments, "units")
    wide = cell.gates * units
    found = [Weight((known(inputs[0][-1], "the shape of its input"), wide)), Weight((units, wide))]
    if flag(applied.arguments, "use_bias", True):
        rows = cell.biases if flag(applied.arguments, "reset_after", True) else 1
        found.append(Weight((rows, wide) if rows > 1 else (wide,)))
    return tuple(found)


def _both(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    return 2 * _weights(_inner(applied), inputs)


def _convolved_weights(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    wide = 4 * (filters := number(applied.arguments, "filters"))
    kernel = numbers(applied.arguments, "kernel_size", 2)
    found = [Weight((*kernel, channels(applied, inputs[0]), wide)), Weight((*kernel, filters, wide))]
    return (*found, Weight((wide,))) if flag(applied.arguments, "use_bias", True) else tuple(found)


def _inner(applied: Applied) -> Applied:
    if applied.inner is None or applied.inner.kind not in _UNITS:
        raise Unknown("the layer in it")
    return applied.inner


def _forward(place: Place) -> None:
    _loops(place, place.applied, 1)


def _bidirectional(place: Place) -> None:
    """Twice what the layer in it is, and its two outputs side by side."""
    _loops(place, _inner(place.applied), 2)


def _loops(place: Place, layer: Applied, times: int) -> None:
    """The input with time first, the tensors of each step (7 of its state for an LSTM, 6 for a GRU, 1 for a SimpleRNN),
    and the stacked outputs; keeps the first two, and zeros for what the backward loop fills. Backward: dy with time
    first, dx, and some gradients of the recurrent kernel. A ConvLSTM2D is an LSTM whose state is an image."""
    x = place.x()
    cell, steps = _CELLS[layer.kind], place.length(1)
    sequences = flag(layer.arguments, "return_sequences", False)
    state_bytes = _state_items(place, layer, sequences, steps) * place.item
    kept = []
    for _ in range(times):
        turned = place.op("transpose", [x], x.bytes)
        state = steps * state_bytes * cell.kept if place.state.backward else 0
        kept.append((turned, place.op("while", [turned], state)))
    zeros = [_zeros(place, turned, state) for turned, state in kept]
    for j in range(len(place.applied.outputs)):
        y = place.op("stack", [state for _, state in kept], place.out_bytes(j))
        if j == 0 and sequences:
            y = place.op("transpose", [y], y.bytes)
        place.give(y, j)

    def backward(dys: list[Buffer]) -> None:
        turned_dy = place.op("transpose", dys, dys[0].bytes)
        recurrent = place.weight_bytes(1) * min(steps, _STEPS_AT_ONCE)
        for (turned, state), (empty, *kernels) in zip(kept, zeros, strict=True):
            waiting = recurrent if place.trained else 0
            reads = [turned_dy, state, turned, empty, *kernels]
            dx = place.op("while_grad", reads, x.bytes, in_place=[empty], workspace=waiting)
            dx = place.op("transpose", [dx], x.bytes)
            if place.wants():
                place.pass_on(dx)
            else:
                place.sink("end", [dx])
        for j in range(1, len(place.applied.inputs)):
            if place.wants(j):
                place.pass_on(place.op("while_grad state", [turned_dy], place.x(j).bytes), j)
        for index, weight in enumerate(place.weights):
            if len(weight.shape) > 1 and weight.trainable and place.trained:
                place.update(index, place.op("while_grad kernel", [], place.weight_bytes(index)))

    place.on_gradients(backward)


def _zeros(place: Place, turned: Buffer, state: Buffer) -> list[Buffer]:
    """What the loop of the backward pass begins with, made as soon as the forward one has ended: zeros for dx, and for
    the gradients of the kernels."""
    if not place.trained and not any(map(place.wants, range(len(place.applied.inputs)))):
        return []
    sizes = [turned.bytes, *(place.weight_bytes(index) for index in (0, 1) if place.trained)]
    return [place.op("zeros", [state], size, why=GRADIENT) for size in sizes]


def _state_items(place: Place, layer: Applied, sequences: bool, steps: int) -> int:
    """The items of the state at one time step, for the whole batch."""
    if layer.kind in _UNITS:
        return place.rows() * number(layer.arguments, "units")
    return place.out_items() // (steps if sequences else 1)


def state_items(applied: Applied) -> int:
    """The items of the variables in which a stateful layer keeps its state, for each example; 0 where it has none, and
    for a state whose size is not known."""
    layer = applied.inner if applied.inner is not None else applied
    units = layer.arguments.get("units")
    if layer.kind not in _UNITS or not flag(layer.arguments, "stateful", False) or not isinstance(units, int):
        return 0
    return units * (2 if layer.kind == "LSTM" else 1) * (2 if applied.kind == "Bidirectional" else 1)


_UNITS = ("LSTM", "GRU", "SimpleRNN")
KINDS: Mapping[str, Kind] = {
    **{name: Kind(_forward, _weights) for name in _UNITS},
    "ConvLSTM2D": Kind(_forward, _convolved_weights),
    "Bidirectional": Kind(_bidirectional, _both),
}
