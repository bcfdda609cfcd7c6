"""Gradient tapes and optimizers: which gradients are taken of what, and which of them are applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import operations
from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.recorded import Node
from tfmemlint.estimate.facts.values import NONE, Closure, Gradients, Loop, Object, Traced, Variables, leaves
from tfmemlint.model.values import Array, Iterator, OneOf, Sequence, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine


@dataclass(slots=True, eq=False)
class Taken:
    """Gradients that were taken of one tape: of which tensors, for which weights, and what applies them."""

    of: list[Traced]
    weights: Value
    nodes: list[Node]
    node: cst.Call
    traced: str
    optimizer: Value | None = None
    used: bool = False
    known: bool = True
    """Whether it is known what the loss is made of; if not, `of` is all that nothing reads."""
    done: bool = False
    """Whether it is part of a step that was noted."""


def of_tape(machine: Machine, tape: Object, name: str, given: Arguments, node: cst.Call) -> Value:
    """A method of a tape."""
    if name in ("watch", "stop_recording", "reset", "__enter__", "__exit__"):
        return NONE
    if name not in ("gradient", "jacobian"):
        return Unknown(f"{name} of a tape")
    target, sources = given.get(0, "target"), given.get(1, "sources")
    of = [leaf for leaf in leaves(target) if isinstance(leaf, Traced)] if target is not None else []
    if sources is None or (not isinstance(sources, (Variables, Unknown)) and not _are_weights(sources)):
        return _of_tensors(machine, sources)
    mode = "eager"
    for each in machine.running:
        if each.traced:
            mode = "jit" if each.frame == "jit" else "graph"
    nodes = list(machine.record.now)
    known = bool(of)
    machine.taken.append(Taken(of if known else _unread(machine, nodes), sources, nodes, node, mode, known=known))
    return Gradients(len(machine.taken) - 1)


def _unread(machine: Machine, nodes: list[Node]) -> list[Traced]:
    """The tensors of known shapes that nothing reads: of a loss that is not known what may go into it."""
    flat = [each for node in nodes for each in node.flat()]
    read = {number for node in flat for number in node.inputs}
    found = [machine.record.tensors[t] for node in flat for t in node.outputs if t not in read]
    return [each for each in found if each.shape is not None]


def _are_weights(sources: Value) -> bool:
    return any(isinstance(leaf, Variables) or (isinstance(leaf, Array) and leaf.variable) for leaf in leaves(sources))


def _of_tensors(machine: Machine, sources: Value | None) -> Value:
    """Gradients of data, as a penalty takes them: tensors of the same shapes."""
    tensors = [leaf for leaf in leaves(sources) if isinstance(leaf, Traced)] if sources is not None else []
    if len(tensors) == 1:
        return operations.note(machine, "gradient", tensors, Array("tf", tensors[0].dtype, tensors[0].shape), None)
    return Unknown("gradients")


def of_optimizer(machine: Machine, optimizer: Object, name: str, given: Arguments, node: cst.Call) -> Value:
    """A method of an optimizer."""
    if name in ("apply_gradients", "apply"):
        apply(machine, optimizer, given)
        return NONE
    if name == "minimize":
        loss, weights = given.get(0, "loss"), given.get(1, "var_list")
        if isinstance(loss, Closure):
            made = machine.run(loss, (), {}, node)
            of = [leaf for leaf in leaves(made) if isinstance(leaf, Traced)]
            machine.taken.append(
                Taken(of, weights or Unknown("weights"), list(machine.record.now), node, "eager", optimizer, True)
            )
            return NONE
        tape = given.get(None, "tape")
        if isinstance(tape, Object) and weights is not None:
            taken = of_tape(machine, tape, "gradient", Arguments((loss or NONE, weights)), node)
            apply(machine, optimizer, Arguments((taken,)))
        return NONE
    if name in ("get_scaled_loss", "scale_loss"):
        return given.get(0) or NONE
    if name == "get_unscaled_gradients":
        return given.get(0) or NONE
    if name == "get_config":
        return Unknown("a configuration")
    return NONE


def apply(machine: Machine, optimizer: Value, given: Arguments) -> None:
    """Note that an optimizer, known or not, applies gradients: those that it is given, and where nobody knows what was
    made of them the only ones that wait for it."""
    found = [machine.taken[each] for value in (*given.positions, *given.names.values()) for each in _gradients(value)]
    waiting = [each for each in machine.taken if not each.used and not each.done]
    for each in found or (waiting if len(waiting) == 1 else ()):
        each.optimizer = optimizer
        each.used = True


def _gradients(value: Value) -> list[int]:
    """The gradients in a value, however it is wrapped."""
    if isinstance(value, Gradients):
        return [value.taken]
    if isinstance(value, Iterator):
        return [*_gradients(value.of), *_gradients(value.item)]
    if isinstance(value, OneOf):
        return [each for option in value.options for each in _gradients(option)]
    if isinstance(value, (Sequence, Loop)) or leaves(value) != [value]:
        return [each for leaf in leaves(value) for each in _gradients(leaf) if leaf is not value]
    return []
