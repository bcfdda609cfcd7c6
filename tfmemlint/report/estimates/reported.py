"""What is reported of one step: its estimate, and what was asked for beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.estimate.budget import verdict

if TYPE_CHECKING:
    from tfmemlint.estimate.answer import Estimate, WhatIf
    from tfmemlint.estimate.measured import MeasuredStep

FITS, MAY_NOT_FIT, DOES_NOT_FIT = "fits", "may not fit", "does not fit"
"""What `estimate.budget.verdict` says."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The memory that a step must fit into: the bytes of a card, or of a slice of it, how many of them a program can
    use, the card's name where it is known, and the largest batch that fits: 0 where not even one example does, None
    where the step does not grow with its batch."""

    bytes: int
    usable: int
    card: str | None = None
    largest_batch: int | None = None


@dataclass(frozen=True, slots=True)
class Before:
    """What the step was at a git revision; None where it was not there."""

    ref: str
    estimate: Estimate | None


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the user's file, from 1; in a notebook it counts within the cell."""

    line: int
    cell: int | None = None

    def __str__(self) -> str:
        """The place in words, for the middle of a sentence."""
        return f"line {self.line}" if self.cell is None else f"line {self.line} of cell {self.cell}"


@dataclass(frozen=True, slots=True)
class Reported:
    """A step of the file at `path`. `per_example` are the bytes by which one example more raises the peak, `saves` what
    changes would save, `measured` what a run took; both are None where nobody asked. `places` says for lines of the
    program text where they stand in the file, where these differ."""

    path: str
    estimate: Estimate
    per_example: int | None = None
    budget: Budget | None = None
    saves: tuple[WhatIf, ...] | None = None
    before: Before | None = None
    measured: MeasuredStep | None = None
    places: Mapping[int, Place] = field(default_factory=dict)

    def place(self, line: int) -> Place | None:
        """Where a line of the program text stands; None for 0, which no line tells."""
        return (self.places.get(line) or Place(line)) if line else None

    @property
    def has_model(self) -> bool:
        """Whether anything is known of what runs; nothing else is known without it."""
        return bool(self.estimate.of.passes)

    @property
    def is_whole(self) -> bool:
        """Whether the bytes are those of a whole step: without a batch they are those of one example."""
        return self.has_model and self.estimate.of.batch is not None

    @property
    def verdict(self) -> str | None:
        """Whether the step fits its budget; None without one, and where too little is known to say so."""
        if self.budget is None or not (self.is_whole or self.over):
            return None
        return verdict(self.estimate, self.budget.usable)

    @property
    def over(self) -> bool:
        """Whether even the least that the step takes is over its budget."""
        return self.budget is not None and self.has_model and self.estimate.low > self.budget.usable


@dataclass(frozen=True, slots=True)
class Options:
    """How to report: the columns of a line of text, whether with colours, and with a table of all layers."""

    width: int = 100
    color: bool = False
    per_layer: bool = False
