"""Whether the evidence for a rule holds in every way in which its sample may run elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tfmemlint.verify.evidence import Sample, gather
from tfmemlint.verify.result import Result
from tfmemlint.verify.run.measure import Settings
from tfmemlint.verify.run.side_by_side import two_at_once
from tfmemlint.verify.run.variants import OTHERS, Variant
from tfmemlint.verify.verdicts import CONFIRMED, INCONCLUSIVE, NOT_CONFIRMED, Verdict


def agreed(
    samples: Sequence[Sample],
    results: Sequence[Result],
    settings: Settings,
    done: Callable[[], None] | None = None,
    variants: Sequence[Variant] = OTHERS,
) -> list[Result]:
    """The results of these samples, of which those stay confirmed that each variant confirms too. `done` is called
    after each run. Raises MeasureError."""
    against: list[list[str]] = [[] for _ in results]
    unknown: list[list[str]] = [[] for _ in results]
    for variant in variants:
        with two_at_once(replace(settings, variant=variant), 2 * len(samples)) as served:
            for place, (sample, result) in enumerate(zip(samples, results, strict=True)):
                if result.verdict.kind != CONFIRMED:
                    continue
                verdict = gather(sample, once(sample, served), done).verdict
                if verdict.kind != CONFIRMED:
                    said = f"{variant.words}: {_figures(verdict)}"
                    (unknown if verdict.kind == INCONCLUSIVE else against)[place].append(said)
    return [_judged(*each) for each in zip(results, against, unknown, strict=True)]


def once(sample: Sample, settings: Settings) -> Settings:
    """How often a sample runs in each other way: one run says what bytes and counts are, which do not vary; seconds
    do."""
    return settings if sample.claim.timed else replace(settings, repeat=1)


def _judged(result: Result, against: Sequence[str], unknown: Sequence[str]) -> Result:
    if not against and not unknown:
        return result
    kind = NOT_CONFIRMED if against else INCONCLUSIVE
    reason = "; ".join(filter(None, (result.verdict.reason, *against, *unknown)))
    return replace(result, verdict=replace(result.verdict, kind=kind, reason=reason))


def _figures(verdict: Verdict) -> str:
    """A verdict in words, with the figures that it rests on."""
    from tfmemlint.verify.pages.report import figure

    shown = ""
    if verdict.before is not None and verdict.after is not None:
        sides = (figure(side, verdict.unit, verdict.metric or "") for side in (verdict.before, verdict.after))
        shown = "{} before and {} after".format(*sides)
    return ", ".join(filter(None, (verdict.kind, shown, verdict.reason)))
