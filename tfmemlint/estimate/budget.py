"""What fits a card: the bytes of it that a program can use, and the largest batch that stays within them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from tfmemlint.estimate.answer import Estimate
from tfmemlint.estimate.engine import Lows
from tfmemlint.estimate.step import TrainingStep

MIB, GIB = 1 << 20, 1 << 30
CONTEXT = 460 * MIB
"""What the driver's context takes before TensorFlow starts: 300 to 500 MiB were seen."""
NEWEST, LARGE_CONTEXT = 9, 1141 * MIB
"""From this capability on driver and context take more: 615 and 526 MiB were seen on an H200."""
SMALL = 2 * GIB
_RESERVES = {6: 500 * MIB, 7: 1050 * MIB, 8: 1536 * MIB, 9: 1800 * MIB}
"""What TensorFlow leaves of a card's free memory to the system, by major compute capability: `MinSystemMemory` in
its `gpu_device.cc`. Of a card with less than 2 GiB it is 225 MiB."""
MOST_EXAMPLES = 1 << 24
"""A batch beyond all use: a step for which it fits does not grow with the batch."""


@dataclass(frozen=True, slots=True)
class Card:
    """A card: its memory in bytes as its maker states it, and its major compute capability."""

    bytes: int
    capability: int


CARDS: Mapping[str, Card] = {
    name: Card(gib * GIB, capability)
    for name, gib, capability in (
        ("K80", 12, 3), ("M60", 8, 5), ("P4", 8, 6), ("P100", 16, 6), ("V100", 16, 7), ("V100-16", 16, 7),
        ("V100-32", 32, 7), ("T4", 16, 7), ("A2", 16, 8), ("A10", 24, 8), ("A10G", 24, 8), ("A16", 16, 8),
        ("A30", 24, 8), ("A40", 48, 8), ("A100", 40, 8), ("A100-40", 40, 8), ("A100-80", 80, 8), ("A6000", 48, 8),
        ("L4", 24, 8), ("L40", 48, 8), ("L40S", 48, 8), ("H100", 80, 9), ("H200", 141, 9), ("GTX1060", 6, 6),
        ("GTX1070", 8, 6), ("GTX1080", 8, 6), ("GTX1080TI", 11, 6), ("GTX1650", 4, 7), ("GTX1660", 6, 7),
        ("RTX2060", 6, 7), ("RTX2070", 8, 7), ("RTX2080", 8, 7), ("RTX2080TI", 11, 7), ("RTX3050", 8, 8),
        ("RTX3060", 12, 8), ("RTX3070", 8, 8), ("RTX3080", 10, 8), ("RTX3090", 24, 8), ("RTX4060", 8, 8),
        ("RTX4070", 12, 8), ("RTX4080", 16, 8), ("RTX4090", 24, 8), ("RTX5090", 32, 12),
    )
}  # fmt: skip
"""Cards by name, in capitals and without spaces; of those that were made with two sizes the smaller one."""


def card(name: str) -> Card | None:
    """The card of a name ("a100-80", "RTX 3060"), or None for one that is not known."""
    return CARDS.get(name.upper().replace(" ", "").removeprefix("NVIDIA"))


def usable(memory: int, capability: int | None = None) -> int:
    """The bytes of a card's memory that TensorFlow can hand out, without the driver's context and what it leaves to the
    system. Of a card whose capability is not known 1.95 GiB are taken off from 8 GiB on, else 1 GiB."""
    if capability is None:
        return max(0, memory - (1536 * MIB + CONTEXT if memory >= 8 * GIB else GIB))
    free = memory - (LARGE_CONTEXT if capability >= NEWEST else CONTEXT)
    reserve = 225 * MIB if free < SMALL else _RESERVES[min(NEWEST, max(6, capability))]
    return max(0, free - reserve)


def verdict(found: Estimate, limit: int) -> str:
    """Whether a step takes no more than `limit` bytes: "fits", "may not fit" or "does not fit"."""
    if found.low > limit:
        return "does not fit"
    return "fits" if found.high <= limit and not found.bounded else "may not fit"


def largest_batch(step: TrainingStep, limit: int, lows: Lows | None = None) -> int | None:
    """The largest batch whose lower bound is within `limit` bytes: 0 if that of one example is not, and None if the
    step does not grow with the batch. `lows` has what is known of the step already."""
    lows = lows or Lows(step)
    if all(low > limit for low in lows.known.values()) and lows.at(1) > limit:
        return 0
    for turn in count():
        fits = max(batch for batch, low in lows.known.items() if low <= limit)
        beyond = min((batch for batch in lows.known if batch > fits), default=None)
        if fits > MOST_EXAMPLES:
            return None
        if beyond == fits + 1:
            break
        most = beyond - 1 if beyond is not None else MOST_EXAMPLES + 1
        lows.at(min(max(_guess(lows, limit, fits, beyond, turn), fits + 1), most))
    return fits


def _guess(lows: Lows, limit: int, fits: int, beyond: int | None, turn: int) -> int:
    """Where the limit may be met. Bytes grow in straight pieces that become steeper: the line between two batches
    around the limit meets it too early, and one through two below too late, in turns; now and then the batch halfway
    or twice as many are tried, for other shapes."""
    below = max((batch for batch in lows.known if batch < fits), default=None)
    if beyond is None:
        return _meets(lows, below, fits, limit) if below is not None and turn % 4 < 3 else 2 * fits
    if turn % 3 == 2:
        return (fits + beyond) // 2
    return _meets(lows, below, fits, limit) if turn % 3 and below is not None else _meets(lows, fits, beyond, limit)


def _meets(lows: Lows, one: int, other: int, limit: int) -> int:
    """The batch at which the line through two batches meets the limit; beyond all use where it never does."""
    rise = lows.at(other) - lows.at(one)
    return one + (limit - lows.at(one)) * (other - one) // rise if rise > 0 else MOST_EXAMPLES + 1
