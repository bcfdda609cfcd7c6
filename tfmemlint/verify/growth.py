"""Whether something grows from round to round, and what that comes to."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.units import show_bytes
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.metrics import GROWTH, METRICS, SLOPES
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.verdicts import CONFIRMED, NOT_CONFIRMED, TOO_SMALL, Verdict, inconclusive

CHANCE = 256 << 10
"""Bytes by which a process may grow in a round that keeps nothing."""

NOT_SEEN = "not seen in the"
"""How the reason begins where a loop was cut before what is claimed was seen."""

LITTLE, MUCH = 16 << 10, 1 << 20
"""Bytes that are little in a round, unless all rounds come to so many."""

CUT_APART = 1.2
"""How many times as much one of two programs may take at its peak because they were cut at different steps: 1.07 was
seen of a training that was ended by time."""


def judge_growth(claim: Claim, before: Sequence[Run]) -> Verdict:
    """Whether what the claim names, or anything, grows from round to round, where nothing is known that does not."""
    names = (claim.metric,) if claim.metric in GROWTH else SLOPES[:1] if claim.of_bytes else SLOPES
    missing = METRICS[names[0]].missing
    if claim.function and all(run.marks and not _traced_anew(claim.function, run) for run in before):
        traces = before[0].traces_by_name.get(claim.function, 0)
        if not traces:
            return inconclusive(f"{claim.function} is not called in the {len(before[0].marks)} rounds that ran")
        said = f"{claim.function} was traced {traces} times in {len(before[0].marks)} rounds"
        return Verdict(NOT_CONFIRMED, said, names[0], repeats=len(before))
    little: Verdict | None = None
    for metric in (METRICS[name] for name in names):
        slopes = [slope for run in before if (slope := metric.read(run)) is not None]
        if len(slopes) < len(before):
            return inconclusive(missing, metric.name)
        grows, noise = statistics.median(slopes), max(slopes) - min(slopes)
        if metric.name == "rss_slope" and grows <= CHANCE:
            said = f"the process grows by less than {show_bytes(CHANCE)} a round, which may be chance"
            return Verdict(TOO_SMALL, said, metric.name, repeats=len(before))
        if metric.floor < grows <= LITTLE and metric.name == "live_slope" and _in_few_rounds(grows, before):
            said = f"it grows by {show_bytes(round(grows))} a round, which is little"
            little = Verdict(TOO_SMALL, said, metric.name, repeats=len(before))
            continue
        if grows > max(metric.floor, noise):
            verdict = Verdict(CONFIRMED, "", metric.name, metric.unit, grows, 0.0, noise, len(slopes))
            return replace(verdict, after=None, reason=in_all(verdict, before))
    if little is not None:
        return little
    cut = max((run.rounds for run in before if run.rounds_cut), default=None)
    if cut is not None:
        return inconclusive(f"{NOT_SEEN} {cut} rounds that ran")
    return Verdict(NOT_CONFIRMED, "nothing grows from round to round", names[0], repeats=len(before))


def _in_few_rounds(grows: float, runs: Sequence[Run]) -> bool:
    """Whether growth is not known to come to much in all rounds of the loop."""
    rounds = next((run.rounds_in_all for run in runs if run.rounds_in_all is not None), 0)
    return grows * rounds < MUCH


def _traced_anew(function: str, run: Run) -> bool:
    """Whether a function is traced in a good part of the rounds, not in the first ones alone."""
    return run.traces_by_name.get(function, 0) > max(2, len(run.marks) // 4)


def tried_of(claim: Claim, runs: Sequence[Run]) -> Sequence[str]:
    """The metrics that may bear a claim out: what is held at the end does not where programs were cut by time, at
    different steps, unless it is growth that is claimed, or nothing else is looked at."""
    cut, ended = {run.rounds for run in runs if run.rounds_cut}, {run.steps_in_time for run in runs}
    apart = max(len(cut), len(ended)) > 1 and not claim.growth
    return [name for name in claim.tried if not apart or name != "live_bytes"] or claim.tried


def was_cut_apart(verdict: Verdict) -> bool:
    """Whether two programs that were cut may differ by that alone: in what was under way where each was cut, and a
    little at the peak of those that came to different steps."""
    return verdict.metric == "live_bytes" or (verdict.after or 0) < CUT_APART * (verdict.before or 0)


def in_all(verdict: Verdict, runs: Sequence[Run]) -> str:
    """What growth comes to in all the rounds of the loop, where their number is known and not all of them ran."""
    rounds = next((run.rounds_in_all for run in runs if run.rounds_in_all is not None), None)
    if verdict.metric not in GROWTH or rounds is None or verdict.saved is None:
        return ""
    ran, grown = max(run.rounds for run in runs), round(verdict.saved * rounds)
    what = show_bytes(grown) if verdict.unit == "bytes" else f"{grown:,} {verdict.metric.removesuffix('_slope')}"
    said = f"{what} in the {rounds} rounds of the loop"
    return said if ran >= rounds else f"{said}, of which {ran} ran"
