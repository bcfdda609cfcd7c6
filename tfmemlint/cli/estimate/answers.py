"""Steps as estimates: each for the batches, the mode and the budget that the command line asks for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.cli.estimate.arguments import suggestion
from tfmemlint.cli.estimate.read import Step
from tfmemlint.cli.usage import UsageError
from tfmemlint.report.estimates.reported import Before, Budget, Reported

if TYPE_CHECKING:
    from tfmemlint.estimate.answer import Estimate
    from tfmemlint.estimate.engine import Lows
    from tfmemlint.estimate.step import TrainingStep

Sized = tuple[int, str | None]
"""The bytes of a card or of a slice of it, and its name where it is known."""


def memory(options: argparse.Namespace) -> Sized | None:
    """The card that the command line names; None where it names none. Raises UsageError for one that is not known."""
    if options.gpu is None:
        return None if options.gpu_memory is None else (options.gpu_memory, None)
    from tfmemlint.estimate.budget import CARDS, card

    found = card(options.gpu)
    if found is None:
        hint = suggestion(options.gpu, sorted(CARDS))
        raise UsageError(f"--gpu {options.gpu}: no such card; {hint} (or give its size: --gpu-memory 16GiB)")
    name = next(name for name, each in CARDS.items() if each is found)
    return options.gpu_memory or found.bytes, name


def chosen(steps: Sequence[Step], options: argparse.Namespace) -> list[Step]:
    """The steps as the command line wants them run."""
    return [replace(each, step=_as_asked(each.step, options)) for each in steps]


def _as_asked(step: TrainingStep, options: argparse.Namespace) -> TrainingStep:
    if options.predict:
        step = _forward(step)
    return replace(step, mode=options.mode) if options.mode else step


def _forward(step: TrainingStep) -> TrainingStep:
    """A batch of `predict` through what a step trains."""
    passes = tuple(replace(each, losses=(), optimizer=None, backward=False) for each in step.passes)
    missing = tuple(each for each in step.missing if each.option != "--optimizer")
    return replace(step, passes=passes, mode="graph", missing=missing)


def answers(
    path: str, steps: Sequence[Step], options: argparse.Namespace, budget: Sized | None, older: Older | None
) -> Iterator[Reported]:
    """What is reported of the steps of a file. `older` has those of the revision to compare with."""
    from tfmemlint.estimate.advise import what_if
    from tfmemlint.estimate.engine import Lows

    pairs = older.matched([each.step for each in steps]) if older else [None] * len(steps)
    for each, was in zip(steps, pairs, strict=True):
        for batch in options.batch or (None,):
            now = _estimated(each.step, batch)
            before = None
            if older is not None:
                before = Before(older.ref, _estimated(was, batch) if was is not None else None)
            if not each.step.passes:
                yield Reported(path, now, before=before, places=each.places)
                continue
            lows, saves = Lows(each.step, now), None
            if options.what_if and now.of.batch is not None:
                saves = what_if(each.step, batch=now.batch, lows=lows)
            per_example = _per_example(lows, now.batch)
            yield Reported(path, now, per_example, _budget(lows, budget), saves, before, places=each.places)


def _estimated(step: TrainingStep, batch: int | None) -> Estimate:
    """The estimate of a step; of one of which no layer is known, that nothing is."""
    from tfmemlint.estimate.answer import Estimate, Peak
    from tfmemlint.estimate.engine import estimate

    if step.passes:
        return estimate(step, batch=batch)
    return Estimate(step, batch or step.batch or 1, *(0,) * 7, Peak("", "", 0, ""), (), (), (), step.missing, True)


class Older:
    """The steps of a file at a git revision."""

    def __init__(self, ref: str, steps: Sequence[TrainingStep]) -> None:
        self.ref = ref
        self._steps = steps

    def matched(self, steps: Sequence[TrainingStep]) -> list[TrainingStep | None]:
        """For each of these steps what it was: the one of the same call and model, else of the same call, else of the
        same kind, in the order of the file."""
        left = list(self._steps)
        found: list[TrainingStep | None] = [None] * len(steps)
        for alike in (lambda step: (step.call, step.model), lambda step: step.call, _trains):
            for index, step in enumerate(steps):
                if found[index] is None:
                    found[index] = next((old for old in left if alike(old) == alike(step)), None)
                    left = [old for old in left if old is not found[index]]
        return found


def _trains(step: TrainingStep) -> bool:
    return any(each.backward for each in step.passes)


def _per_example(lows: Lows, batch: int) -> int:
    """By how many bytes one example more raises the peak, between this batch and twice as many."""
    return (lows.at(2 * batch) - lows.at(batch)) // batch


def _budget(lows: Lows, budget: Sized | None) -> Budget | None:
    if budget is None:
        return None
    from tfmemlint.estimate.budget import card, largest_batch, usable

    size, name = budget
    known = card(name) if name is not None else None
    limit = usable(size, known.capability if known else None)
    return Budget(size, limit, name, largest_batch(lows.step, limit, lows))
