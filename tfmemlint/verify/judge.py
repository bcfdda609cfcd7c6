"""From the figures of two programs to a verdict; numbers in, numbers out, nothing is run here."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfmemlint.verify.run.runs import Run

CONFIRMED, NOT_CONFIRMED, INCONCLUSIVE = "confirmed", "not confirmed", "inconclusive"
KIB, MIB = 1024, 1024**2
MARKS_NEEDED = 4


@dataclass(frozen=True)
class Metric:
    """A figure of a run, smaller being better. Two programs that differ by no more than `floor` count as equal."""

    name: str
    unit: str
    """"bytes", "s" or "" for a count."""
    floor: float
    read: Callable[[Run], float | None]
    missing: str
    """Why a run may not have it, in words."""


def _slope(column: int) -> Callable[[Run], float | None]:
    """Growth per mark over the later half of the marks, by least squares; the beginning holds what warms up."""

    def read(run: Run) -> float | None:
        rows: Sequence[Any] = run.marks[len(run.marks) // 2 :] if len(run.marks) >= 2 * MARKS_NEEDED else run.marks
        values = [row[column] for row in rows]
        if len(values) < MARKS_NEEDED or None in values:
            return None
        steps = range(len(values))
        return float(statistics.linear_regression(steps, values).slope)

    return read


def _rss_growth(run: Run) -> float | None:
    return None if run.rss_peak is None or run.rss_start is None else float(run.rss_peak - run.rss_start)


def _growth_dropped(run: Run) -> float | None:
    if run.gpu_options is None or "allow_growth" not in run.gpu_options:
        return None
    return float(not run.gpu_options["allow_growth"])


_NO_ALLOCATOR = "the tensor allocator reported nothing: the program runs no TensorFlow operation"
_FEW_MARKS = f"the program calls tfmemlint_mark() fewer than {MARKS_NEEDED} times"

METRICS = {
    metric.name: metric
    for metric in (
        Metric("peak_bytes", "bytes", 64 * KIB, lambda run: run.peak_bytes, _NO_ALLOCATOR),
        Metric("live_bytes", "bytes", 64 * KIB, lambda run: run.live_bytes, _NO_ALLOCATOR),
        Metric("rss", "bytes", 8 * MIB, _rss_growth, "this system does not tell resident memory"),
        Metric("device_bytes", "bytes", 64 * MIB, lambda run: run.device_used_peak, "there is no NVIDIA card here"),
        Metric("traces", "", 0.5, lambda run: float(run.traces), ""),
        Metric("seconds", "s", 0.05, lambda run: run.seconds, ""),
        Metric("value", "", 0.0, lambda run: run.value, "the program does not call tfmemlint_value()"),
        Metric("live_slope", "bytes", KIB, _slope(1), _FEW_MARKS),
        Metric("rss_slope", "bytes", 4 * KIB, _slope(3), _FEW_MARKS),
        Metric("traces_slope", "", 0.1, _slope(4), _FEW_MARKS),
        Metric("growth_dropped", "", 0.5, _growth_dropped, "TensorFlow was not asked for the GPU options"),
    )
}
"""All metrics by name, in the order in which they are tried where a rule names none."""

TRIED = ("peak_bytes", "live_bytes", "rss", "traces")


@dataclass(frozen=True)
class Claim:
    """What a rule says of its two programs.

    With `error`, that the first one raises it (`Type` or `Type: part of the text`) and the second one does not; with
    `output`, that the first one prints that text; else that `metric` of the first one is at least `min_ratio` times
    the second one's. `unit` is that of a metric that has none of its own, as of what a program counts.
    """

    metric: str | None = None
    min_ratio: float = 1.05
    error: str | None = None
    output: str | None = None
    unit: str = ""

    @property
    def timed(self) -> bool:
        """Whether it is about time."""
        return self.metric == "seconds"

    @property
    def apart(self) -> bool:
        """Whether only a fresh process will do: a copy of one comes by its pages, and by time, in another way."""
        return self.timed or self.metric in ("rss", "rss_slope", "device_bytes")


@dataclass(frozen=True)
class Verdict:
    """The judgement of one finding. Figures are medians over the repeats; `noise` is the widest spread of either side,
    `ratio` is None where there is nothing to divide by."""

    kind: str
    reason: str
    metric: str | None = None
    unit: str = ""
    before: float | None = None
    after: float | None = None
    noise: float | None = None
    repeats: int = 0

    @property
    def saved(self) -> float | None:
        """Before less after."""
        return None if self.before is None or self.after is None else self.before - self.after

    @property
    def ratio(self) -> float | None:
        """Before over after."""
        if self.before is None or self.after is None or self.after <= 0:
            return None
        return self.before / self.after


def inconclusive(reason: str, metric: str | None = None) -> Verdict:
    """A verdict that says why there is none."""
    return Verdict(INCONCLUSIVE, reason, metric)


def judge(claim: Claim, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    """Whether the runs of the flagged and of the repaired program bear the claim out."""
    if not before or not after:
        return inconclusive("a program was not run")
    if claim.error is not None:
        return _judge_error(claim.error, before, after)
    if claim.output is not None:
        return _judge_output(claim.output, before, after)
    ended = _judge_end(claim, before, after)
    if ended is not None:
        return ended
    if claim.metric is not None:
        metric = METRICS[claim.metric]
        return _judge_figures(replace(metric, unit=metric.unit or claim.unit), claim.min_ratio, before, after)
    if not any(run.initialized or run.peak_bytes for run in (*before, *after)):
        return inconclusive("the programs run no TensorFlow operation")
    verdicts = [_judge_figures(METRICS[name], claim.min_ratio, before, after) for name in TRIED]
    for kind in (CONFIRMED, NOT_CONFIRMED):
        for verdict in verdicts:
            if verdict.kind == kind:
                return verdict
    return verdicts[0]


def matches(error: str, run: Run) -> bool:
    """Whether the run was ended by that error: the type's name, then, after a colon, a part of the message."""
    if run.error is None:
        return False
    kind, _, text = error.partition(":")
    return run.error.type == kind.strip() and text.strip() in run.error.message


def _judge_error(error: str, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    repeats = min(len(before), len(after))
    if any(run.status == "ok" for run in before):
        return Verdict(NOT_CONFIRMED, f"the flagged program did not raise {error}", "error", repeats=repeats)
    other = next((run for run in before if not matches(error, run)), None)
    if other is not None:
        return inconclusive(f"the flagged program ended otherwise: {other.reason}", "error")
    same = next((run for run in after if matches(error, run)), None)
    if same is not None:
        return Verdict(NOT_CONFIRMED, f"the repaired program raises {error} too", "error", repeats=repeats)
    failed = next((run for run in after if run.status != "ok"), None)
    if failed is not None:
        return inconclusive(f"the repaired program failed: {failed.reason}", "error")
    return Verdict(CONFIRMED, f"{before[0].reason} before, no error after", "error", "", 1.0, 0.0, 0.0, repeats)


def _judge_output(text: str, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    repeats = min(len(before), len(after))
    failed = next((run for run in (*before, *after) if run.status != "ok"), None)
    if failed is not None:
        return inconclusive(f"a program failed: {failed.reason}", "output")
    if not all(text in run.output for run in before):
        return Verdict(NOT_CONFIRMED, f"the flagged program did not print {text!r}", "output", repeats=repeats)
    if any(text in run.output for run in after):
        return Verdict(NOT_CONFIRMED, f"the repaired program prints {text!r} too", "output", repeats=repeats)
    return Verdict(CONFIRMED, f"prints {text!r} before, not after", "output", "", 1.0, 0.0, 0.0, repeats)


def _judge_end(claim: Claim, before: Sequence[Run], after: Sequence[Run]) -> Verdict | None:
    """A verdict where a program did not come to its end, else None."""
    repeats = min(len(before), len(after))
    starved = all(run.out_of_memory for run in before)
    if starved and all(run.status == "ok" for run in after):
        return Verdict(CONFIRMED, "runs out of memory before, not after", "out_of_memory", "", 1.0, 0.0, 0.0, repeats)
    if all(run.status == "ok" for run in before) and all(run.out_of_memory for run in after):
        return Verdict(NOT_CONFIRMED, "the repaired program runs out of memory", "out_of_memory", repeats=repeats)
    for words, runs in (("flagged", before), ("repaired", after)):
        failed = next((run for run in runs if run.status != "ok"), None)
        if failed is not None:
            return inconclusive(f"the {words} program failed: {failed.reason}", claim.metric)
    return None


def _judge_figures(metric: Metric, min_ratio: float, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    sides = [[metric.read(run) for run in runs] for runs in (before, after)]
    known = [[value for value in side if value is not None] for side in sides]
    if any(len(side) < len(all_of) for side, all_of in zip(known, sides, strict=True)):
        problem = next((run.allocator_problem for run in (*before, *after) if run.allocator_problem), None)
        return inconclusive(problem or metric.missing, metric.name)
    first, second = (statistics.median(side) for side in known)
    noise = max(max(side) - min(side) for side in known)
    enough = max(metric.floor, noise)
    repeats = min(map(len, known))

    def verdict(kind: str, reason: str) -> Verdict:
        return Verdict(kind, reason, metric.name, metric.unit, first, second, noise, repeats)

    if second - first > enough:
        return verdict(NOT_CONFIRMED, "the repaired program needs more")
    if first - second <= enough:
        return verdict(NOT_CONFIRMED, "the difference is within the noise")
    if second > 0 and first / second < min_ratio:
        return verdict(NOT_CONFIRMED, f"the ratio is under {min_ratio:g}")
    return verdict(CONFIRMED, "")
