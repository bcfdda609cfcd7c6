"""The update of weights as ops: what runs before the backward pass, and at the gradient of each weight.

Measured from the allocator's trace of a step (TensorFlow 2.21, Keras 3.15). In a graph each weight is updated as soon
as its gradient is there, so gradients do not all live together; without a graph, with a clipped global norm or with a
scaled loss they do.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from tfmemlint.estimate.program import GRADIENT, OPTIMIZER, UPDATE, Buffer, Program
from tfmemlint.estimate.step import Applied, Optimizer
from tfmemlint.knowledge.facts import optimizer_slots

OPTIONS = ("momentum", "centered", "amsgrad", "use_ema", "gradient_accumulation_steps")
ADAMS = ("Adam", "AdamW", "Nadam", "Adamax", "Adagrad", "Adafactor", "Ftrl", "Lamb", "ScheduleFreeAdamW")
EARLY = {"RMSprop": 1, "AdamW": 1, "Adamax": 1, "Lion": 2, "Ftrl": 2, "Adadelta": 3}
"""How many terms of a weight's size need no gradient, such as `rho * v`: a graph computes them when the step begins."""
Key = tuple[int, int]
"""A weight: its layer and its index there."""


def slots(optimizer: Optimizer) -> int | None:
    """How many arrays of a weight's size an optimizer keeps for each weight, or None where it is not known."""
    on = [name for name in OPTIONS if optimizer.arguments.get(name)]
    return optimizer_slots(f"tf.keras.optimizers.{optimizer.kind}", *on)


@dataclass(frozen=True, slots=True)
class Trained:
    """A weight that gets a gradient: bytes of it, how often it is used in a pass, and whether a regularizer adds to its
    gradient, which needs the weight alone and so is computed when the step begins."""

    owner: Applied
    bytes: int
    uses: int
    regularized: bool = False


@dataclass
class Updates:
    """The updates of the weights of one pass. `together`: none begins before all gradients are there; `held`: all
    gradients stay until the last update."""

    program: Program
    optimizer: Optimizer | None
    together: bool = False
    held: bool = False
    weights: dict[Key, Trained] = field(default_factory=dict)
    early: dict[Key, list[Buffer]] = field(default_factory=dict)
    penalties: dict[Key, Buffer] = field(default_factory=dict)
    given: defaultdict[Key, list[Buffer]] = field(default_factory=lambda: defaultdict(list))
    waiting: list[tuple[Key, Buffer, Buffer | None]] = field(default_factory=list)
    means: list[Buffer] = field(default_factory=list)

    def begin(self) -> None:
        """Writes down the terms of gradients and updates that need no loss: they run when the step begins, and wait."""
        for key, weight in self.weights.items():
            if weight.regularized:
                self.program.owner, self.program.part = weight.owner, UPDATE
                self.penalties[key] = self.program.op("Mul", [], weight.bytes, why=GRADIENT, early=True)
        optimizer = self.optimizer
        if optimizer is None:
            return
        decays = optimizer.kind != "AdamW" and bool(optimizer.arguments.get("weight_decay"))
        terms = EARLY.get(optimizer.kind, 0) + decays + _has_momentum(optimizer)
        if optimizer.kind == "RMSprop":
            terms += sum(bool(optimizer.arguments.get(name)) for name in ("momentum", "centered"))
        for key, weight in self.weights.items():
            self.program.owner, self.program.part = weight.owner, UPDATE
            size = weight.bytes
            self.early[key] = [self.program.op("Mul", [], size, why=OPTIMIZER, early=True) for _ in range(terms)]

    def add(self, applied: Applied, index: int, gradient: Buffer, *, read: bool, rows: Buffer | None) -> None:
        """Writes down what follows when a weight has got a gradient: its update if it was the last one. Rows to which
        a regularizer adds are made dense first."""
        key = (applied.layer, index)
        weight = self.weights.get(key)
        if weight is None:
            return
        program, part = self.program, self.program.part
        if rows is not None and key in self.penalties:
            gradient = program.op("UnsortedSegmentSum", [gradient, rows], weight.bytes, why=GRADIENT)
            rows = None
        if rows is None:
            gradient.why = GRADIENT
            if gradient.bytes != weight.bytes:
                gradient = program.op("Cast", [gradient], weight.bytes, why=GRADIENT)
            given = self.given[key]
            given.append(gradient)
            if len(given) < weight.uses:
                return
            if key in self.penalties:
                given.append(self.penalties[key])
            if len(given) > 1:
                gradient = program.op("AddN", given, weight.bytes, in_place=given, why=GRADIENT)
        if self.together:
            self.waiting.append((key, gradient, rows))
        else:
            self._update(key, gradient, read, rows)
        program.part = part

    def finish(self) -> None:
        """Writes down what waits for all gradients, also for those of uses on which no loss depends."""
        for key, given in self.given.items():
            if len(given) < self.weights[key].uses:
                total = self.program.op("AddN", given, self.weights[key].bytes, in_place=given)
                self.waiting.append((key, total, None))
        gradients = [gradient for _, gradient, _ in self.waiting]
        self.program.part = UPDATE
        if gradients:
            self.program.sink("norm", gradients)
        for key, gradient, rows in self.waiting:
            self._update(key, gradient, False, rows)
        self.program.part = UPDATE
        if self.held and gradients:
            self.program.sink("end", gradients)
        for mean in self.means:
            self.program.sink("apply", [mean], workspace=2 * mean.bytes)

    def _update(self, key: Key, gradient: Buffer, read: bool, rows: Buffer | None) -> None:
        weight, optimizer = self.weights[key], self.optimizer
        self.program.owner, self.program.part = weight.owner, UPDATE
        if optimizer is None:
            self.program.sink("gradient", [gradient])
            return
        if optimizer.arguments.get("gradient_accumulation_steps"):
            self.program.sink("AssignAdd", [gradient])
            self.means.append(self.program.op("mean", [], weight.bytes))
            return
        one = _Update(self.program, weight.bytes, gradient, self.early.get(key, []), weight.bytes if read else 0, rows)
        if optimizer.kind in ADAMS:
            one.adam(optimizer.kind in ("Nadam", "Ftrl"))
        elif optimizer.kind == "Adadelta":
            one.adadelta()
        elif optimizer.kind == "Lion":
            one.lion()
        elif optimizer.kind == "RMSprop":
            one.rmsprop()
        elif _has_momentum(optimizer):
            one.momentum(bool(optimizer.arguments.get("nesterov")))
        else:
            one.sgd()


@dataclass
class _Update:
    """The update of one weight of `bytes`. `copy` bytes are taken when it is assigned, because something that has not
    run yet reads it; `early` are the terms that were computed when the step began; `rows` are those of the weight that
    the gradient has, if it has not all."""

    program: Program
    bytes: int
    gradient: Buffer
    early: list[Buffer]
    copy: int
    rows: Buffer | None

    def sgd(self) -> None:
        """In place on the gradient; rows of an embedding are scattered."""
        if self.rows is not None:
            self.program.sink("ScatterSub", [self.gradient, self.rows])
            return
        step = self.program.op("Mul", [self.gradient], self.bytes, in_place=[self.gradient])
        self.program.sink("AssignSub", [step], self.copy)

    def momentum(self, nesterov: bool) -> None:
        """`momentum * m` is there since the beginning; one more array for Nesterov's step."""
        gradient, early = self._dense(), self.early
        step = self.program.op("Mul", [gradient], self.bytes, in_place=[gradient])
        velocity = self.program.op("Sub", [*early, step], self.bytes, in_place=early)
        self.program.sink("Assign", [velocity])
        if nesterov:
            ahead = self.program.op("Mul", [], self.bytes)
            self.program.sink("AssignAdd", [ahead], self.copy)
        else:
            self.program.sink("AssignAdd", [], self.copy)

    def adam(self, looks_ahead: bool = False) -> None:
        """The gradient and its square, then m * alpha and the root of v; one array besides in Nadam and Ftrl. Rows of
        an embedding are squared and both made dense: two arrays of the whole table."""
        program = self.program
        squared = program.op("Square", [self.gradient], self.gradient.bytes)
        gradient = self._dense()
        if self.rows is not None:
            squared = program.op("UnsortedSegmentSum", [squared, self.rows], self.bytes)
        ahead = [program.op("Mul", [gradient], self.bytes)] if looks_ahead else []
        program.sink("AssignAdd", [program.op("Sub", [gradient], self.bytes, in_place=[gradient])])
        program.sink("AssignAdd", [squared])
        moved = program.op("Mul", [*self.early, *ahead], self.bytes, in_place=ahead)
        root = program.op("Sqrt", [], self.bytes)
        step = program.op("Div", [moved, root], self.bytes, in_place=[moved])
        program.sink("AssignSub", [step], self.copy)

    def adadelta(self) -> None:
        """In place on the gradient and on the three terms that are there since the beginning."""
        gradient, program = self._dense(), self.program
        step = program.op("Mul", [gradient, *self.early[2:]], self.bytes, in_place=self.early[2:])
        squared = program.op("Square", [gradient], self.bytes, in_place=[gradient])
        program.sink("Assign", [program.op("Add", [squared, *self.early[:1]], self.bytes, in_place=[squared])])
        program.sink("Assign", [program.op("Add", [*self.early[1:2]], self.bytes, in_place=self.early[1:2])])
        program.sink("AssignAdd", [step], self.copy)

    def lion(self) -> None:
        """Two scaled gradients, each added in place to one of the two terms that are there since the beginning."""
        gradient, program = self._dense(), self.program
        for term, assign, copy in zip(self.early, ("AssignSub", "Assign"), (self.copy, 0), strict=False):
            scaled = program.op("Mul", [gradient], self.bytes, in_place=[gradient])
            program.sink(assign, [program.op("Add", [term, scaled], self.bytes, in_place=[term, scaled])], copy)

    def rmsprop(self) -> None:
        """The gradient and its square; `rho * v` is there since the beginning."""
        gradient, program = self._dense(), self.program
        squared = program.op("Square", [gradient], self.bytes)
        mean = program.op("Add", [squared, *self.early], self.bytes, in_place=[squared])
        program.sink("Assign", [mean])
        root = program.op("Sqrt", [], self.bytes)
        step = program.op("Div", [gradient, root], self.bytes, in_place=[gradient])
        program.sink("AssignSub", [step], self.copy)

    def _dense(self) -> Buffer:
        if self.rows is None:
            return self.gradient
        return self.program.op("UnsortedSegmentSum", [self.gradient, self.rows], self.bytes, why=GRADIENT)


def _has_momentum(optimizer: Optimizer) -> bool:
    return optimizer.kind == "SGD" and bool(optimizer.arguments.get("momentum"))
