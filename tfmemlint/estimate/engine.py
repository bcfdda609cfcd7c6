"""The estimate: from the facts of a step to bytes.

Three numbers, as one would not be honest: `low` are the bytes asked for in the order of the program. The allocator
hands out chunks that are larger (14 % of the step in the median of 63 measured runs, 42 % at most), and an executor
may run what is ready in another order: `guess` has 1.2 times the step, `high` 1.45 times the larger of both orders.
Without a graph the tape keeps inputs of ops of which only shapes are needed, too: the step takes 1.0 to 2.2 times what
it takes in a graph (six programs), so that `guess` and `high` are 1.5 and 2.2 times as much there. Of the workspaces
of kernels those that are large on a card are in `high` (`workspaces`), and nothing of what XLA makes of the ops: it may
take less or more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tfmemlint.estimate.answer import Estimate, Held, LayerBytes, Life, Moment, Peak
from tfmemlint.estimate.backward import Written, variable_item, weights, write
from tfmemlint.estimate.layers.recurrent import state_items
from tfmemlint.estimate.live import Walk, walk
from tfmemlint.estimate.optimizers import slots
from tfmemlint.estimate.place import items
from tfmemlint.estimate.program import FORWARD, KEPT, MASK, Op, breadth_first
from tfmemlint.estimate.step import Applied, Missing, Pass, TrainingStep
from tfmemlint.estimate.weights import Unknown, item_bytes
from tfmemlint.estimate.workspaces import workspace

LIKELY, MOST = 1.2, 1.45
"""How much larger than the bytes asked for the chunks of a step are, as a rule and at most."""
EAGER_LIKELY, EAGER_MOST = 1.5, 2.2
"""How much more a step asks for without a graph than the ops that are written down here."""


def estimate(step: TrainingStep, *, batch: int | None = None) -> Estimate:
    """The bytes of a step at a batch: `batch`, or else that of the step, or one example where neither is known. Raises
    ValueError for a step without a pass."""
    if not step.passes:
        raise ValueError(f"the step of line {step.line} has no pass")
    used = batch or step.batch or 1
    runs = [_Run(one, step, used) for one in step.passes]
    top = max(runs, key=lambda run: run.walk.peak)
    stays = _variables(step)
    data = _data(step, used)
    lowest = stays.bytes(used) + data
    most = max(top.walk.peak + _overlap(runs), *(run.breadth_first() for run in runs))
    likely, extreme = (EAGER_LIKELY, EAGER_MOST) if step.mode == "eager" else (1, 1)
    missing = _missing(step, runs, stays)
    return Estimate(
        of=step,
        batch=used,
        weights=stays.bytes(used) - stays.slots,
        slots=stays.slots,
        data=data,
        step=top.walk.peak,
        low=lowest + top.walk.peak,
        guess=lowest + _times(LIKELY * likely, top.walk.peak),
        high=lowest + _times(MOST * extreme, most) + max(workspace(one, used) for one in step.passes),
        peak=top.peak(),
        held=top.held(),
        layers=_table(runs, top, stays, used),
        curve=top.curve(),
        missing=missing,
        bounded=any(each.bounds for each in missing),
        lives=top.lives(),
    )


def _times(factor: float, count: int) -> int:
    """The product as a whole number, also of counts beyond what floats hold."""
    try:
        return int(factor * count)
    except OverflowError:
        return round(factor * 100) * count // 100


def lowest(step: TrainingStep, batch: int) -> int:
    """`low` of the estimate at a batch, without the rest of it."""
    return Lows(step).at(batch)


class Lows:
    """`low` of the estimates of a step at several batches, each worked out once. `known` has those that are there by
    batch, of an estimate or asked for before."""

    def __init__(self, step: TrainingStep, made: Estimate | None = None) -> None:
        self.step = step
        self.known: dict[int, int] = {made.batch: made.low} if made is not None else {}

    def at(self, batch: int) -> int:
        """The bytes at a batch."""
        if batch not in self.known:
            peak = max(_Run(one, self.step, batch).walk.peak for one in self.step.passes)
            self.known[batch] = self._stays.bytes(batch) + _data(self.step, batch) + peak
        return self.known[batch]

    @cached_property
    def _stays(self) -> _Stays:
        return _variables(self.step)


def _data(step: TrainingStep, batch: int) -> int:
    return sum(items(tensor, batch) * item_bytes(tensor.dtype) for tensor in step.data)


def per_example(step: TrainingStep) -> int:
    """The bytes that one more example of the batch adds to `low`, where the batch is not small."""
    lows = Lows(step)
    return (lows.at(64) - lows.at(32)) // 32


class _Run:
    """One pass of the step, written down and run."""

    def __init__(self, one: Pass, step: TrainingStep, batch: int) -> None:
        self.one = one
        self.written: Written = write(one, step, batch)
        self.ops = self.written.program.ops
        self.walk: Walk = self._walk(self.ops)

    def _walk(self, ops: Sequence[Op]) -> Walk:
        return walk(ops, self.written.inputs, self.written.outputs)

    def breadth_first(self) -> int:
        """The peak in bytes where each op starts as soon as it can."""
        return self._walk(breadth_first(self.ops)).peak

    def peak(self) -> Peak:
        if not self.ops:
            return Peak("", "", 0, FORWARD)
        op = self.ops[self.walk.where]
        return Peak(op.name, _name(op.owner), op.owner.line if op.owner else 0, op.part)

    def held(self) -> tuple[Held, ...]:
        """What is alive at the peak, the most first."""
        found: defaultdict[tuple[str, int, str], int] = defaultdict(int)
        for buffer, why in self.walk.alive(self.walk.where):
            found[_name(buffer.owner), buffer.owner.line if buffer.owner else 0, why] += buffer.bytes
        if self.ops and self.ops[self.walk.where].workspace:
            op = self.ops[self.walk.where]
            found[_name(op.owner), op.owner.line if op.owner else 0, "workspace"] += op.workspace
        kept = [Held(name, line, size, why) for (name, line, why), size in found.items() if size]
        return tuple(sorted(kept, key=lambda held: -held.bytes))

    def curve(self) -> tuple[Moment, ...]:
        pairs = zip(self.ops, self.walk.curve, strict=True)
        return tuple(Moment(_name(op.owner), op.part, size) for op, size in pairs)

    def lives(self) -> tuple[Life, ...]:
        """Whose each memory of the curve is, from when to when: an op that takes a buffer over makes it its layer's."""
        found = []
        for life in self.walk.lives:
            ends = [start - 1 for start, _ in life.buffers[1:]] + [min(life.end, len(self.ops) - 1)]
            for (start, buffer), end in zip(life.buffers, ends, strict=True):
                found.append(Life(_name(buffer.owner), life.bytes, start, end))
        return tuple(each for each in found if each.bytes and each.start <= each.end)

    def kept(self) -> dict[int, int]:
        """Layer -> bytes of its tensors that wait for the backward pass when the forward pass has ended."""
        last = max((index for index, op in enumerate(self.ops) if op.part == FORWARD), default=0)
        found: defaultdict[int, int] = defaultdict(int)
        for buffer, why in self.walk.alive(last):
            if buffer.owner is not None and why in (KEPT, MASK):
                found[buffer.owner.layer] += buffer.bytes
        return found

    def at_peak(self) -> dict[int, int]:
        """Layer -> bytes of it that are alive at the peak."""
        found: defaultdict[int, int] = defaultdict(int)
        for buffer, _ in self.walk.alive(self.walk.where):
            if buffer.owner is not None:
                found[buffer.owner.layer] += buffer.bytes
        return found


def _name(owner: Applied | None) -> str:
    return owner.name if owner is not None else "loss"


# -- what stays from step to step


@dataclass
class _Stays:
    """Bytes of all weights, of the states of stateful layers for each example, and of slots; by layer the parameters,
    and the bytes of the weights that are trained. `unknown` are optimizers whose slots are not known."""

    weights: int
    states: int
    slots: int
    parameters: dict[int, int]
    trained: dict[int, int]
    unknown: bool

    def bytes(self, batch: int) -> int:
        return self.weights + batch * self.states + self.slots


def _variables(step: TrainingStep) -> _Stays:
    stays = _Stays(0, 0, 0, {}, {}, False)
    done = set()
    for one in step.passes:
        each = slots(one.optimizer) if one.optimizer is not None else None
        of = repr(one.optimizer)
        stays.unknown |= one.backward and each is None
        for applied in one.graph.applied:
            try:
                found = weights(applied, one)
            except Unknown:
                continue
            item = variable_item(applied, step.precision)
            if applied.layer not in stays.parameters:
                stays.parameters[applied.layer] = sum(weight.items for weight in found)
                stays.weights += stays.parameters[applied.layer] * item
                stays.states += state_items(applied) * item
            if not one.backward or not applied.trainable or applied.layer in one.frozen:
                continue
            trained = sum(weight.items for weight in found if weight.trainable) * item
            stays.trained[applied.layer] = trained
            if (applied.layer, of) not in done:
                done.add((applied.layer, of))
                stays.slots += (each or 0) * trained
    return stays


def _overlap(runs: Sequence[_Run]) -> int:
    """Bytes that other passes keep while one of them is at its peak: those of one function that do not wait for each
    other's updates may run at the same time."""
    kept = [sum(run.kept().values()) for run in runs if run.one.backward]
    return sum(kept) - max(kept) if len(kept) > 1 else 0


def _missing(step: TrainingStep, runs: Sequence[_Run], stays: _Stays) -> tuple[Missing, ...]:
    """What the facts miss, and the layers and optimizers that the engine does not know."""
    found = list(step.missing)
    said = {each.what for each in found}
    for run in runs:
        for applied in run.one.graph.applied:
            what = run.written.left_out.get(applied.layer)
            text = f"{what} of {applied.kind} {applied.name!r}"
            if found and not applied.lacks and _rests_on_others(applied, run.one):
                continue  # what is not known is named where it begins
            if what is not None and text not in said:
                said.add(text)
                found += applied.lacks or (Missing(text, applied.line),)
    if not any(each.name for each in found):  # else shapes rest on what is named
        found.extend(_shapeless(step))
    if stays.unknown and not any("optimizer" in each.what for each in found):
        found.append(Missing("the optimizer", step.line, "--optimizer"))
    return tuple(dict.fromkeys(found))


def _rests_on_others(applied: Applied, one: Pass) -> bool:
    """Whether a layer takes what is not known itself."""
    return any(None in one.graph.tensors[each].shape[1:] for each in applied.inputs)


def _shapeless(step: TrainingStep) -> list[Missing]:
    """The first tensor of which a length is not known: it counts once, and so do those that come of it."""
    for one in step.passes:
        for applied in one.graph.applied:
            if any(None in one.graph.tensors[each].shape[1:] for each in (*applied.inputs, *applied.outputs)):
                return [Missing(f"the shape at {applied.kind} {applied.name!r}", applied.line, "--input")]
    return []


def _table(runs: Sequence[_Run], top: _Run, stays: _Stays, batch: int) -> tuple[LayerBytes, ...]:
    """One row for each layer, in the order in which they are applied first."""
    kept: dict[int, int] = {}
    for run in runs:
        for layer, size in run.kept().items():
            kept[layer] = max(size, kept.get(layer, 0))
    at_peak, rows = top.at_peak(), {}
    for run in runs:
        for applied in run.one.graph.applied:
            if applied.layer in rows:
                continue
            tensor = run.one.graph.tensors[applied.outputs[0]]
            first = tuple(batch * tensor.times if size is None else size for size in tensor.shape[:1])
            rows[applied.layer] = LayerBytes(
                applied.name,
                applied.kind,
                applied.line,
                (*first, *tensor.shape[1:]),
                stays.parameters.get(applied.layer, 0),
                kept.get(applied.layer, 0),
                stays.trained.get(applied.layer, 0),
                at_peak.get(applied.layer, 0),
            )
    return tuple(rows.values())
