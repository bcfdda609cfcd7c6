"""What rules that need no budget ask of the training steps of a file: how many bytes a step takes, and how many less
after a change.

Nothing of the estimate is imported before a rule asks: most files have nothing to ask about.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfmemlint.model.remembered import once_per_file

if TYPE_CHECKING:
    from tfmemlint.estimate.step import Applied, TrainingStep
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

MIXED = "mixed_bfloat16"
WRAPPER = "TimeDistributed"


@dataclass(frozen=True)
class Saved:
    """A step of training at a batch, the bytes that it takes at the least, and those after a change."""

    batch: int
    before: int
    after: int

    @property
    def bytes(self) -> int:
        """What the change saves; less than nothing where it costs."""
        return self.before - self.after


def saved_in_mixed_precision(file: File, trains: Collection[Call]) -> Saved | None:
    """What the largest of the steps that some calls train with takes in float32 and under `mixed_bfloat16`. None where
    the batch or a part of a step is not known."""
    from tfmemlint.estimate.precision import under

    lines = {line_of(file, call.node) for call in trains}
    found = [_saved(step, under(step, MIXED)) for step in trained_steps(file) if step.line in lines]
    known = [each for each in found if each is not None]
    return max(known, key=lambda each: each.before) if found and len(known) == len(found) else None


def saved_without_wrapper(file: File, wrapper: Call) -> Saved | None:
    """What the largest of the steps that a `TimeDistributed` is part of takes with it and with the layer in it alone.
    None where no step is known that has it, or several of its line."""
    line = line_of(file, wrapper.node)
    if len([call for call in file.calls(f"tf.keras.layers.{WRAPPER}") if line_of(file, call.node) == line]) > 1:
        return None
    found = []
    for step in trained_steps(file):
        layers = frozenset(each.layer for each in step.layers() if each.kind == WRAPPER and each.line == line)
        if layers:
            found.append(_saved(step, _unwrapped(step, layers)))
    known = [each for each in found if each is not None]
    return max(known, key=lambda each: each.bytes, default=None)


@once_per_file
def trained_steps(file: File) -> tuple[TrainingStep, ...]:
    """The steps of training of a file, without those that predict."""
    from tfmemlint.estimate.facts import steps

    return tuple(step for step in steps(file) if any(each.backward for each in step.passes))


def line_of(file: File, node: Node) -> int:
    """The line of a file's program text on which a node begins, from 1."""
    return file.source.line_index(file.spans[node][0]) + 1


def _saved(step: TrainingStep, changed: TrainingStep) -> Saved | None:
    from tfmemlint.estimate.engine import estimate, lowest

    if step.batch is None:
        return None
    found = estimate(step)
    return None if found.bounded else Saved(step.batch, found.low, lowest(changed, step.batch))


def _unwrapped(step: TrainingStep, layers: frozenset[int]) -> TrainingStep:
    def alone(applied: Applied) -> Applied:
        inner = applied.inner
        if applied.layer not in layers or inner is None:
            return applied
        return replace(inner, layer=applied.layer, inputs=applied.inputs, outputs=applied.outputs, line=applied.line)

    passes = [
        replace(one, graph=replace(one.graph, applied=tuple(map(alone, one.graph.applied)))) for one in step.passes
    ]
    return replace(step, passes=tuple(passes))
