"""One pass through a graph as ops: forward in the order of the program, then the loss, then backward in reverse.

A tensor needs a gradient if the layer that gives it has weights that are trained, or if one of its inputs needs one.
What lies below the first such layer keeps nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from tfmemlint.estimate import losses
from tfmemlint.estimate.layers.known import KINDS
from tfmemlint.estimate.layers.random import draw, drawn
from tfmemlint.estimate.optimizers import Trained, Updates
from tfmemlint.estimate.place import Place, State, items
from tfmemlint.estimate.program import BACKWARD, FORWARD, GRADIENT, INPUT, Buffer, Program
from tfmemlint.estimate.step import Applied, Graph, Loss, Pass, TrainingStep
from tfmemlint.estimate.weights import UNFIT, Unknown, Weight, item_bytes

REGULARIZED = {0: ("kernel", "embeddings", "depthwise"), 1: ("recurrent", "pointwise")}
"""Index of a weight in its layer -> what the argument of its regularizer begins with."""


@dataclass(frozen=True, slots=True)
class Written:
    """A pass as ops. `inputs` are its inputs, which are there before it; `outputs` outlive it where nothing follows.
    `left_out` says of layers what is not known of them, and so not in the ops."""

    program: Program
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    left_out: dict[int, str]


def variable_item(applied: Applied, precision: str) -> int:
    """Bytes of one item of a layer's weights: a mixed policy keeps them in float32."""
    return 4 if precision.startswith("mixed_") else item_bytes(applied.dtype)


def weights(applied: Applied, one: Pass) -> tuple[Weight, ...]:
    """The weights of a layer on the tensors it is applied to in a pass. Raises Unknown, also for an unknown kind."""
    kind = KINDS.get(applied.kind)
    if kind is None:
        raise Unknown("what it does")
    try:
        return kind.weights(applied, [one.graph.tensors[each].shape for each in applied.inputs])
    except UNFIT:
        raise Unknown("what its arguments mean" if applied.inputs else "its input") from None


def write(one: Pass, step: TrainingStep, batch: int) -> Written:
    """The ops of one pass of a step at a batch."""
    return _Writer(one, step, batch).write()


class _Writer:
    def __init__(self, one: Pass, step: TrainingStep, batch: int) -> None:
        self.one = one
        self.step = step
        self.eager = step.mode == "eager"
        self.program = Program(reuses=not self.eager)
        optimizer = one.optimizer if one.backward else None
        self.updates = Updates(self.program, optimizer, self.eager or _waits(one, step), self.eager)
        self.state = State(self.program, one.graph, batch, one.backward, self.updates)
        self.left_out: dict[int, str] = {}

    def write(self) -> Written:
        state, graph = self.state, self.one.graph
        given = (*graph.inputs, *_unmade(graph))
        for tensor in given:
            found = graph.tensors[tensor]
            size = items(found, state.batch) * item_bytes(found.dtype)
            state.values[tensor] = Buffer(size, None, INPUT)
            state.dtypes[tensor] = found.dtype
        inputs = tuple(state.values[tensor] for tensor in given)
        places = [self._place(applied) for applied in graph.applied]
        of_losses = self._losses() if self.one.backward else {}
        if self.one.backward:
            self._begin(places)
        self._forward(places)
        outputs = tuple(state.values[tensor] for tensor in graph.outputs)
        if self.one.backward:
            self._loss(of_losses)
            for run in reversed(state.tape):
                run()
            self.updates.finish()
        return Written(self.program, inputs, () if self.one.backward else outputs, self.left_out)

    def _place(self, applied: Applied) -> Place:
        try:
            found = weights(applied, self.one)
        except Unknown as unknown:
            self.left_out[applied.layer] = str(unknown)
            found = ()
        trained = self.one.backward and applied.trainable and applied.layer not in self.one.frozen
        trained = trained and any(weight.trainable for weight in found)
        return Place(self.state, applied, found, trained, variable_item(applied, self.step.precision), self.left_out)

    def _begin(self, places: Sequence[Place]) -> None:
        """Which tensors need a gradient, and what runs when the step begins: masks and terms of the optimizer."""
        state = self.state
        uses = Counter(place.applied.layer for place in places)
        for place in places:
            if place.trained or any(map(state.wanted.__contains__, place.applied.inputs)):
                state.wanted.update(place.applied.outputs)
            for index, weight in enumerate(place.weights):
                if place.trained and weight.trainable:
                    size = weight.items * place.variable_item
                    trained = Trained(place.applied, size, uses[place.applied.layer], _regularized(place, index))
                    self.updates.weights[place.applied.layer, index] = trained
        if self.eager:
            return
        for place in places:
            if drawn(place) and place.applied.remat is None:
                self._at(place, FORWARD)
                state.masks[id(place.applied)] = draw(place, early=True)
        self.updates.begin()

    def _forward(self, places: Sequence[Place]) -> None:
        """Blocks that are computed again keep nothing but their inputs; their backward pass begins with their forward
        pass."""
        tape = self.state.tape
        for group, block in groupby(places, key=lambda place: place.applied.remat if self.one.backward else None):
            together, kept = list(block), len(tape)
            for place in together:
                self._emit(place)
            if group is not None:
                del tape[kept:]
                tape.append(partial(self._again, together))

    def _again(self, block: Sequence[Place]) -> None:
        state = self.state
        outer, state.tape = state.tape, []
        for place in block:
            self._emit(self._place(place.applied), BACKWARD)
        inner, state.tape = state.tape, outer
        for run in reversed(inner):
            run()

    def _emit(self, place: Place, part: str = FORWARD) -> None:
        self._at(place, part)
        kind = KINDS.get(place.applied.kind)
        try:
            if kind is None:
                raise Unknown("what it does")
            if not place.applied.inputs:
                raise Unknown("its input")
            kind.emit(place)
        except Unknown as unknown:
            self.left_out[place.applied.layer] = str(unknown)
        except UNFIT:
            self.left_out[place.applied.layer] = "what its arguments mean"
        if any(tensor not in self.state.values for tensor in place.applied.outputs):
            self._unknown(place)

    def _unknown(self, place: Place) -> None:
        """A layer that is not known takes no memory, but gradients go through it."""
        for j in range(len(place.applied.outputs)):
            place.give(place.op(place.applied.kind, place.xs(), 0), j)

        def backward(dys: list[Buffer]) -> None:
            for j in range(len(place.applied.inputs)):
                place.pass_on(place.op(place.applied.kind, dys, 0), j)

        place.on_gradients(backward)

    def _losses(self) -> dict[int, Loss | None]:
        """The loss of each output: its own, or the only one. One of logits where an activation is left out for it."""
        known, found = self.one.losses, {}
        makers = {tensor: applied for applied in self.one.graph.applied for tensor in applied.outputs}
        for index, tensor in enumerate(self.one.graph.outputs):
            loss = known[index] if index < len(known) else known[0] if len(known) == 1 else None
            activation = losses.skipped(loss, makers.get(tensor))
            if loss is not None and activation is not None:
                self.state.skipped[tensor] = activation
                loss = replace(loss, from_logits=True)
            found[tensor] = loss
        return found

    def _loss(self, given: Mapping[int, Loss | None]) -> None:
        for tensor, loss in given.items():
            y = self.state.values[tensor]
            dy = losses.gradient(self.program, loss, y, self.state.items(tensor))
            dy.why = GRADIENT
            self.state.gradients[tensor].append(dy)

    def _at(self, place: Place, part: str) -> None:
        self.program.owner, self.program.part = place.applied, part


def _unmade(graph: Graph) -> list[int]:
    """Tensors that are read or given back, and that no layer has made before: they are there when the step begins."""
    made, found = set(graph.inputs), dict[int, None]()
    for applied in graph.applied:
        found.update((tensor, None) for tensor in applied.inputs if tensor not in made)
        made.update(applied.outputs)
    found.update((tensor, None) for tensor in graph.outputs if tensor not in made)
    return list(found)


def _regularized(place: Place, index: int) -> bool:
    """Whether a regularizer adds to the gradient of a weight. A layer that holds another has that one's arguments, and
    a Bidirectional one its weights twice."""
    inner = place.applied.inner
    arguments = place.arguments if inner is None else inner.arguments
    if place.applied.kind == "Bidirectional":
        index %= len(place.weights) // 2
    return any(arguments.get(f"{name}_regularizer") is not None for name in REGULARIZED.get(index, ()))


def _waits(one: Pass, step: TrainingStep) -> bool:
    """Whether the optimizer waits for all gradients before it changes a weight: to clip their common norm, or to see
    whether all are finite, as with the scaled loss that Keras takes for float16."""
    clips = one.optimizer is not None and one.optimizer.arguments.get("global_clipnorm")
    return bool(clips) or step.precision == "mixed_float16"
