"""Whether programs raise what a rule says that they raise."""

from __future__ import annotations

from collections.abc import Sequence

from tfmemlint.verify.claim import Claim
from tfmemlint.verify.run.runs import Failure, Run
from tfmemlint.verify.verdicts import CONFIRMED, NOT_CONFIRMED, REPAIR_FAILS, Verdict, inconclusive


def matches(error: str, run: Run) -> bool:
    """Whether the run raised that error, be it caught: the type's name, if any, then, after a colon, a part of the
    message."""
    return _raised(error, run) is not None


def _raised(error: str, run: Run) -> str | None:
    """That error of a run in one line, with a word on its being caught."""
    kind, _, text = (part.strip() for part in error.partition(":"))
    if run.error is not None and run.error.type == (kind or run.error.type) and text in run.error.message:
        return run.reason
    for said in run.raised:
        name, _, message = said.partition(":")
        if name == (kind or name) and text in message:
            return f"{Failure(name, message=message).text} (caught)"
    return None


def judge_error(claim: Claim, before: Sequence[Run], after: Sequence[Run]) -> Verdict:
    """Whether the flagged program raises the error of the claim, and the repaired one does not."""
    error, repeats = claim.error or "", min(len(before), len(after) or len(before))
    other = next((run for run in before if not matches(error, run)), None)
    if other is not None and other.status == "ok":
        return Verdict(NOT_CONFIRMED, f"the flagged program did not raise {error}", "error", repeats=repeats)
    if other is not None:
        return inconclusive(f"the flagged program ended otherwise: {other.reason}", "error")
    if claim.by_itself:
        return Verdict(CONFIRMED, _raised(error, before[0]) or "", "error", "", 1.0, None, 0.0, repeats)
    if not after:
        return inconclusive("the repaired program was not run", "error")
    same = next((said for run in after if (said := _raised(error, run)) is not None), None)
    made_up = any(run.sizes_made_up for run in before)
    if same is not None and (made_up or ":" not in error):  # what does not fit may be what is made up
        return inconclusive(f"both programs raise {same}", "error")
    if same is not None:
        return Verdict(REPAIR_FAILS, f"the repaired program raises it too: {same}", "error", repeats=repeats)
    failed = next((run for run in after if run.status != "ok"), None)
    if failed is not None and all(run.status == "ok" for run in before) and all(run.error for run in after):
        said = f"{_raised(error, before[0])}, and the repaired program raises {failed.reason}"
        return Verdict(REPAIR_FAILS, said, "error", repeats=repeats)
    if failed is not None:
        return inconclusive(f"the repaired program failed: {failed.reason}", "error")
    said = f"{_raised(error, before[0])} before, no error after"
    return Verdict(CONFIRMED, said, "error", "", 1.0, 0.0, 0.0, repeats)
