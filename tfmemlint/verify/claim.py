"""What a finding says that a run shows."""

from __future__ import annotations

from dataclasses import dataclass

from tfmemlint.units import show_bytes
from tfmemlint.verify.metrics import METRICS, SLOPES, TRIED, WHERE_BYTES_ARE
from tfmemlint.verify.verdicts import TOO_SMALL, Verdict


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
    growth: bool = False
    """Whether something grows from round to round, which shows in the slope over the rounds before it shows in sums."""
    expected: int | None = None
    """Bytes that the flagged program alone must be seen to take, where there is no repair to compare with."""
    of_bytes: bool = False
    """Whether what grows is data: functions that are traced in the first rounds, say, tell nothing of it."""
    by_itself: bool = False
    """Whether there is no repair to compare with, and the growth must show in the flagged program alone."""
    function: str = ""
    """The traced function whose traces count."""
    reaches: bool = False
    """Whether the program says when it comes to the flagged place: what does not come there says nothing against it."""
    made_up: bool = False
    """Whether the arguments are made up: what is not seen with them says nothing."""
    shown: bool = False
    """Whether it is about the user's code, by the one metric of memory that the finding names."""
    survives: bool = False
    """Whether what grows is still there when Python's collector has run, as it then does before each mark."""
    contrast: bool = False
    """Whether what is compared with is no repair but the code without the cost, which may do otherwise or raise."""

    in_training: bool = False
    """Whether it is about what a training costs: a program that comes to none says nothing against it."""

    @property
    def timed(self) -> bool:
        """Whether it is about time."""
        return self.metric == "seconds"

    @property
    def apart(self) -> bool:
        """Whether only a fresh process will do: a copy of one comes by its pages, and by time, in another way."""
        return self.timed or self.metric in ("rss", "rss_slope", "device_bytes")

    @property
    def tried(self) -> tuple[str, ...]:
        """The metrics of memory that are looked at, in this order; where one is named, it alone."""
        if self.metric in WHERE_BYTES_ARE:
            return (self.metric,)
        return (*SLOPES, *TRIED) if self.growth else TRIED


def too_small(claimed: int | None, exact: bool, claim: Claim) -> Verdict | None:
    """The verdict on a finding whose message names `claimed` bytes which no measurement can show, else None."""
    by_bytes = claim.error is None and claim.output is None and claim.metric in (None, "peak_bytes", "live_bytes")
    floor = METRICS["peak_bytes"].floor
    if claimed is None or not exact or claimed >= floor or not by_bytes or claim.growth:
        return None
    return Verdict(TOO_SMALL, f"{show_bytes(claimed)}: what is below {show_bytes(round(floor))} cannot be measured")
