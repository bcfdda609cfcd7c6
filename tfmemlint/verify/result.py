"""The outcome for one finding, or for one rule's evidence: programs, runs and verdict."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tfmemlint.verify.claim import Claim
from tfmemlint.verify.raised import matches
from tfmemlint.verify.run.measure import Program, Settings, measure
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.verdicts import Verdict


@dataclass(frozen=True)
class Pair:
    """The flagged and the repaired program, and what in them is not the user's own code, one line each."""

    before: Program
    after: Program | None
    """None where there is no repair, and the flagged program is held against the message."""
    replaced: tuple[str, ...] = ()

    def run(
        self, claim: Claim, settings: Settings, done: Callable[[], None] | None = None
    ) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
        """The runs of both programs, made as the claim needs them; `done` is called after each. The repaired program is
        not run where the flagged one failed in another way than by the claim. Raises MeasureError."""
        server = None if claim.apart else settings.server
        chosen = replace(settings, timed=claim.timed, server=server)
        if self.after is not None and chosen.beside is not None and not claim.timed:
            return chosen.beside.measure((self.before, self.after), chosen, lambda run: _goes_on(claim, run), done)
        before = measure(self.before, chosen, done)
        if self.after is not None and all(_goes_on(claim, run) for run in before):
            return before, measure(self.after, chosen, done)
        return before, ()


def _goes_on(claim: Claim, run: Run) -> bool:
    if run.status == "ok" or run.out_of_memory:
        return True
    return claim.error is not None and matches(claim.error, run)


ALONE, WHOLE, SAMPLE = "alone", "whole", "sample"


@dataclass(frozen=True)
class Attempt:
    """One way in which a finding was to be measured, the flagged statements `ALONE`, the `WHOLE` program or the rule's
    own `SAMPLE`, and what came of it: a verdict, or why there were no programs."""

    way: str
    verdict: Verdict


@dataclass(frozen=True)
class Result:
    """What became of one finding. `pair` is None where no program could be made of it."""

    code: str
    name: str
    place: str
    """`path:row:column`, or the folder of the rule's sample."""
    message: str
    verdict: Verdict
    pair: Pair | None = None
    before: tuple[Run, ...] = ()
    after: tuple[Run, ...] = ()
    alone: bool = False
    """Whether the programs hold the flagged statements only, with made-up operands."""
    attempts: tuple[Attempt, ...] = ()
    """All ways in which it was to be measured, the one whose verdict stands among them."""

    @property
    def simulated(self) -> int:
        """How many graphics cards the programs only believed in."""
        return max((run.simulated for run in (*self.before, *self.after)), default=0)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know to trust the verdict: replaced inputs, simulated cards."""
        if self.pair is None:
            return ()
        cards = self.simulated
        were = "graphics card was" if cards == 1 else "graphics cards were"
        simulated = (f"{cards} {were} simulated for TensorFlow's own checks",) if cards else ()
        noted = dict.fromkeys(note for run in (*self.before[:1], *self.after[:1]) for note in run.notes)
        return (*self.pair.replaced, *noted, *simulated)


@dataclass(frozen=True)
class Environment:
    """Where the figures were made."""

    versions: dict[str, str] = field(default_factory=dict)
    device: str = "CPU"
    isolation: str = ""
    repeats: int = 1
    memory_limit: int | None = None
    on_card: bool = False
    """Whether `device` is a graphics card."""


def _ran_on_card(run: Run) -> bool:
    return (run.device or "").startswith("GPU") and run.peak_bytes is not None and not run.simulated


def environment(results: Sequence[Result], settings: Settings, isolation: str) -> Environment:
    """The environment of these results, as the runs themselves report it."""
    runs = [run for result in results for run in (*result.before, *result.after)]
    versions = next((run.versions for run in runs if "tensorflow" in run.versions), {})
    there = [run for run in runs if _ran_on_card(run)]
    card = next((run.card for run in there if run.card), "GPU" if there else None)
    device = card or f"CPU ({platform.machine()} {platform.system()})"
    return Environment(versions, device, isolation, settings.repeat, settings.allocator_limit, bool(card))
