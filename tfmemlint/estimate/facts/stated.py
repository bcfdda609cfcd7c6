"""The shapes that a model states of what it takes: what it is given has them, even where that is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.estimate.facts import networks
from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.values import Object, Traced
from tfmemlint.model.values import Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfmemlint.estimate.facts.machine import Machine


def tensors(machine: Machine, model: Object, given: list[Traced] | None) -> list[Traced] | None:
    """What a model is given, with the shapes that it states where others are not known; None where neither is."""
    if given is not None and all(t.shape is not None for t in given):
        return given
    if not (networks.is_functional(model) or networks.is_sequential(model)):
        return given
    ends = networks.built(machine, model)
    wanted = ends[0] if ends is not None else []
    if not wanted or any(t.shape is None or None in t.shape[1:] for t in wanted):
        return given
    if given is None:
        return [_data(machine, t.shape, t.dtype) for t in wanted]
    return _refined(machine, given, [t.shape for t in wanted]) if len(given) == len(wanted) else given


def arguments(machine: Machine, model: Object, given: Arguments) -> Arguments:
    """What a model of the program is given, whose `build` was called with a shape."""
    shape = model.fields.get("#shape")
    first = given.positions[0] if given.positions else None
    if not isinstance(shape, Traced) or first is None or shape.shape is None or None in shape.shape[1:]:
        return given
    if isinstance(first, Traced) and first.shape is None:
        _refined(machine, [first], [shape.shape])
        return Arguments((machine.record.tensors[first.number], *given.positions[1:]), given.names, given.open)
    if first.known:
        return given
    return Arguments((_data(machine, shape.shape, shape.dtype), *given.positions[1:]), given.names, given.open)


def _data(machine: Machine, shape: Shape | None, dtype: str | None) -> Traced:
    """A tensor of which is known only what takes it: data of the loop that is being followed."""
    made = machine.record.tensor(shape, dtype, "tf")
    if machine.batches:
        machine.batches[-1].numbers[made.number] = made
    return made


def _refined(machine: Machine, given: list[Traced], shapes: Sequence[Shape | None]) -> list[Traced]:
    """Tensors of unknown shapes, which are known by what takes them."""
    found = []
    for each, shape in zip(given, shapes, strict=True):
        if each.shape is None:
            each = machine.record.tensors[each.number] = replace(each, shape=shape)
        found.append(each)
    return found
