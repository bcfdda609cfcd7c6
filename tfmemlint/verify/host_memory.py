"""What programs on a graphics card hold in the machine's own memory, where the buffers of `tf.data` lie."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from tfmemlint.units import show_bytes
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.metrics import METRICS
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.verdicts import CONFIRMED, INCONCLUSIVE, NOT_CONFIRMED, Verdict, inconclusive

KNOWN = ("peak_bytes", "live_bytes")
"""Metrics that are known of this memory, too."""
WORDS = "in the machine's own memory, not on the card"

Judge = Callable[[Claim, Sequence[Run], Sequence[Run]], Verdict]


def judged(judge: Judge, claim: Claim, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    """The verdict of `judge` on the card's memory; where that shows nothing, on the machine's own.

    Batches lie in memory that is pinned for the way to the card, which no allocator counts: where the process grew by
    less after the repair, what the card shows speaks against nothing.
    """
    verdict = judge(claim, before, after)
    known = all(run.host_peak_bytes is not None for run in (*before, *after))
    if verdict.kind not in (NOT_CONFIRMED, INCONCLUSIVE) or not known:
        return verdict
    beside = judge(claim, [_there(run) for run in before], [_there(run) for run in after])
    if beside.kind == CONFIRMED and beside.metric in KNOWN:
        return replace(beside, reason="; ".join(filter(None, (beside.reason, WORDS))))
    grown = _resident(before, after) if verdict.kind == NOT_CONFIRMED and verdict.metric in KNOWN else None
    return inconclusive(f"not seen on the card; {grown}", verdict.metric) if grown else verdict


def _there(run: Run) -> Run:
    return msgspec.structs.replace(run, peak_bytes=run.host_peak_bytes, live_bytes=run.host_live_bytes)


def _resident(before: Sequence[Run], after: Sequence[Run]) -> str | None:
    """How the process grew, in words, where it clearly grew by less after the repair."""
    metric = METRICS["rss"]
    sides = [[value for run in runs if (value := metric.read(run)) is not None] for runs in (before, after)]
    if not all(sides):
        return None
    first, second = map(statistics.median, sides)
    noise = max(max(side) - min(side) for side in sides)
    if first - second <= max(metric.floor, noise) or first < metric.least_ratio * second:
        return None
    return f"the process grew by {show_bytes(round(first))} before and by {show_bytes(round(second))} after"
