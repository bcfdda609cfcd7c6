"""The training steps of a file that rules speak of: those that a configured `gpu-memory` is a budget for, each with the
place of its call or loop.

Nothing of the estimate is imported before there is one: most files are linted without a budget.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.saved import line_of
from tfmemlint.model.remembered import once_per_file
from tfmemlint.query.facts import Fact
from tfmemlint.syntax.tree import called_word

if TYPE_CHECKING:
    from tfmemlint.estimate.answer import Estimate, WhatIf
    from tfmemlint.estimate.engine import Lows
    from tfmemlint.estimate.step import TrainingStep
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

TRAINS = ("fit", "fit_generator", "train_on_batch", "apply_gradients", "minimize")
"""Words of the calls by which a step is known in its line."""

GRADIENT = "gradient"
"""The word that no tape lacks whose gradients an optimizer applies by its `apply`, a word that many things have."""

SHOWN = 3
"""Layers that are shown beside a finding."""


@dataclass(frozen=True)
class Budgeted:
    """A step of training, where it stands, its estimate at the batch of the code, and the bytes that it may take."""

    place: Call | Node
    step: TrainingStep
    estimate: Estimate
    usable: int

    def largest_batch(self) -> int | None:
        """The largest batch that fits, as far as the lower bound tells: 0 for none, None for any."""
        from tfmemlint.estimate.budget import largest_batch

        return largest_batch(self.step, self.usable, self._lows)

    def what_if(self) -> tuple[WhatIf, ...]:
        """The changes that would save most, with their bytes."""
        from tfmemlint.estimate.advise import what_if

        return what_if(self.step, batch=self.estimate.batch, lows=self._lows)

    @cached_property
    def _lows(self) -> Lows:
        from tfmemlint.estimate.engine import Lows

        return Lows(self.step, self.estimate)

    def accumulated(self, times: int) -> int | None:
        """The bytes at the least with a batch as many times smaller and gradients that are added up over so many; None
        where the optimizer is not known or does so already."""
        from tfmemlint.estimate.advise import accumulating
        from tfmemlint.estimate.engine import lowest

        changed = accumulating(self.step, times)
        return lowest(changed, max(1, self.estimate.batch // times)) if changed is not None else None

    def in_blocks(self) -> tuple[int, int] | None:
        """The bytes at the least with blocks of layers that are computed again in the backward pass, and how many
        blocks; None where there are few layers or some are computed again already."""
        from tfmemlint.estimate.advise import in_blocks
        from tfmemlint.estimate.engine import lowest

        changed = in_blocks(self.step)
        if changed is None:
            return None
        return lowest(changed, self.estimate.batch), len({layer.remat for layer in changed.layers()})

    def separable(self, layers: Collection[int]) -> int:
        """The bytes at the least with separable convolutions in place of these layers."""
        from tfmemlint.estimate.engine import lowest
        from tfmemlint.estimate.separable import with_separable

        return lowest(with_separable(self.step, frozenset(layers)), self.estimate.batch)

    def exchangeable(self) -> frozenset[int]:
        """The wide convolutions, by their numbers."""
        from tfmemlint.estimate.separable import exchangeable

        return exchangeable(self.step)


def _budgeted_steps(file: File) -> Iterator[Budgeted]:
    memory = file.config.gpu_memory
    if memory is None:
        return
    from tfmemlint.estimate.budget import usable
    from tfmemlint.estimate.engine import estimate
    from tfmemlint.estimate.facts import steps

    seen: list[TrainingStep] = []
    for step in steps(file):
        place = _stands(file, step)
        if place is None or not any(each.backward for each in step.passes):
            continue
        if not any(_is_same(step, other) for other in seen):
            seen.append(step)
            yield Budgeted(place, step, estimate(step), usable(memory))


budgeted_steps = Fact(_budgeted_steps, *TRAINS, GRADIENT)
"""Each training step of a file whose configuration has a `gpu-memory`, once where several lines run it."""


def _is_same(step: TrainingStep, other: TrainingStep) -> bool:
    """Whether a step is one that stands in another line, too, such as a second `fit` of the model."""
    one = step.passes, step.batch, step.precision, step.mode
    return one == (other.passes, other.batch, other.precision, other.mode)


def layers_at_peak(file: File, found: Estimate) -> list[tuple[cst.Call, int]]:
    """Where the layers that hold most at the peak of a step are made in the file, and the bytes of those made there."""
    held: Counter[int] = Counter()
    for each in found.held:
        held[each.line] += each.bytes
    nodes = _by_line(file)
    return [(nodes[line][0], size) for line, size in held.most_common() if line in nodes][:SHOWN]


def made_at(file: File, step: TrainingStep, layers: Collection[int]) -> list[cst.Call]:
    """Where the file makes some layers of a step, by their numbers."""
    nodes = _by_line(file)
    lines = dict.fromkeys(each.line for each in step.layers() if each.layer in layers)
    return [nodes[line][0] for line in lines if line in nodes][:SHOWN]


def _stands(file: File, step: TrainingStep) -> Call | Node | None:
    """The call of `fit` and its like on the step's line, or what begins there."""
    here = _by_line(file).get(step.line, [])
    trains = next((node for node in here if called_word(node) in TRAINS), None)
    if trains is not None:
        return file.call(trains)
    starts = (each for each in file.tree.of(cst.For, cst.While, cst.With, cst.FunctionDef))
    return next((each for each in starts if line_of(file, each) == step.line), here[0] if here else None)


@once_per_file
def _by_line(file: File) -> dict[int, list[cst.Call]]:
    """The calls of a file by the lines of its program text on which they begin, from 1."""
    found: dict[int, list[cst.Call]] = {}
    for node in file.tree.of(cst.Call):
        if file.is_own(node):
            found.setdefault(line_of(file, node), []).append(node)
    return found
