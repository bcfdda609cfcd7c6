"""Steps that a program writes itself: loops over data, tapes, gradients and what is done with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import feeding, fitting, graphs, losing, networks, objects, operations, training
from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.feeding import Feed
from tfmemlint.estimate.facts.recorded import Node
from tfmemlint.estimate.facts.tapes import Taken
from tfmemlint.estimate.facts.values import NONE, Closure, Object, Variables, leaves, plain
from tfmemlint.estimate.step import Missing, Pass, TrainingStep
from tfmemlint.model.values import Array, Dataset, Iterator, Mapping, Sequence, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine
    from tfmemlint.estimate.facts.state import Outcome


@dataclass(slots=True, eq=False)
class Batch:
    """The data of one turn of a loop."""

    numbers: dict[int, Array] = field(default_factory=dict)
    size: int | None = None
    line: int = 0
    call: str = ""


def drawn(machine: Machine, over: Value, item: Value) -> Value:
    """One element of a pipeline, each of its arrays a tensor of its own."""
    if isinstance(over, Object):
        item = feeding.of_call(machine, "fit", Arguments((over,)), cst.Call(cst.Name("fit"))).structure or item
    batch = machine.batches[-1] if machine.batches else Batch()
    if batch.size is None:
        batch.size = feeding.batch_of(Iterator(NONE, plain(item)))

    def number(value: Value) -> Value:
        if isinstance(value, Sequence):
            return Sequence(tuple(map(number, value.items)), value.kind, value.open)
        if isinstance(value, Mapping):
            return Mapping(tuple((key, number(each)) for key, each in value.items), value.open)
        if not isinstance(value, Array):
            return value
        tensor = machine.record.tensor(value.shape, fitting.as_fed(value.dtype), "tf")
        batch.numbers[tensor.number] = value
        return tensor

    return number(item)


def around(machine: Machine, loop: cst.For | cst.While, over: Value, run: Callable[[], Outcome]) -> Outcome:
    """Follow a loop; the steps that its turns make come of it."""
    before = machine.record.now
    start = len(machine.taken)
    batch = Batch(line=operations.step_line(machine, loop), call="while ...")
    if isinstance(loop, cst.For):
        text = " ".join(machine.file.text(loop.iter).split())
        batch.call = f"for ... in {text[:50]}"
    if is_data(over):
        machine.record.now = []
        batch.size = feeding.batch_of(over)
    machine.batches.append(batch)
    try:
        outcome = run()
    finally:
        machine.batches.pop()
        machine.record.now = before
    finish(machine, start, batch, None)
    return outcome


def is_data(over: Value) -> bool:
    """Whether a loop runs over batches: of a pipeline, a generator or an object that gives them."""
    return isinstance(over, (Dataset, Iterator, Object))


# -- methods of models -----------------------------------------------------------------------------------------------


def method(machine: Machine, model: Object, name: str, given: Arguments, node: cst.Call) -> Value | None:
    """What a method gives that compiles a model, trains it or asks it; None for others."""
    if name == "compile":
        training.compile_model(machine, model, given, node)
        return NONE
    if name in ("compute_loss", "compiled_loss"):
        return losing.computed(machine, model, name, given, node)
    if name not in training.FITS and name not in training.PREDICTS:
        return None
    if not machine.quiet:
        own = machine.method(model.of, "train_step") if model.of is not None else None
        if own is not None and name in training.FITS:
            overridden(machine, model, own[0], feeding.of_call(machine, name, given, node), node)
        else:
            fitting.step(machine, model, name, given, node)
    return Array("np", "float32", None) if name in training.PREDICTS else Unknown("a history")


# -- steps -----------------------------------------------------------------------------------------------------------


def overridden(machine: Machine, model: Object, own: Closure, feed: Feed, node: cst.Call) -> None:
    """The step of a model whose class has a `train_step` of its own."""
    start = len(machine.taken)
    kept, machine.record.now = machine.record.now, []
    batch = Batch(
        size=feed.batch or machine.given.batch, line=operations.step_line(machine, node),
        call=f"{fitting.words(machine, node)}(...)",
    )  # fmt: skip
    machine.batches.append(batch)
    parts = [_sized(a, batch.size) for a in (feed.inputs or [])]
    labels = [_sized(a, batch.size) for a in feed.labels]
    shape = machine.given.input_shape
    if feed.inputs is None and shape is not None:
        parts = [Array("tf", "float32", (batch.size, *shape))]
    data: Value = Unknown("data")
    if parts:
        data = parts[0] if len(parts) == 1 else Sequence(tuple(parts))
        data = Sequence((data, labels[0] if len(labels) == 1 else Sequence(tuple(labels)))) if labels else data
        data = drawn(machine, NONE, feed.structure if feed.structure is not None else data)
    try:
        machine.run(objects.with_receiver(own, model), (data,), {}, node)
    finally:
        machine.batches.pop()
        machine.record.now = kept
    given = training.compiled(model)
    for each in machine.taken[start:]:
        each.traced = "graph"
        if each.optimizer is None and given is not None:
            each.optimizer = given.get(0, "optimizer")
    finish(machine, start, batch, model, unknown_data=not parts)


def _sized(array: Array, batch: int | None) -> Array:
    return Array("tf", array.dtype, (batch, *array.shape[1:]) if array.shape else None)


def finish(machine: Machine, start: int, batch: Batch, model: Object | None, unknown_data: bool = False) -> None:
    """Make a step of the gradients that one turn has taken and applied."""
    taken = [each for each in machine.taken[start:] if each.used and not each.done]
    if machine.quiet or not taken:
        return
    for each in taken:
        each.done = True
    missing: list[Missing] = []
    size = batch.size if batch.size is not None else _leading(machine, taken) or machine.given.batch
    if size is None:
        missing.append(Missing("the batch size", batch.line, "--batch", bounds=False))
    if unknown_data:
        missing.append(Missing("the shape of the input", batch.line, "--input"))
    passes = tuple(_pass(machine, each, batch, size, missing) for each in taken)
    if not missing and not any(applied.layer > 0 for each in passes for applied in each.graph.applied):
        return  # variables alone are trained, with no layer
    data = tuple(graphs.tensor(a, size) for a in batch.numbers.values())
    shown = fitting.describe(machine, model, passes) if model is not None else _described(passes)
    machine.events.append(
        TrainingStep(
            batch.line, batch.call, shown, passes, data, size, fitting.precision(machine), taken[0].traced,
            tuple(dict.fromkeys(missing)),
        )
    )  # fmt: skip


def left(machine: Machine, start: int) -> None:
    """Make steps of gradients that are taken outside of any loop."""
    for each in machine.taken[start:]:
        if each.used and not each.done:
            line = operations.line_of(machine, each.node)
            finish(machine, start, Batch(line=line, call=f"{fitting.words(machine, each.node)}(...)"), None)


def _leading(machine: Machine, taken: list[Taken]) -> int | None:
    """The examples in what the layers of a step are given first, where no loop says how many there are."""
    for each in taken:
        flat = [inner for node in each.nodes for inner in node.flat()]
        reached = graphs.reaching(machine, flat, [t.number for t in each.of])
        made = {number for node in reached for number in node.outputs}
        for number in (n for node in reached for n in node.inputs if n not in made):
            shape = machine.record.tensors[number].shape
            if shape:
                return shape[0]
    return None


def _described(passes: tuple[Pass, ...]) -> str:
    known = {applied.layer for each in passes for applied in each.graph.applied if applied.layer > 0}
    return f"own loop, {len(known)} layers"


def _pass(machine: Machine, taken: Taken, batch: Batch, size: int | None, missing: list[Missing]) -> Pass:
    """One way through the layers, from the data to the loss."""
    line = operations.line_of(machine, taken.node)
    flat = [each for node in taken.nodes for each in node.flat()]
    reached = graphs.reaching(machine, flat, [t.number for t in taken.of])
    if not any(node.op is not None for node in reached) and (not reached or _of_models(taken.weights)):
        missing.append(Missing(graphs.LAYERS, line, "--model"))
    elif not taken.known:
        missing.append(Missing("the loss", line))
    found = losing.parted(reached)
    made = {number for node in reached for number in node.outputs}
    inputs = [number for number in dict.fromkeys(n for node in found.nodes for n in node.inputs) if number not in made]
    outputs = [*found.outputs, *found.rest]
    graph, unknown = graphs.graph(machine, found.nodes, inputs, outputs, size)
    missing += unknown
    missing += fitting.inputs_missing(machine, graph, batch.line)
    optimizer = training.optimizer_of(taken.optimizer) or machine.given.optimizer
    if optimizer is None:
        missing.append(Missing("the optimizer", line, "--optimizer"))
    losses = (*found.losses, *[losing.OWN] * len(found.rest)) if found.losses else ()
    return Pass(graph, losses, optimizer, True, _frozen(machine, taken.weights, found.nodes))


def _of_models(weights: Value) -> bool:
    """Whether gradients are taken for the weights of layers, and not of variables alone."""
    return any(isinstance(leaf, Variables) and any(leaf.of) for leaf in leaves(weights))


def _frozen(machine: Machine, weights: Value, nodes: list[Node]) -> frozenset[int]:
    """The layers whose weights no gradient is taken for."""
    named = [leaf for leaf in leaves(weights) if isinstance(leaf, Variables)]
    owners = [owner for each in named for owner in each.of]
    if not named or None in owners or len(named) < len(leaves(weights)):
        return frozenset()
    held: set[int] = set()
    waiting = [owner for owner in owners if owner is not None]
    while waiting:
        owner = waiting.pop()
        if owner.serial not in held:
            held.add(owner.serial)
            waiting += networks.parts(machine, owner)
    return frozenset(node.op.serial for node in nodes if node.op is not None and node.op.serial not in held)
