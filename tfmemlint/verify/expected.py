"""Whether a program is seen to take the bytes that a message names, where there is nothing to compare with."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from tfmemlint.units import show_bytes
from tfmemlint.verify.metrics import METRICS, WHERE_BYTES_ARE
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.verdicts import CONFIRMED, NOT_CONFIRMED, Verdict, inconclusive

MOST_SEEN = 3.0
"""Times the bytes of a message from which a peak is that of something else: a claimed array may be copied twice."""

SEEN = 0.8
"""Part of the bytes that a message names which must be seen: buffers may not have been filled to the last element."""


def judge_expected(expected: int, before: Sequence[Run], own: str | None) -> Verdict:
    """Whether the flagged program is seen to take these bytes: by its `own` metric, where it has one."""
    names = (own,) if own is not None else WHERE_BYTES_ARE
    figures = [(metric, [metric.read(run) for run in before]) for metric in (METRICS[name] for name in names)]
    known = [(metric, [value for value in values if value is not None]) for metric, values in figures]
    metric, seen = max(known, key=lambda each: statistics.median(each[1] or [0]))
    if not seen:
        return inconclusive(metric.missing, metric.name)
    most, noise = statistics.median(seen), max(seen) - min(seen)
    if metric.name == "peak_bytes" and own is None and most > MOST_SEEN * expected:
        taken = f"the program takes {show_bytes(round(most))} in all"
        return inconclusive(f"{taken}, in which the claimed {show_bytes(expected)} do not show", metric.name)
    kind = CONFIRMED if most >= SEEN * expected else NOT_CONFIRMED
    said = [show_bytes(n) if metric.unit == "bytes" else f"{n:,} {metric.name}" for n in (expected, round(most))]
    reason = f"claimed {said[0]}, seen {said[1]}"
    return Verdict(kind, reason, metric.name, metric.unit, most, None, noise, len(seen), expected)
