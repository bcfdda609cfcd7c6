"""Programs for findings whose rule has no repair to apply: the rule's own measured sample, at the finding's size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfmemlint.finding import Finding
from tfmemlint.units import show_bytes
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.verdicts import RULE_ONLY

if TYPE_CHECKING:
    from tfmemlint.verify.evidence import Sample

MARKER = "# tfmemlint: finding bytes"
"""Ends the line of a measured sample that binds its size in bytes, and is rewritten with the finding's."""

MOST_BYTES = 512 * 1024**2
"""Bytes that a sample is given at the most: its programs hold several times as much."""


OF_SHAPES = frozenset(("IndexError", "InvalidArgumentError", "ValueError"))
"""Errors that shapes raise which do not fit."""

MOST_RANKS = 3
"""Times that other shapes are tried after such an error."""


@dataclass(frozen=True)
class Plan:
    """Two programs and what is claimed of them. `own` is whether they are made of the user's code, `alone` whether of
    the flagged statements only."""

    pair: Pair
    claim: Claim
    own: bool = True
    alone: bool = False
    of_data: bool = False
    """Whether data sets were made up for the flagged statements, whose buffers all are there at the same time."""
    words: str = ""
    """How what was measured alone came to run, where it is not by statements with operands of their own."""
    again: Callable[[Run], Plan | None] = lambda run: None
    """The plan for another try after a run of the flagged program that raised; None where nothing more can be done."""
    without: Callable[[Run], Plan | None] = lambda run: None
    """The plan without the statement that raised, where nothing else helps; None where it cannot do without."""
    smaller: Callable[[], Plan] | None = None
    """The plan with smaller sizes where some were made up; None where none were."""
    claimed: int | None = None
    """The bytes of the message, which come of sizes that the code tells."""
    guessed: str = ""
    """What to say about parameters that are made up of little more than their names; empty where none are."""


def other_ranks(plan: Plan, run: Run, tried: int, make: Callable[[], Plan]) -> Plan | None:
    """The plan with other shapes in place of those that were solved, where a run failed at shapes; None where it did
    not, where there are no others, and after some tries."""
    if run.error is None or run.error.type not in OF_SHAPES or tried >= MOST_RANKS:
        return None
    other = make()
    return None if other.pair.before.source == plan.pair.before.source else other


def of_sample(finding: Finding, sample: Sample | None, run: bool) -> Plan:
    """The sample of the finding's rule. Raises PlanError where the rule has none, and where it shall not be run."""
    if sample is None:
        raise PlanError("the rule has neither a repair to compare with nor a sample of its own")
    if not run:
        raise PlanError(f"no repair to compare with here; --samples runs the sample of {finding.code}", RULE_ONLY)
    before, after, size = sample.pair.before, sample.pair.after, "at its own size"
    if after is not None and finding.bytes is not None and MARKER in before.source and MARKER in after.source:
        given = min(finding.bytes, MOST_BYTES)
        before, after = (replace(program, source=_filled(program.source, given)) for program in (before, after))
        size = "at the size of this finding"
        if given < finding.bytes:
            size = f"at {show_bytes(given)} in place of the {show_bytes(finding.bytes)} of this finding"
    note = f"the rule has no repair to apply here: its own sample was run in place of your code, {size}"
    return Plan(Pair(before, after, (note,)), sample.claim, own=False)


def _filled(source: str, size: int) -> str:
    lines = source.split("\n")
    for number, line in enumerate(lines):
        if line.rstrip().endswith(MARKER):
            lines[number] = f"{line.partition('=')[0].rstrip()} = {size}"
    return "\n".join(lines)
