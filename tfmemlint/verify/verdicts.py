"""What `verify` says of a finding, in words that tell apart what a user does next."""

from __future__ import annotations

from dataclasses import dataclass

CONFIRMED = "confirmed"
"""The user's own code needs less after the repair, or costs what the message says."""
NOT_CONFIRMED = "not confirmed"
"""It was measured, and there is no difference."""
NEEDS_MORE = "needs more after the repair"
REPAIR_FAILS = "the repair fails here"
"""The flagged program ends well and the repaired one raises."""
TOO_SMALL = "too small to measure"
RULE_ONLY = "rule only"
"""Nothing of the user's code was measured: the rule has a measured sample of its own, and no more."""
INCONCLUSIVE = "inconclusive"

KINDS = (CONFIRMED, NOT_CONFIRMED, NEEDS_MORE, REPAIR_FAILS, TOO_SMALL, RULE_ONLY, INCONCLUSIVE)
"""All kinds, in the order in which they are counted."""

CONTRADICTED = (NOT_CONFIRMED, NEEDS_MORE, REPAIR_FAILS)
"""The kinds by which a measurement speaks against a finding or its repair."""


@dataclass(frozen=True)
class Verdict:
    """The judgement of one finding. Figures are of all repeats together, and `noise` is how far one of them may be off
    (`Metric.over`); `ratio` is None where there is nothing to divide by."""

    kind: str
    reason: str
    metric: str | None = None
    unit: str = ""
    before: float | None = None
    after: float | None = None
    noise: float | None = None
    repeats: int = 0
    claimed: float | None = None
    """What the message names, where the flagged program was held against that and not against a repaired one."""

    @property
    def seen(self) -> bool:
        """Whether `before` is what one program was seen to take, with no repaired one beside it."""
        return self.before is not None and self.after is None

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
