"""What an estimate says, as plain data: bytes, where the peak is and what lives there."""

from __future__ import annotations

from dataclasses import dataclass

from tfmemlint.estimate.step import Missing, TrainingStep


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes that one layer holds at the peak, and why: "kept for backward", "gradient", "mask", "optimizer", "input",
    "output". `line` is the layer's (from 1; 0 where no line tells)."""

    layer: str
    line: int
    bytes: int
    why: str


@dataclass(frozen=True, slots=True)
class LayerBytes:
    """One layer of the table: its output's shape for the batch, its parameters, the bytes of its activations that are
    kept for the backward pass and of its gradients, and how many of its bytes are alive at the peak."""

    name: str
    kind: str
    line: int
    output: tuple[int | None, ...]
    parameters: int
    kept: int
    gradients: int
    at_peak: int


@dataclass(frozen=True, slots=True)
class Peak:
    """Where most is alive at once: the op, the layer whose op it is and its line, and the part of the step
    ("forward", "loss", "backward", "update")."""

    op: str
    layer: str
    line: int
    part: str


@dataclass(frozen=True, slots=True)
class Moment:
    """One op of the curve: what runs, of which layer, in which part of the step, and the bytes alive beside weights,
    slots and data."""

    layer: str
    part: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Life:
    """Bytes that a layer's op took, alive from one moment of the curve to another, both included, by their indices from
    0. Those of no layer have the name ""."""

    layer: str
    bytes: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """The bytes of one step at one batch. Where the facts have no batch, that of one example is meant.

    `weights` and `slots` stay from step to step, `data` is one batch of it, `step` what one step takes beside them at
    its peak in the order of the program. The total lies between `low` and `high`, `guess` is the likely one; `low` is
    a lower bound where `bounded` is True, as something that `missing` names is left out. `lives` make up the curve,
    but for what an op takes while it runs.
    """

    of: TrainingStep
    batch: int
    weights: int
    slots: int
    data: int
    step: int
    low: int
    guess: int
    high: int
    peak: Peak
    held: tuple[Held, ...]
    layers: tuple[LayerBytes, ...]
    curve: tuple[Moment, ...]
    missing: tuple[Missing, ...]
    bounded: bool
    lives: tuple[Life, ...] = ()


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A change in words ("batch 16", "mixed_bfloat16"), the lower bound of the step after it and the bytes less."""

    change: str
    low: int
    saves: int
