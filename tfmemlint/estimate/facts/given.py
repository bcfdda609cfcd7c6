"""What a user says beside a program: it fills what the program leaves open, and changes nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from tfmemlint.estimate.step import Optimizer


@dataclass(frozen=True, slots=True)
class Given:
    """`batch` in examples, `input_shape` that of one example, `optimizer`, and `precision` as the name of a policy
    (`mixed_float16`). None leaves unknown what the program leaves open."""

    batch: int | None = None
    input_shape: tuple[int, ...] | None = None
    optimizer: Optimizer | None = None
    precision: str | None = None
