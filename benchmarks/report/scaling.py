"""How fast something grows, from what sizes of it took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.results import Results
from benchmarks.tools import LIBCST, OURS

Point = tuple[int, float]
"""Lines, and CPU seconds beyond those of a start."""


@dataclass(frozen=True)
class Shape:
    """One kind of program."""

    title: str
    points: dict[str, list[Point]]
    """By tool, from the smallest to the largest."""


def shapes(results: Results) -> list[Shape]:
    """All shapes that were measured; their titles are those of their largest program."""
    names = [each.subject for each in results.of("scaling") if each.subject != "start"]
    found = []
    for shape in dict.fromkeys(name.rpartition("-")[0] for name in names):
        sizes = [name for name in dict.fromkeys(names) if name.rpartition("-")[0] == shape]
        sizes.sort(key=lambda name: results.subjects[name].lines)
        points = {tool.name: _points(results, sizes, tool.name) for tool in (OURS, LIBCST)}
        if all(points.values()):
            found.append(Shape(results.subjects[sizes[-1]].title, points))
    return found


def _points(results: Results, sizes: Sequence[str], tool: str) -> list[Point]:
    start = results.get("scaling", "start", tool)
    return [
        (results.subjects[name].lines, max(taken.cpu - start.cpu, 1e-3))
        for name in sizes
        if start is not None and (taken := results.get("scaling", name, tool)) is not None
    ]


def exponent(points: Sequence[Point]) -> float | None:
    """The power of the size with which the cost grows over the last two doublings: 1 is linear, 2 a square. None where
    there are less than two sizes."""
    last = [(math.log(size), math.log(cost)) for size, cost in points[-3:]]
    if len(last) < 2:
        return None
    middle = sum(x for x, _ in last) / len(last), sum(y for _, y in last) / len(last)
    square = sum((x - middle[0]) ** 2 for x, _ in last)
    return sum((x - middle[0]) * (y - middle[1]) for x, y in last) / square if square else None
