"""What would save memory: the same step with one thing changed, estimated again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.estimate.answer import WhatIf
from tfmemlint.estimate.engine import Lows, lowest
from tfmemlint.estimate.precision import under
from tfmemlint.estimate.step import Pass, TrainingStep

WORTH = 20
"""The part of `low` that a change has to save to be worth a word: a twentieth."""
FEWEST_LAYERS = 4
"""Fewer layers are no blocks."""
ACCUMULATED = 4
"""How many small batches make one step."""


def what_if(step: TrainingStep, *, batch: int | None = None, lows: Lows | None = None) -> tuple[WhatIf, ...]:
    """The changes that save more than 5 % of the lower bound, the best one first. `lows` has what is known of the step
    already."""
    used = batch or step.batch or 1
    lows = lows or Lows(step)
    before = lows.at(used)
    found = []
    for change, changed, smaller in _changes(step, used):
        low = lows.at(smaller) if changed is step else lowest(changed, smaller)
        if WORTH * (before - low) > before:
            found.append(WhatIf(change, low, before - low))
    return tuple(sorted(found, key=lambda one: one.low))


def _changes(step: TrainingStep, batch: int) -> Iterator[tuple[str, TrainingStep, int]]:
    """Each change in words, the changed step and its batch."""
    if batch > 1:
        yield f"batch {batch // 2}", step, batch // 2
    if step.precision == "float32":
        yield "mixed_bfloat16", under(step, "mixed_bfloat16"), batch
    blocks = in_blocks(step)
    if blocks is not None:
        count = len({applied.remat for one in blocks.passes for applied in one.graph.applied})
        yield f"keras.remat, {count} blocks", blocks, batch
    if batch >= 2 * ACCUMULATED and any(one.backward for one in step.passes):
        accumulated = accumulating(step, ACCUMULATED)
        if accumulated is not None:
            yield f"gradient_accumulation_steps={ACCUMULATED}", accumulated, batch // ACCUMULATED


def in_blocks(step: TrainingStep) -> TrainingStep | None:
    """The step with its layers in about as many blocks as the root of their number, each computed again in the backward
    pass; None where it has few layers or already computes some again."""
    layers = [applied for one in step.passes if one.backward for applied in one.graph.applied]
    if len(layers) < FEWEST_LAYERS or any(applied.remat is not None for applied in layers):
        return None
    return replace(step, passes=tuple(_blocks(one, n) if one.backward else one for n, one in enumerate(step.passes)))


def _blocks(one: Pass, number: int) -> Pass:
    layers = one.graph.applied
    size = math.ceil(len(layers) / max(1, round(math.sqrt(len(layers)))))
    first = number * len(layers)
    applied = tuple(replace(layer, remat=first + index // size) for index, layer in enumerate(layers))
    return replace(one, graph=replace(one.graph, applied=applied))


def accumulating(step: TrainingStep, steps: int) -> TrainingStep | None:
    """The step with gradients that are added up over some batches before they are applied; None where the optimizer is
    not known or does so already."""
    passes = []
    for one in step.passes:
        if one.backward:
            if one.optimizer is None or one.optimizer.arguments.get("gradient_accumulation_steps"):
                return None
            arguments = {**one.optimizer.arguments, "gradient_accumulation_steps": steps}
            one = replace(one, optimizer=replace(one.optimizer, arguments=arguments))
        passes.append(one)
    return replace(step, passes=tuple(passes))
