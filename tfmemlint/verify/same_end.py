"""Programs that raise at the same place before and after the repair: what they took until then can be compared.

Code of strangers often raises late, in a score or a plot, long after what is flagged has cost what it costs. Only a
saving of the peak counts: an exception holds what its frames hold, and who did not come to the flagged place has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from tfmemlint.verify.judge import judge
from tfmemlint.verify.plan.templates import Plan
from tfmemlint.verify.plan.up_to import shows_there
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.measure import Settings
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.verdicts import CONFIRMED, Verdict

PEAKS = ("peak_bytes", "array_bytes")
"""What an exception does not change."""


def compared(
    plan: Plan, before: Sequence[Run], settings: Settings, done: Callable[[], None]
) -> tuple[tuple[Run, ...], Verdict] | None:
    """The runs of the repaired program and the verdict, where the flagged one raised and the other one does so, too,
    and has saved something until then. None for all else. Raises MeasureError."""
    second, raised = plan.pair.after, all(run.error is not None and not run.out_of_memory for run in before)
    if second is None or not raised or not plan.own or plan.smaller is not None or not shows_there(plan.claim):
        return None
    after, _ = Pair(second, None).run(plan.claim, settings, done)
    verdict = at_the_same_end(plan, before, after)
    return None if verdict is None else (after, verdict)


def at_the_same_end(plan: Plan, before: Sequence[Run], after: Sequence[Run]) -> Verdict | None:
    """Confirmed where all of these runs ended with the same exception and the first ones took more at their peak."""
    ends = {None if run.error is None else (run.error.type, run.error.text) for run in (*before, *after)}
    if len(ends) != 1 or None in ends or any(run.out_of_memory for run in after):
        return None
    verdict = judge(plan.claim, [_ended(run) for run in before], [_ended(run) for run in after])
    if verdict.kind != CONFIRMED or verdict.metric not in PEAKS:
        return None
    return replace(verdict, reason="; ".join(filter(None, (verdict.reason, f"both end then with {before[0].reason}"))))


def _ended(run: Run) -> Run:
    """The run as one that came to its end, with nothing of what it holds there."""
    return msgspec.structs.replace(run, status="ok", error=None, reason="", live_bytes=None)
