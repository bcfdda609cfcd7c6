"""What a user says beside a program: it fills what the program leaves open, and changes nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tfmemlint.estimate.step import Optimizer


@dataclass(frozen=True, slots=True)
class Given:
    """`batch` in examples, `input_shape` that of one example, `optimizer`, and `precision` as the name of a policy
    (`mixed_float16`). None leaves unknown what the program leaves open. `facts` are values of Python's own kinds, by
    the expressions of the program that have them, as `origins.canonical` writes these."""

    batch: int | None = None
    input_shape: tuple[int, ...] | None = None
    optimizer: Optimizer | None = None
    precision: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)
