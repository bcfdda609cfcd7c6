"""The ways in which one finding is measured, and the verdict that they come to together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tfmemlint.units import show_bytes
from tfmemlint.verify.growth import NOT_SEEN
from tfmemlint.verify.judge import NEXT_TO_NO_DATA, judge
from tfmemlint.verify.metrics import FEW_JOINS, FEW_MARKS
from tfmemlint.verify.plan.alone import WORDS, WORDS_SOLVED
from tfmemlint.verify.plan.asked_columns import having, with_columns
from tfmemlint.verify.plan.for_keras_2 import of_keras_2, with_keras_2
from tfmemlint.verify.plan.for_version_1 import of_version_1, with_version_1
from tfmemlint.verify.plan.mismatch import corrected, shaped, with_rows
from tfmemlint.verify.plan.present import many, present, with_files, with_many
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.templates import Plan
from tfmemlint.verify.plan.up_to import STOPPED
from tfmemlint.verify.rests_on import rests_on_made_up
from tfmemlint.verify.result import ALONE, SAMPLE, WHOLE, Attempt, Pair
from tfmemlint.verify.run.measure import Settings
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.run.watch import ENDS
from tfmemlint.verify.same_end import compared
from tfmemlint.verify.verdicts import (
    CONFIRMED,
    INCONCLUSIVE,
    NEEDS_MORE,
    NOT_CONFIRMED,
    REPAIR_FAILS,
    RULE_ONLY,
    TOO_SMALL,
    Verdict,
    inconclusive,
)

DECIDES = (CONFIRMED, REPAIR_FAILS, NEEDS_MORE)
"""The verdicts on the whole program that stand, whatever the statements show alone."""


ABSENCES = ("AttributeError", "NameError", "RuntimeError", "UnboundLocalError")
"""Errors of code that asks for what is not there, or for a tape or a session that is closed."""

ONE_SIZE = "one size of what was made up was run"
OTHER_SIZES = "shapes were made up, and others may show more: say what they are in a comment"
OTHER_FILES = "files were made up, and those of another size or number may show more"
QUICK = 4.0
"""Seconds of a program that is run again with more data though its loops were cut: one that takes more trains most."""

GROWS = 2.0
"""Times that a saving must be larger, at the least, at the sizes that make four times the bytes."""


ALIKE, CLAIMED = 0.05, 0.4
"""How far savings of one size differ at the most, and the share of the message's bytes that they are at the least: a
repair that halves an array may leave the other half."""

SAME_SIZE = "the sizes of what was made up do not matter"


@dataclass(frozen=True)
class Trial:
    """One plan that was run, and what it shows."""

    plan: Plan
    before: tuple[Run, ...]
    after: tuple[Run, ...]
    verdict: Verdict

    @property
    def attempt(self) -> Attempt:
        """What it was, and what came of it."""
        return Attempt(ALONE if self.plan.alone else WHOLE if self.plan.own else SAMPLE, self.verdict)


def all_tried(plans: Sequence[Plan], settings: Settings, done: Callable[[], None]) -> list[Trial]:
    """The trial of each plan. Behind one that confirms the claim, the others only show what else there is to say, and
    are given less time and memory; what ends at these lower limits says nothing. Raises MeasureError."""
    trials: list[Trial] = []
    for plan in plans:
        if not any(trial.verdict.kind == CONFIRMED for trial in trials):
            trials.append(tried(plan, settings, done))
            continue
        further = tried(plan, replace(settings, limits=settings.limits.lowered()), done)
        ended = next((run for run in (*further.before, *further.after) if run.status in ENDS), None)
        if ended is not None:
            further = replace(further, verdict=inconclusive(ended.reason, further.verdict.metric))
        trials.append(further)
    return trials


def tried(plan: Plan, settings: Settings, done: Callable[[], None]) -> Trial:
    """Run a plan and judge it. `done` is called after each run. Raises MeasureError."""
    first = _tried(plan, settings, done)
    at = first
    while at.verdict.kind == INCONCLUSIVE and (cut := _without(at)) is not None:
        at = _tried(cut, settings, done)
    if at.verdict.kind == CONFIRMED:
        return at
    same = compared(first.plan, first.before, settings, done) if not first.after else None
    return first if same is None else replace(first, after=same[0], verdict=same[1])


def _without(trial: Trial) -> Plan | None:
    """The plan without what kept a trial from the flagged place; None where it can do without nothing."""
    run = _in_the_way(trial)
    if run is None or not trial.plan.own:
        return None
    try:
        cut = trial.plan.without(run)
    except PlanError:
        return None
    return None if cut is None else replace(cut, pair=_as_before(cut.pair, trial.plan.pair))


def _in_the_way(trial: Trial) -> Run | None:
    """The run that did not come to the flagged place, or that raised behind it: of code that is only compared with,
    and may raise, the one of that. None where nothing can be left out of what failed."""
    before, after = trial.before[-1], trial.after[-1] if trial.after else None
    if trial.plan.claim.contrast and before.status == "ok" and after is not None and after.error is not None:
        is_needed = after.error.type in ABSENCES  # what follows asks for what is flagged: it is of use
        return None if STOPPED in trial.plan.pair.replaced or is_needed else after
    if before.error is None and before.status != "ok":
        return None
    return before if before.error is None or after is None else None


def _tried(plan: Plan, settings: Settings, done: Callable[[], None]) -> Trial:
    """Run a plan as long as more can be made up, and judge it."""
    before, after = plan.pair.run(plan.claim, settings, done)
    while _goes_on(plan, before, after) and (further := _further(plan, before[-1])) is not None:
        plan = further
        before, after = plan.pair.run(plan.claim, settings, done)
    if plan.smaller is not None and (less := _fitting(plan, before)) is not None:
        plan = less
        before, after = plan.pair.run(plan.claim, settings, done)
    verdict = judge(plan.claim, before, after)
    if plan.smaller is not None and verdict.kind == CONFIRMED:
        verdict = _scaled(verdict, plan, plan.smaller, settings, done)
    elif plan.guessed and verdict.kind != CONFIRMED:
        said = verdict.reason if verdict.kind == INCONCLUSIVE else _in_words(verdict)
        verdict = inconclusive("; ".join(filter(None, (said, plan.guessed))), verdict.metric)
    elif plan.smaller is not None and verdict.kind != INCONCLUSIVE:
        verdict = inconclusive(f"{_in_words(verdict)}; {OTHER_SIZES}", verdict.metric)
    elif _may_want_more(verdict, before):
        more = with_many(plan.pair, before[-1])
        tried_more = _tried(replace(plan, pair=more), settings, done) if more is not None else None
        if tried_more is not None and tried_more.verdict.kind == CONFIRMED:
            return tried_more
        said = verdict.reason if verdict.kind == INCONCLUSIVE else _in_words(verdict)
        verdict = inconclusive(f"{said}; {OTHER_FILES}", verdict.metric)
    confirmed = verdict.kind == CONFIRMED
    hollow = rests_on_made_up(plan.claim, plan.pair.before.source, before, verdict.saved) if confirmed else ""
    verdict = inconclusive(hollow, verdict.metric) if hollow else verdict
    if not plan.own:
        said = "; ".join(filter(None, (f"the sample is {verdict.kind}", verdict.reason)))
        verdict = replace(verdict, kind=RULE_ONLY, reason=said)
    return Trial(plan, before, after, verdict)


def _may_want_more(verdict: Verdict, before: Sequence[Run]) -> bool:
    """Whether what speaks against a claim, or shows nothing of it, may come of files and data sets that were made up
    with too little in them."""
    shows_nothing = verdict.kind in (NOT_CONFIRMED, NEEDS_MORE, TOO_SMALL) or verdict.reason in (FEW_JOINS, FEW_MARKS)
    is_quick = verdict.reason.startswith(NOT_SEEN) and all(run.seconds < QUICK for run in before)
    return (shows_nothing or is_quick) and any(run.sizes_made_up for run in before)


def _fitting(plan: Plan, before: Sequence[Run]) -> Plan | None:
    """The plan with smaller sizes, where a program had no room with those that were made up: the flagged tensor has the
    bytes that it shall have, and another one is of more axes. None where it fits, or where there are none."""
    if plan.smaller is None or plan.claim.growth or before[-1].status != "memory":
        return None
    try:
        less = plan.smaller()
    except PlanError:
        return None
    return replace(less, pair=_as_before(less.pair, plan.pair))


def _goes_on(plan: Plan, before: Sequence[Run], after: Sequence[Run]) -> bool:
    """Whether a run failed, or both did where an error is claimed, and that shows nothing all the same."""
    both = plan.claim.error is not None and bool(after) and after[-1].error is not None
    failed = before[-1].error is not None and (both or not after)
    return failed and judge(plan.claim, before, after).kind != CONFIRMED


def _further(plan: Plan, run: Run) -> Plan | None:
    """The plan for another try: with the shapes that the error asks for, as the plan itself has it, with the files
    that the program looks for, or with TensorFlow 1 or Keras 2."""
    fitting = corrected(plan.pair, run)
    if fitting is not None:
        return replace(plan, pair=fitting)
    try:
        again = plan.again(run)
    except PlanError:  # what is made up instead leaves nothing to compare: the error stands as it is
        again = None
    if again is not None:
        return replace(again, pair=_as_before(again.pair, plan.pair))
    for other in (with_columns, with_files, with_version_1, with_keras_2) if plan.own else ():
        pair = other(plan.pair, run)
        if pair is not None:
            return replace(plan, pair=pair)
    return None


def _as_before(pair: Pair, tried: Pair) -> Pair:
    """Other programs with what was found out in the tries with some."""
    found = having(with_rows(shaped(pair, tried.before.shapes), tried.before.rows), tried.before.columns)
    found = present(found) if tried.before.present else found
    found = many(found) if tried.before.many else found
    found = of_version_1(found) if tried.before.version_1 else found
    return of_keras_2(found) if tried.before.keras_2 else found


def _scaled(
    verdict: Verdict, plan: Plan, make: Callable[[], Plan], settings: Settings, done: Callable[[], None]
) -> Verdict:
    """A verdict on sizes that were made up, held against smaller ones: what is saved must grow with them, or be what
    the message says of sizes that the code tells."""
    claimed = plan.claimed
    try:
        smaller = make() if verdict.unit == "bytes" and verdict.saved and verdict.after is not None else None
    except PlanError:
        smaller = None
    if smaller is None or verdict.saved is None:
        return replace(verdict, reason="; ".join(filter(None, (verdict.reason, ONE_SIZE))))
    before, after = _as_before(smaller.pair, plan.pair).run(smaller.claim, settings, done)
    less = judge(replace(smaller.claim, metric=verdict.metric), before, after)
    if less.saved is None:
        return replace(verdict, reason="; ".join(filter(None, (verdict.reason, ONE_SIZE))))
    saves = f"{show_bytes(round(verdict.saved))} at the made-up sizes, {show_bytes(round(less.saved))} at smaller ones"
    alike = abs(less.saved - verdict.saved) <= ALIKE * verdict.saved
    if alike and claimed is not None and verdict.saved >= CLAIMED * claimed:
        return replace(verdict, reason="; ".join(filter(None, (verdict.reason, f"{SAME_SIZE}: {saves}"))))
    if less.saved * GROWS > verdict.saved:
        return inconclusive(f"what is saved does not grow with the sizes: {saves}", verdict.metric)
    return replace(verdict, reason="; ".join(filter(None, (verdict.reason, f"saves {saves}"))))


def decisive(trials: Sequence[Trial]) -> Trial:
    """The trial whose verdict and figures stand for all of them, which are at least one."""
    alone = next((trial for trial in trials if trial.plan.alone), None)
    whole = next((trial for trial in trials if not trial.plan.alone), None)
    if alone is None or whole is None:
        only = alone or whole
        assert only is not None
        return _said(only, "") if only is alone else only
    if whole.verdict.kind in DECIDES or alone.verdict.kind == INCONCLUSIVE or _knows_better(whole, alone):
        return whole
    if whole.verdict.kind == NOT_CONFIRMED and not _hides(whole, alone):
        said = f"measured alone, with made-up operands, {_in_words(alone.verdict)}"
        reason = "; ".join(filter(None, (whole.verdict.reason, said)))
        return replace(whole, verdict=replace(whole.verdict, reason=reason))
    return _said(alone, f"in the whole program {_in_words(whole.verdict)}")


def _knows_better(whole: Trial, alone: Trial) -> bool:
    """Whether a whole program came to its end with next to no data, of sizes that its code tells, where those of the
    statement alone were made up."""
    runs = (*whole.before, *whole.after)
    ended = whole.verdict.reason == NEXT_TO_NO_DATA and all(run.status == "ok" and run.peak_bytes for run in runs)
    told = whole.plan.smaller is None and not whole.plan.guessed and not any(run.sizes_made_up for run in runs)
    return alone.plan.smaller is not None and ended and told


def _hides(whole: Trial, alone: Trial) -> bool:
    """Whether a whole program that ended without a difference may hide what its flagged statement costs: something else
    takes as much, and the operands of the statement alone are those that the code tells. Sizes that were made up may be
    none that the code has, and the buffers of a pipeline are all there when it takes most. One that traces no function,
    where the statement alone does, has not come to the training that costs it.
    """
    if any(run.traces for run in alone.before) and not any(run.traces for run in whole.before):
        return True
    if alone.plan.of_data or alone.plan.smaller is not None or alone.plan.guessed:
        return False
    most, cost = whole.verdict.before, alone.verdict.before
    same = whole.verdict.unit == alone.verdict.unit == "bytes"
    return not same or most is None or cost is None or most >= cost


def _said(alone: Trial, further: str) -> Trial:
    """A trial of the statements alone, with words that say so."""
    verdict = alone.verdict
    if verdict.kind == INCONCLUSIVE:
        return alone
    words = alone.plan.words or (WORDS if alone.plan.smaller is None else WORDS_SOLVED)
    reason = "; ".join(filter(None, (verdict.reason, words, further)))
    return replace(alone, verdict=replace(verdict, reason=reason))


def _in_words(verdict: Verdict) -> str:
    if verdict.kind == INCONCLUSIVE:
        return f"no verdict: {verdict.reason}"
    if verdict.unit == "bytes" and verdict.before is not None and verdict.after is not None:
        return f"{show_bytes(round(verdict.before))} before and {show_bytes(round(verdict.after))} after"
    return verdict.reason
