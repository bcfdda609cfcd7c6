"""From the figures of two programs to a verdict; numbers in, numbers out, nothing is run here."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.units import show_bytes
from tfmemlint.verify import host_memory
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.expected import judge_expected
from tfmemlint.verify.growth import NOT_SEEN, in_all, judge_growth, tried_of, was_cut_apart
from tfmemlint.verify.metrics import (
    ANEW,
    CALLED,
    CALLS,
    COPIES,
    FIRST,
    GIVEN,
    MADE,
    MARKS_NEEDED,
    METRICS,
    SETTINGS,
    STEPS,
    UNMIXED,
    WHERE_BYTES_ARE,
    Metric,
    of_one_data_set,
)
from tfmemlint.verify.raised import judge_error
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.verdicts import (
    CONFIRMED,
    NEEDS_MORE,
    NOT_CONFIRMED,
    REPAIR_FAILS,
    TOO_SMALL,
    Verdict,
    inconclusive,
)

LARGE = 4 << 30
"""Bytes of a message that explain why a program of nothing else runs out of memory."""

NAMES_OF_SUMS = ("peak_bytes", "live_bytes", "array_bytes", "rss")
EMPTY = 4096
"""Bytes of arrays that a program has beside its data."""

LEAST = 1.05
"""How many times as much a small program must take before its repair, for that to be no chance."""

FIRST_OPERATION = 256
"""Bytes of the one tensor that starts TensorFlow's runtime."""

SEEN_AT_ONCE = (*ANEW, *GIVEN, *COPIES, "made_per_call", "nodes")
"""Metrics that no later statement of a program changes."""

NEXT_TO_NO_DATA = "the flagged code was given next to no data"
OF_STRINGS = "the data is of strings, whose letters no allocator of tensors counts"
LITTLE = 1 << 20
"""Bytes of tensors beside data of strings that say nothing of what it takes: its files are read through buffers."""

OF_CALLS = f"for {CALLS} times of the flagged statement, by their median"

PEAK_SAME = "less is held at the end; the peak of tensors does not differ"



def judge(claim: Claim, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    """Whether the runs of the flagged and of the repaired program bear the claim out. `after` may be empty where each
    run of the flagged program failed."""
    if not before:
        return inconclusive("a program was not run")
    verdict = host_memory.judged(_judged, claim, before, after)
    if verdict.metric in (*NAMES_OF_SUMS, "seconds") and all(map(_goes_through_nothing, before)):
        return inconclusive("the loop around the flagged place goes through nothing here", verdict.metric)
    if verdict.metric in (*NAMES_OF_SUMS, "seconds") and any(map(_goes_through_nothing, after)):
        return inconclusive("the loop around the repaired place goes through nothing here", verdict.metric)
    if claim.in_training and verdict.kind == NOT_CONFIRMED and not any(run.traces for run in (*before, *after)):
        return inconclusive("the program does not come to the training that costs it", verdict.metric)
    if claim.reaches and verdict.kind == NOT_CONFIRMED and not all(run.reached for run in before):
        return inconclusive("the program does not come to the flagged place", verdict.metric)
    if claim.made_up and verdict.kind == NOT_CONFIRMED:
        return inconclusive("; ".join((verdict.reason, "not seen with made-up arguments")), verdict.metric)
    return verdict


def _goes_through_nothing(run: Run) -> bool:
    return run.status == "ok" and run.rounds == run.rounds_in_all == 0


def _judged(claim: Claim, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    if claim.error is not None:
        verdict = judge_error(claim, before, after)
        if claim.metric is None or verdict.kind == CONFIRMED:
            return verdict
    if claim.output is not None:
        return _judge_output(claim.output, before, after)
    ended = _judge_seen(claim, before) or _judge_end(claim, before, after)
    if ended is not None:
        return ended
    if claim.expected is not None:
        return judge_expected(claim.expected, before, claim.metric)
    if claim.by_itself and claim.metric in (*SETTINGS, *CALLED, *ANEW, *GIVEN, *UNMIXED, *COPIES):
        return _judge_setting(METRICS[claim.metric], before)
    if claim.by_itself:
        return judge_growth(claim, before)
    if claim.metric == STEPS[0]:
        return _judge_steps(claim, before, after)
    if claim.metric is not None and not (claim.shown and claim.metric in WHERE_BYTES_ARE):
        metric = METRICS[claim.metric]
        return _judge_figures(replace(metric, unit=metric.unit or claim.unit), claim, before, after)
    if not any(run.initialized or run.peak_bytes for run in (*before, *after)):
        arrays = _judge_figures(METRICS["array_bytes"], claim, before, after)
        return arrays if arrays.kind == CONFIRMED else inconclusive("the programs run no TensorFlow operation")
    return _judge_memory(claim, before, after)


def _judge_memory(claim: Claim, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    """The first metric that bears the claim out, of tensors and arrays the one that saves more: a little of the other
    may be chance; else one that speaks against it, where the programs went on to their own ends."""
    verdicts = [_judge_figures(METRICS[name], claim, before, after) for name in tried_of(claim, (*before, *after))]
    sums = [each for each in verdicts if each.kind == CONFIRMED and each.metric in WHERE_BYTES_ARE]
    first = next((each for each in verdicts if each.kind == CONFIRMED), None)
    if sums and first is not None and first.metric in (*WHERE_BYTES_ARE, "live_bytes"):
        verdicts.insert(0, max(sums, key=lambda each: each.saved or 0))
    found = {verdict.kind: verdict for verdict in reversed(verdicts)}
    if CONFIRMED in found:
        confirmed = found[CONFIRMED]
        if confirmed.metric == "peak_bytes" and (confirmed.before or 0) < LITTLE and any(run.strings for run in before):
            return inconclusive(OF_STRINGS)
        said = PEAK_SAME if confirmed.metric == "live_bytes" and not claim.growth else ""
        return replace(confirmed, reason="; ".join(filter(None, (in_all(confirmed, before), said))))
    iterated = _judge_figures(of_one_data_set(before, after), claim, before, after)
    of_tensors = "peak_bytes" in claim.tried and not claim.growth
    if of_tensors and iterated.kind == CONFIRMED and NEEDS_MORE not in found:
        most = max(run.peak_bytes or 0 for run in before)
        return replace(iterated, reason=f"the peak of the program, {show_bytes(most)}, lies elsewhere")
    cut = max((run.rounds for run in before if run.rounds_cut), default=None)
    if cut is not None and NEEDS_MORE in found and was_cut_apart(found[NEEDS_MORE]):
        del found[NEEDS_MORE]
    if (claim.contrast and not any(_has_data(run) for run in before)) or all(map(_is_empty, before)):
        return inconclusive(NEXT_TO_NO_DATA)
    if cut is not None and NEEDS_MORE not in found:
        return inconclusive(f"{NOT_SEEN} {cut} rounds that ran")
    if NEEDS_MORE not in found and any(run.strings for run in before):
        return inconclusive(OF_STRINGS)
    return next((found[kind] for kind in (NEEDS_MORE, TOO_SMALL, NOT_CONFIRMED) if kind in found), verdicts[0])


def _judge_steps(claim: Claim, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    """What a step takes of time, or of memory, the first of these that shows a difference."""
    verdicts = [_judge_figures(METRICS[name], claim, before, after) for name in STEPS]
    return next((each for kind in (CONFIRMED, NOT_CONFIRMED) for each in verdicts if each.kind == kind), verdicts[0])


def _has_data(run: Run) -> bool:
    """Whether a run held any data that is worth the name; files that are not there leave loops without rounds."""
    held = [(metric, metric.read(run)) for metric in map(METRICS.__getitem__, WHERE_BYTES_ARE)]
    return any(value is not None and value >= metric.floor for metric, value in held)


def _is_empty(run: Run) -> bool:
    """Whether a run made no tensor and no array to speak of: what fills its data was left out, or is not there."""
    return (run.peak_bytes or 0) <= FIRST_OPERATION and not run.rounds and (run.arrays_peak or 0) < EMPTY


def _judge_setting(metric: Metric, before: Sequence[Run]) -> Verdict:
    """Whether a setting did not take effect, or another one did, in the one program that there is."""
    seen = [value for run in before if (value := metric.read(run)) is not None]
    if len(seen) < len(before):
        return inconclusive(metric.missing, metric.name)
    if metric.name in FIRST and not all(run.cards is not None and run.cards.made_by for run in before):
        return inconclusive("nothing makes the devices of the cards here", metric.name)
    kind = CONFIRMED if min(seen) > metric.floor else NOT_CONFIRMED
    reason = cards.words if metric.name in FIRST and (cards := before[0].cards) is not None else ""
    if metric.name == "held":
        reason = before[0].held or "nothing of a graph is held at the end"
    elif metric.name == "made_per_call":
        reason = f"variables were made in {before[0].made} of {before[0].reached} calls"
    elif metric.name in COPIES:
        run = before[0]
        copied, comes_to = map(show_bytes, (run.copied, run.comes_to))
        reason = f"{copied} were copied in {run.joins} rounds for the {comes_to} that it comes to"
    elif metric.name in UNMIXED:
        batches = before[0].unmixed or 0
        reason = f"each of {batches} batches has the same rows in both epochs" if batches else "batches are mixed"
    elif metric.name in GIVEN:
        given = before[0].wide or 0
        wide = f"it is given float64 arrays of {show_bytes(given)}, half of which would do as float32"
        reason = wide if given else "it is given no float64 array"
    elif metric.name in ANEW:
        reason = _in_words(before[0], metric.name)
    return Verdict(kind, reason, metric.name, metric.unit, statistics.median(seen), None, 0.0, len(seen))


def _in_words(run: Run, metric: str) -> str:
    """What making the flagged again and again takes, by the metric that tells it."""
    if metric == "functions":
        return f"TensorFlow keeps {run.functions} Python functions after it was made {run.makings} times"
    if metric == "eager_runs":
        return f"it ran eagerly {run.makings} times, {1000 * run.making_seconds:.2g} ms each"
    took = f"took memory in {run.made_anew} of {run.makings} times"
    return f"making it {took}, {show_bytes(run.anew_bytes)} or more" if run.made_anew else f"making it {took}"


def _judge_output(text: str, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    repeats = min(len(before), len(after))
    ended = _judge_end(Claim("output"), before, after)
    if ended is not None:
        return ended
    if not all(text in run.output for run in before):
        return Verdict(NOT_CONFIRMED, f"the flagged program did not print {text!r}", "output", repeats=repeats)
    if any(text in run.output for run in after):
        return Verdict(NOT_CONFIRMED, f"the repaired program prints {text!r} too", "output", repeats=repeats)
    return Verdict(CONFIRMED, f"prints {text!r} before, not after", "output", "", 1.0, 0.0, 0.0, repeats)


def _judge_seen(claim: Claim, before: Sequence[Run]) -> Verdict | None:
    """Confirmed where the flagged program raised something else only after it had shown what the claim says, else
    None. What it holds in the end is no such thing: an exception holds what its frames hold."""
    if not all(run.status == "error" and not run.out_of_memory for run in before):
        return None
    if claim.metric in MADE and claim.expected is not None:
        verdict = judge_expected(claim.expected, before, claim.metric)
    elif claim.by_itself and claim.metric in SEEN_AT_ONCE:
        verdict = _judge_setting(METRICS[claim.metric], before)
    elif claim.by_itself and claim.growth and all(len(run.marks) >= 2 * MARKS_NEEDED for run in before):
        verdict = judge_growth(claim, before)
    else:
        return None
    if verdict.kind != CONFIRMED:
        return None
    return replace(verdict, reason="; ".join(filter(None, (verdict.reason, f"it ended then with {before[0].reason}"))))


def _judge_end(claim: Claim, before: Sequence[Run], after: Sequence[Run]) -> Verdict | None:
    """A verdict where a program did not come to its end, else None."""
    repeats = min(len(before), len(after))
    starved = all(run.out_of_memory for run in before)
    if starved and after and all(run.status == "ok" for run in after):
        return Verdict(CONFIRMED, "runs out of memory before, not after", "out_of_memory", "", 1.0, 0.0, 0.0, repeats)
    if starved and claim.expected is not None and claim.expected >= LARGE:
        reason = f"claimed {show_bytes(claim.expected)}, and runs out of memory"
        return Verdict(CONFIRMED, reason, "out_of_memory", "", 1.0, None, 0.0, len(before), claim.expected)
    failed = next((run for run in before if run.status != "ok"), None)
    if failed is not None:
        return inconclusive(f"the flagged program failed: {failed.reason}", claim.metric)
    if claim.expected is not None or claim.by_itself:
        return None
    if not after:
        return inconclusive("the repaired program was not run", claim.metric)
    if all(run.out_of_memory for run in after):
        return Verdict(NEEDS_MORE, "the repaired program runs out of memory", "out_of_memory", repeats=repeats)
    failed = next((run for run in after if run.status != "ok"), None)
    if failed is None:
        return None
    if claim.contrast:
        return inconclusive(f"the program without what is flagged failed: {failed.reason}", claim.metric)
    if failed.error is not None and all(run.status == "error" for run in after):
        return Verdict(REPAIR_FAILS, f"the repaired program raises {failed.reason}", "error", repeats=repeats)
    return inconclusive(f"the repaired program failed: {failed.reason}", claim.metric)


def _judge_figures(metric: Metric, claim: Claim, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    sides = [[metric.read(run) for run in runs] for runs in (before, after)]
    known = [[value for value in side if value is not None] for side in sides]
    if any(len(side) < len(all_of) for side, all_of in zip(known, sides, strict=True)):
        problem = next((run.allocator_problem for run in (*before, *after) if run.allocator_problem), None)
        return inconclusive(problem or metric.missing, metric.name)
    (first, off), (second, off_after) = map(metric.over, known)
    noise = max(off, off_after)
    enough = max(metric.floor, noise)
    repeats, least = min(map(len, known)), max(claim.min_ratio, metric.least_ratio)

    clocked = metric.name == "seconds" and all(run.clocked is not None for run in (*before, *after))

    def verdict(kind: str, reason: str) -> Verdict:
        reason = "; ".join(filter(None, (reason, OF_CALLS if clocked else "")))
        return Verdict(kind, reason, metric.name, metric.unit, first, second, noise, repeats)

    if metric.name == "seconds" and len({run.clocked is None for run in (*before, *after)}) > 1:
        return inconclusive("only one of the programs comes to the flagged statement often enough", metric.name)
    if metric.name == "rss" and len({run.initialized for run in (*before, *after)}) > 1:
        return inconclusive("only one of the programs starts TensorFlow's runtime, which takes memory", metric.name)
    if claim.metric == "peak_bytes" and first <= metric.floor:
        return inconclusive("hardly any tensor is made: what it takes does not show", metric.name)
    if second - first > enough and second >= least * first and not claim.contrast:
        return verdict(NEEDS_MORE, "")
    if first - second <= enough:
        if metric.unit == "bytes" and first - second > noise and second > 0 and first / second >= max(least, LEAST):
            return verdict(TOO_SMALL, f"saves {show_bytes(round(first - second))}, where little is to be saved")
        return verdict(NOT_CONFIRMED, "the difference is within the noise")
    if second > 0 and first / second < least:
        return verdict(NOT_CONFIRMED, f"the ratio is under {least:g}")
    return verdict(CONFIRMED, "")
