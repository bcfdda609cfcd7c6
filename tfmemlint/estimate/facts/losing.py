"""Losses of the program's own: functions and classes that are followed on what a model gives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import graphs, lacking, objects, training
from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.recorded import Node
from tfmemlint.estimate.facts.values import NONE, Closure, Held, Object, Traced, leaves
from tfmemlint.estimate.step import Loss, Missing
from tfmemlint.model.values import Array, Shape, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfmemlint.estimate.facts.machine import Machine

OWN = Loss("own")
"""What is behind the ops of a loss of the program: a number, of which no more is known to be made."""


@dataclass(slots=True)
class Parted:
    """The layers and ops before the losses, what goes into the losses, and these, in the same order; `rest` are the
    outputs that no known loss takes."""

    nodes: list[Node] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    rest: list[int] = field(default_factory=list)


def parted(reached: list[Node]) -> Parted:
    """Take the losses out of what was recorded, and what takes nothing but losses: means and sums of them."""
    behind, scalars = _behind_losses(reached)
    kept = [node for node in reached if id(node) not in behind and node.loss is None]
    losses = [node for node in reached if node.loss is not None and node.inputs]
    outputs = [node.inputs[0] for node in losses]
    read = {number for node in kept for number in node.inputs}
    rest = [t for node in kept for t in node.outputs if t not in read and t not in outputs]
    kept = [replace(node, inputs=tuple(n for n in node.inputs if n not in scalars)) for node in kept]
    return Parted(kept, outputs, [node.loss for node in losses if node.loss is not None], rest)


def _behind_losses(nodes: list[Node]) -> tuple[set[int], set[int]]:
    """The nodes that take nothing but losses, means and sums of them, and the tensors that those and losses give."""
    behind: set[int] = set()
    of_losses = {number for node in nodes if node.loss is not None for number in node.outputs}
    for node in nodes:
        if node.loss is None and node.inputs and all(number in of_losses for number in node.inputs):
            behind.add(id(node))
            of_losses.update(node.outputs)
    return behind, of_losses


def compiled(
    machine: Machine, model: Object, outputs: Sequence[int], labels: list[Array], node: cst.Call, line: int
) -> tuple[Parted, list[Missing]]:
    """What a compiled model's losses take and make of its outputs, and what is not known of them."""
    found, missing = Parted(), []
    several, unknown = training.compiled_losses(model, len(outputs), line)
    missing += unknown
    for place, output in enumerate(outputs):
        value = several[place] if place < len(several) else NONE
        known = training.loss(value)
        if known is not None:
            found.outputs.append(output)
            found.losses.append(known)
            continue
        made = _followed(machine, value, output, labels[place] if place < len(labels) else None, node)
        if made is None:
            found.rest.append(output)
            shown = _function(machine, value) is None or machine.record.tensors[output].shape is not None
            if value != NONE and shown:
                missing += graphs.asked_for(lacking.of(value)) or [Missing(training.unknown_loss(value), line)]
            continue
        found.nodes += made.nodes
        found.outputs += made.outputs
        found.losses += made.losses
        found.rest += made.rest
    if found.losses:
        found.losses += [OWN] * len(found.rest)
    return found, missing


def _followed(machine: Machine, value: Value, output: int, label: Array | None, node: cst.Call) -> Parted | None:
    """The ops of a loss of the program on one output; None where they are not all known. Labels of which the shape is
    not known have that of the output."""
    predicted = machine.record.tensors[output]
    function = _function(machine, value)
    if function is None or predicted.shape is None:
        return None
    shape = _labelled(label.shape if label is not None else None, predicted.shape)
    kept, machine.record.now = machine.record.now, []
    machine.quiet += 1
    try:
        truth = machine.record.tensor((None, *shape[1:]), (label.dtype if label is not None else None) or "float32")
        made = machine.call(function, Arguments((truth, predicted)), node)
        nodes = [each for one in machine.record.now for each in one.flat()]
    finally:
        machine.quiet -= 1
        machine.record.now = kept
    of = [leaf.number for leaf in leaves(made) if isinstance(leaf, Traced)]
    reached = graphs.reaching(machine, nodes, of)
    if not of or not reached or not _rests_on(reached, output):
        return None
    return parted(reached)


def _labelled(label: Shape | None, predicted: Shape) -> Shape:
    if label is None:
        return predicted
    if len(label) == 1 and predicted[1:] == (1,):
        return predicted  # Keras gives labels in a row the rank of what is predicted
    if len(label) != len(predicted):
        return label
    return tuple(n if n is not None else m for n, m in zip(label, predicted, strict=True))


def _function(machine: Machine, value: Value) -> Value | None:
    if isinstance(value, (Closure, Held)):
        return value
    if isinstance(value, Object) and value.of is not None:
        own = machine.method(value.of, "call") or machine.method(value.of, "__call__")
        return objects.with_receiver(own[0], value) if own is not None else None
    return None


def _rests_on(nodes: list[Node], tensor: int) -> bool:
    return any(tensor in node.inputs for node in nodes)


def computed(machine: Machine, model: Object, name: str, given: Arguments, node: cst.Call) -> Value | None:
    """`model.compute_loss(x, y, y_pred)` and `model.compiled_loss(y, y_pred)`: the loss that it was compiled with."""
    first = 1 if name == "compute_loss" else 0
    labels, predicted = given.get(first, "y", "y_true"), given.get(first + 1, "y_pred")
    several, _ = training.compiled_losses(model, 1, 0)
    if predicted is None or len(several) != 1:
        return None
    passed = Arguments((labels or NONE, predicted))
    known = training.loss(several[0])
    if known is not None:
        return training.loss_of(machine, known.kind, passed, node, known.from_logits)
    function = _function(machine, several[0])
    return machine.call(function, passed, node) if function is not None else None
