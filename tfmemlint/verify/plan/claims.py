"""What is looked at in the user's own code to judge a finding."""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.finding import Finding
from tfmemlint.model.file import File
from tfmemlint.verify.claim import Claim, too_small
from tfmemlint.verify.evidence import Sample
from tfmemlint.verify.metrics import COPIES, GIVEN, GROWTH, SETTINGS, WHERE_BYTES_ARE
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.wrapping import is_made_there
from tfmemlint.verify.verdicts import RULE_ONLY

OWN_METRICS = ("seconds", "traces", "growth_dropped")


def claim_of(finding: Finding, sample: Sample | None) -> Claim:
    """What the rule says that a run shows, an error or a count where its sample is about one, else all of memory.
    Raises PlanError where only the sample can show it."""
    claim = _shown(finding) or (_of_sample(sample) if sample is not None else Claim())
    return replace(claim, contrast=has_contrast(finding))


def _shown(finding: Finding) -> Claim | None:
    shows = finding.shows
    if shows is None or (finding.compared and shows.metric in (*GROWTH, *GIVEN, *COPIES)):
        return None
    claim = Claim(shows.metric or None, error=shows.error or None, function=shows.function, expected=shows.count)
    survives, grows = shows.survives, shows.metric in GROWTH
    return replace(claim, growth=grows, shown=True, survives=survives, reaches=is_of_settings(finding))


def _of_sample(sample: Sample) -> Claim:
    claim = sample.claim
    if claim.error is not None and claim.error.startswith("TimeoutError"):
        raise PlanError("a program that hangs is ended by a clock of the rule's own sample", RULE_ONLY)
    if claim.error is not None or claim.output is not None or claim.metric in OWN_METRICS:
        return replace(claim, min_ratio=min(claim.min_ratio, Claim.min_ratio))
    return Claim(growth=claim.growth, of_bytes=claim.growth and claim.metric in WHERE_BYTES_ARE)


def by_the_message(finding: Finding) -> Claim:
    """The claim that the flagged statements take the bytes that the message names. Raises PlanError."""
    if finding.bytes is None:
        raise PlanError("the rule has no repair to compare with, and its message names no bytes")
    small = too_small(finding.bytes, finding.bytes_exact, Claim())
    if small is not None:
        raise PlanError(small.reason, small.kind)
    return Claim(expected=finding.bytes)


def of_what_is_made(finding: Finding, file: File) -> Claim | None:
    """The claim that the flagged call, wherever it stands in the program, takes the bytes of the message to make what
    it makes; None where the message is about other bytes. Raises PlanError."""
    return replace(by_the_message(finding), metric="taken") if is_made_there(finding, file) else None


def has_contrast(finding: Finding) -> bool:
    """Whether there is no repair, but code without the cost to compare with."""
    return finding.fix is None and bool(finding.contrast)


def is_own(claim: Claim) -> bool:
    """Whether a claim is about something else than memory."""
    of_memory = claim.survives or claim.metric in (None, *WHERE_BYTES_ARE)
    return claim.error is not None or claim.output is not None or not of_memory


def is_of_settings(finding: Finding) -> bool:
    """Whether a finding is about what settings of devices do, so that nothing else of the program is needed."""
    return finding.shows is not None and (finding.shows.settings or finding.shows.metric in SETTINGS)
