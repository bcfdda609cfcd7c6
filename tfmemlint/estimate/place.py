"""What the function of a layer sees: its inputs as buffers, its shapes, and where its ops and gradients go."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tfmemlint.estimate.optimizers import Updates
from tfmemlint.estimate.program import BACKWARD, Buffer, Program
from tfmemlint.estimate.step import Applied, Graph, Tensor
from tfmemlint.estimate.weights import FLOATS, UNFIT, Shape, Unknown, Weight, item_bytes

Backward = Callable[[Buffer], None]


@dataclass
class State:
    """A pass while it is written down: the buffer of each tensor, the tensors that need a gradient, the gradients that
    were given to them, and what the backward pass is, to be called in reverse. `skipped` are the activations of outputs
    that are left out as the loss takes what goes into them."""

    program: Program
    graph: Graph
    batch: int
    backward: bool
    updates: Updates
    values: dict[int, Buffer] = field(default_factory=dict)
    dtypes: dict[int, str] = field(default_factory=dict)
    wanted: set[int] = field(default_factory=set)
    gradients: defaultdict[int, list[Buffer]] = field(default_factory=lambda: defaultdict(list))
    tape: list[Callable[[], None]] = field(default_factory=list)
    masks: dict[int, Buffer] = field(default_factory=dict)
    skipped: dict[int, str] = field(default_factory=dict)

    def items(self, tensor: int) -> int:
        """The number of items of a tensor for the whole batch. Lengths that are not known count once."""
        found = self.graph.tensors[tensor]
        return items(found, self.batch)

    def gradient(self, tensor: int) -> Buffer | None:
        """The sum of the gradients that were given to a tensor, or None where no loss depends on it."""
        found = self.gradients.pop(tensor, [])
        if len(found) < 2:
            return found[0] if found else None
        return self.program.op("AddN", found, max(each.bytes for each in found), in_place=found)


def items(tensor: Tensor, batch: int) -> int:
    """The number of items of a tensor for a batch. Lengths that are not known count once."""
    if not tensor.shape:
        return 1
    first, *rest = tensor.shape
    return (batch * tensor.times if first is None else first) * math.prod(1 if n is None else n for n in rest)


class Place:
    """One application of a layer in a pass. `training` says whether it works as in training (dropout, statistics of
    the batch), `trained` whether its weights get gradients; `item` are the bytes of a number in the dtype in which it
    computes, `variable_item` in that of its weights."""

    def __init__(
        self,
        state: State,
        applied: Applied,
        weights: tuple[Weight, ...],
        trained: bool,
        variable_item: int,
        left_out: dict[int, str],
    ) -> None:
        self.state = state
        self.program = state.program
        self.applied = applied
        self.weights = weights
        self.trained = trained
        self.training = applied.training if applied.training is not None else state.backward
        self.item = item_bytes(applied.dtype)
        self.variable_item = variable_item
        self._left_out = left_out
        self._cast: dict[int, Buffer] = {}

    def inside(self, state: State, applied: Applied) -> Place:
        """The place of a layer that this one holds, in a pass of its own."""
        return Place(state, applied, self.weights, self.trained, self.variable_item, self._left_out)

    # -- shapes and bytes

    @property
    def arguments(self) -> Any:
        return self.applied.arguments

    def shape(self, j: int = 0) -> Shape:
        """The shape of input `j`."""
        return self.state.graph.tensors[self.applied.inputs[j]].shape

    def rows(self, j: int = 0) -> int:
        """The examples of input `j`."""
        found = self.state.graph.tensors[self.applied.inputs[j]]
        return self.state.batch * found.times if found.shape[0] is None else found.shape[0]

    def length(self, axis: int, j: int = 0) -> int:
        """The size of an axis of input `j`. Raises Unknown."""
        shape = self.shape(j)
        size = shape[axis] if -len(shape) <= axis < len(shape) else None
        if size is None:
            raise Unknown("the shape of its input")
        return size

    def out_shape(self, j: int = 0) -> Shape:
        return self.state.graph.tensors[self.applied.outputs[j]].shape

    def items(self, j: int = 0) -> int:
        """The items of input `j` for the whole batch."""
        return self.state.items(self.applied.inputs[j])

    def out_items(self, j: int = 0) -> int:
        return self.state.items(self.applied.outputs[j])

    def out_bytes(self, j: int = 0) -> int:
        """The bytes of output `j` for the whole batch, in the dtype in which the layer computes."""
        return self.out_items(j) * self.item

    def weight_bytes(self, index: int) -> int:
        """The bytes of a weight in the dtype in which the layer computes. Raises Unknown where no weights are known."""
        if not self.weights:
            raise Unknown("the weights")
        return self.weights[index].items * self.item

    # -- forward

    def x(self, j: int = 0) -> Buffer:
        """Input `j`, cast to the dtype in which the layer computes if it is a float of another one. Raises
        Unknown where there is no such input."""
        if j >= len(self.applied.inputs):
            raise Unknown("its input")
        tensor = self.applied.inputs[j]
        value = self.state.values[tensor]
        dtype = self.state.dtypes[tensor]
        if dtype not in FLOATS or FLOATS[dtype] == self.item or not value.bytes:
            return value
        if tensor not in self._cast:
            self._cast[tensor] = self.op("Cast", [value], self.items(j) * self.item)
        return self._cast[tensor]

    def xs(self) -> list[Buffer]:
        return [self.x(j) for j in range(len(self.applied.inputs))]

    def op(
        self,
        name: str,
        reads: Iterable[Buffer],
        size: int,
        *,
        in_place: Iterable[Buffer] = (),
        workspace: int = 0,
        why: str | None = None,
        early: bool = False,
    ) -> Buffer:
        """As `Program.op`."""
        return self.program.op(name, reads, size, in_place=in_place, workspace=workspace, why=why, early=early)

    def alias(self, name: str, of: Buffer) -> Buffer:
        return self.program.alias(name, of)

    def sink(self, name: str, reads: Iterable[Buffer], workspace: int = 0) -> None:
        self.program.sink(name, reads, workspace)

    def give(self, buffer: Buffer, j: int = 0, dtype: str | None = None) -> None:
        """The buffer is output `j`."""
        tensor = self.applied.outputs[j]
        self.state.values[tensor] = buffer
        self.state.dtypes[tensor] = dtype or self.applied.dtype

    def leave_out(self, what: str) -> None:
        """Something of the layer is not known, and so not counted."""
        self._left_out[self.applied.layer] = what

    # -- backward

    def wants(self, j: int = 0) -> bool:
        """Whether the gradient of input `j` is needed."""
        return self.applied.inputs[j] in self.state.wanted

    def on_backward(self, backward: Backward) -> None:
        """What happens with the gradient of the first output, if there is one and it is needed."""

        def run() -> None:
            gradient = self._gradient(0)
            if gradient is not None:
                self._guarded(lambda: backward(gradient))

        self.state.tape.append(run)

    def on_gradients(self, backward: Callable[[list[Buffer]], None]) -> None:
        """As `on_backward`, with the gradients of all outputs that have one."""

        def run() -> None:
            found = [self._gradient(j) for j in range(len(self.applied.outputs))]
            if any(found):
                self._guarded(lambda: backward([each for each in found if each is not None]))

        self.state.tape.append(run)

    def _guarded(self, backward: Callable[[], None]) -> None:
        """What is not known of a backward pass is left out, but gradients go through it."""
        before = {tensor: len(self.state.gradients[tensor]) for tensor in self.applied.inputs}
        try:
            backward()
        except Unknown as unknown:
            self.leave_out(str(unknown))
        except UNFIT:
            self.leave_out("what its arguments mean")
        else:
            return
        for j, tensor in enumerate(self.applied.inputs):
            if self.wants(j) and len(self.state.gradients[tensor]) == before[tensor]:
                self.state.gradients[tensor].append(self.op(self.applied.kind, [], 0))

    def _gradient(self, j: int) -> Buffer | None:
        self.program.owner, self.program.part = self.applied, BACKWARD
        gradient = self.state.gradient(self.applied.outputs[j])
        return gradient if self.trained or any(map(self.state.wanted.__contains__, self.applied.inputs)) else None

    def pass_on(self, gradient: Buffer, j: int = 0) -> None:
        """The buffer is a gradient of input `j`; it is dropped if none is needed."""
        tensor = self.applied.inputs[j]
        if tensor not in self.state.wanted:
            return
        if tensor in self._cast and gradient.bytes != self.state.values[tensor].bytes:
            gradient = self.op("Cast", [gradient], self.state.values[tensor].bytes)
        self.state.gradients[tensor].append(gradient)

    def update(self, index: int, gradient: Buffer, *, read: bool = False, rows: Buffer | None = None) -> None:
        """The buffer is the gradient of weight `index`. `read`: an op that has not run yet reads the weight too;
        `rows`: the gradient has only these rows of the weight."""
        if self.trained and self.weights[index].trainable:
            self.state.updates.add(self.applied, index, gradient, read=read, rows=rows)
