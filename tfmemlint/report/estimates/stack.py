"""Whose bytes make up the curve: the largest layers, each with its course, and all others together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from tfmemlint.report.estimates.curve import Column

if TYPE_CHECKING:
    from tfmemlint.estimate.answer import Estimate

LARGEST = 8
"""Layers that a picture tells apart; more colours look alike."""


@dataclass(frozen=True, slots=True)
class Band:
    """What some layers hold in each column of a picture; `rank` is that of the layer by the room that it takes there,
    from 0, and None for what is no single layer's."""

    name: str
    rank: int | None
    bytes: tuple[int, ...]


def bands(estimate: Estimate, drawn: Sequence[Column]) -> list[Band]:
    """From the ground up: what stays from step to step, the largest layers in their order, what is left."""
    base = estimate.low - estimate.step
    courses = _courses(estimate, drawn)
    largest = sorted(courses, key=lambda name: -sum(courses[name]))[:LARGEST]
    order = {each.name: number for number, each in enumerate(estimate.layers)}
    made = [Band("weights, slots and data", None, (base,) * len(drawn))]
    for name in sorted(largest, key=lambda name: order.get(name, len(order))):
        made.append(Band(name, largest.index(name), tuple(courses[name])))
    told = [sum(courses[name][index] for name in largest) for index in range(len(drawn))]
    rest = tuple(max(column.bytes - known, 0) for column, known in zip(drawn, told, strict=True))
    return [*made, Band("all else", None, rest)]


def _courses(estimate: Estimate, drawn: Sequence[Column]) -> dict[str, list[int]]:
    """For each layer the bytes that it has in each column."""
    changes: dict[str, list[int]] = defaultdict(lambda: [0] * (len(estimate.curve) + 1))
    for life in estimate.lives:
        if life.layer and life.start < len(estimate.curve):
            changes[life.layer][life.start] += life.bytes
            changes[life.layer][min(life.end + 1, len(estimate.curve))] -= life.bytes
    found = {}
    for name, each in changes.items():
        alive = list(accumulate(each))
        course = [alive[column.moment] for column in drawn]
        if any(course):
            found[name] = course
    return found
