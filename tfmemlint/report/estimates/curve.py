"""The curve of a step, made as fine as a picture is wide, and the parts of the step below it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint.units import show_bytes

if TYPE_CHECKING:
    from tfmemlint.estimate.answer import Estimate

ROWS = 5
_BLOCKS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
_NAMES = {"update": "backward and update", "backward": "backward and update"}


@dataclass(frozen=True, slots=True)
class Column:
    """A stretch of the curve that a picture shows as one: the moment of it at which most is alive, by its index, the
    bytes alive then beside weights, slots and data, and the part of the step."""

    moment: int
    bytes: int
    part: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Columns of one part of the step, from one to before another."""

    name: str
    start: int
    end: int


def columns(estimate: Estimate, most: int) -> list[Column]:
    """The curve in at most so many columns."""
    curve = estimate.curve
    count = min(most, len(curve))
    made = []
    for number in range(count):
        start, end = len(curve) * number // count, len(curve) * (number + 1) // count
        moment = max(range(start, end), key=lambda index: curve[index].bytes)
        made.append(Column(moment, curve[moment].bytes, curve[moment].part))
    return made


def parts(drawn: Sequence[Column]) -> list[Stretch]:
    """The parts of the step. Weights change one by one while gradients come, so that these two are one part."""
    found: list[Stretch] = []
    later = False
    for index, column in enumerate(drawn):
        later |= column.part in ("loss", "backward")
        # What an optimizer computes of weights alone runs while the forward pass does.
        name = _NAMES.get(column.part, column.part) if later else "forward"
        if found and found[-1].name == name:
            found[-1] = Stretch(name, found[-1].start, index + 1)
        else:
            found.append(Stretch(name, index, index + 1))
    if not any(column.part == "update" for column in drawn):
        return [Stretch("backward", each.start, each.end) if each.name in _NAMES.values() else each for each in found]
    return found


def in_text(estimate: Estimate, width: int) -> list[str]:
    """The curve in lines of block characters, with all that is alive: weights, slots and data too. A triangle stands
    below the peak."""
    drawn = columns(estimate, width - 1)
    if not drawn or width < 20:
        return []
    wide = max((width - 1) // len(drawn), 1)
    drawn = [column for column in drawn for _ in range(wide)]
    base = estimate.low - estimate.step
    heights = [base + column.bytes for column in drawn]
    top = max(heights) or 1
    lines = [show_bytes(top)]
    for row in reversed(range(ROWS)):
        filled = (math.ceil(height / top * ROWS * 8) - row * 8 for height in heights)
        lines.append("\u2502" + "".join(_BLOCKS[min(max(each, 0), 8)] for each in filled).rstrip())
    stretches = parts(drawn)
    axis = ["\u2500"] * len(drawn)
    for each in stretches[1:]:
        axis[each.start] = "\u252c"
    axis[heights.index(top)] = "\u25b2"
    return [*lines, "\u2514" + "".join(axis), _named(stretches, len(drawn))]


def _named(stretches: Sequence[Stretch], width: int) -> str:
    """The names of the parts in one line, each below its stretch or right behind the name before it."""
    line = ""
    for each in stretches:
        start = max(each.start + 1, len(line) + 2 if line else 0)
        if start + len(each.name) <= width + 1 and start <= max(each.end, each.start + 8):
            line = line.ljust(start) + each.name
    return line
