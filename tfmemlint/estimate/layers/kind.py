"""What the engine knows of one kind of layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tfmemlint.estimate.place import Place
from tfmemlint.estimate.step import Applied
from tfmemlint.estimate.weights import Shape, Weight

Weights = Callable[[Applied, Sequence[Shape]], tuple[Weight, ...]]


def none(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    """A layer without weights."""
    return ()


@dataclass(frozen=True, slots=True)
class Kind:
    """`emit` writes down the forward ops and says what the backward pass does; `weights` are those of the layer on
    inputs of some shapes. Both raise Unknown where a number is not known that they need."""

    emit: Callable[[Place], None]
    weights: Weights = none
