"""The training steps of a file that rules speak of: those that a configured `gpu-memory` is a budget for, each with
the place of the call or loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from tfmemlint.estimate.answer import Estimate
from tfmemlint.estimate.budget import usable
from tfmemlint.estimate.engine import estimate
from tfmemlint.estimate.facts.found import WORDS, steps
from tfmemlint.estimate.step import TrainingStep
from tfmemlint.model.remembered import once_per_file
from tfmemlint.query.facts import Fact
from tfmemlint.syntax.tree import Node, called_word

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

SHOWN = 3
"""Layers that are shown beside a finding."""


class Budgeted(NamedTuple):
    """A step of training, where it stands, its estimate at the batch of the code, and the bytes that it may take."""

    place: Call | Node
    step: TrainingStep
    estimate: Estimate
    usable: int


def _budgeted_steps(file: File) -> Iterator[Budgeted]:
    memory = file.config.gpu_memory
    seen: list[TrainingStep] = []
    for step in steps(file) if memory is not None else ():
        place = _stands(file, step)
        if memory is None or place is None or not any(each.backward for each in step.passes):
            continue
        if not any(_is_same(step, other) for other in seen):
            seen.append(step)
            yield Budgeted(place, step, estimate(step), usable(memory))


def _is_same(step: TrainingStep, other: TrainingStep) -> bool:
    """Whether a step is one that stands in another line, too, such as a second `fit` of the model."""
    return (step.passes, step.batch, step.precision, step.mode) == (
        other.passes,
        other.batch,
        other.precision,
        other.mode,
    )


budgeted_steps = Fact(_budgeted_steps, *WORDS)
"""Each training step of a file whose configuration has a `gpu-memory`, once where several lines run it."""


def layers_at_peak(file: File, found: Estimate) -> list[tuple[Node, int]]:
    """Where the layers that hold most at the peak of a step are made in the file, and the bytes of those made there."""
    held: Counter[int] = Counter()
    for each in found.held:
        held[each.line] += each.bytes
    nodes = _by_line(file)
    return [(nodes[line][0], size) for line, size in held.most_common() if line in nodes][:SHOWN]


def made_at(file: File, step: TrainingStep, layers: Collection[int]) -> list[Node]:
    """Where the file makes some layers of a step, by their numbers."""
    nodes = _by_line(file)
    lines = dict.fromkeys(each.line for each in step.layers() if each.layer in layers)
    return [nodes[line][0] for line in lines if line in nodes][:SHOWN]


def _stands(file: File, step: TrainingStep) -> Call | Node | None:
    """The call of `fit` and its like on the step's line, or what begins there."""
    here = _by_line(file).get(step.line, [])
    calls = [node for node in here if called_word(node) in WORDS]
    if calls:
        return file.call(calls[0])
    starts = (each for each in file.tree.of(cst.For, cst.While, cst.With, cst.FunctionDef))
    return next((each for each in starts if _line(file, each) == step.line), here[0] if here else None)


@once_per_file
def _by_line(file: File) -> dict[int, list[cst.Call]]:
    """The calls of a file by the lines of its program text on which they begin, from 1."""
    found: dict[int, list[cst.Call]] = {}
    for node in file.tree.of(cst.Call):
        if file.is_own(node):
            found.setdefault(_line(file, node), []).append(node)
    return found


def _line(file: File, node: Node) -> int:
    return file.source.line_index(file.spans[node][0]) + 1
