"""Whether a program gets the figures of a fresh process from a copy of one that has imported TensorFlow before, while
another program runs beside it.

`python tests/verify/same_figures.py [CODE...]` (`make figures`) compares all measured samples, which takes long, and
shows how many bytes the peaks differ by: none, but for programs of which two fresh processes differ too. The test suite
compares those that show fast, to the byte.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from tfmemlint.verify import evidence
from tfmemlint.verify.evidence import Sample, gather
from tfmemlint.verify.result import Result
from tfmemlint.verify.run.measure import Settings
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.run.side_by_side import ENOUGH, two_at_once
from tfmemlint.verify.run.watch import Limits

SETTINGS = Settings(device="cpu", repeat=1, limits=Limits(wall=180.0))
FIGURES = ("status", "reason", "device", "peak_bytes", "live_bytes", "traces", "traces_by_name", "value", "gpu_options")
"""What must not depend on how a process came to have TensorFlow: bytes of tensors, counts, how the program ended."""


def figures(runs: Iterable[Run]) -> list[dict[str, object]]:
    """What is compared of each run, its marks without their times too."""
    return [
        {"marks": [(mark[1], mark[2], mark[4]) for mark in run.marks], **{name: getattr(run, name) for name in FIGURES}}
        for run in runs
    ]


def both_ways(samples: Iterable[Sample]) -> list[tuple[Result, Result]]:
    """Each sample in fresh processes one after the other, and in copies of one, both programs at once."""
    with two_at_once(SETTINGS, ENOUGH) as served:
        return [(gather(sample, SETTINGS), gather(sample, served)) for sample in samples]


def differing(results: Sequence[tuple[Result, Result]]) -> list[tuple[Result, Result]]:
    """Those whose figures are not the same."""
    return [
        (fresh, served)
        for fresh, served in results
        if figures(fresh.before) != figures(served.before) or figures(fresh.after) != figures(served.after)
    ]


def main(codes: Sequence[str]) -> int:
    """Compare the samples of these rules, or all; 1 where a verdict is another one."""
    samples = evidence.read_samples(evidence.fixtures_folder(), codes)
    results = both_ways(sample for sample in samples if sample.device != "gpu" and not sample.claim.apart)
    for fresh, served in differing(results):
        for runs, others in ((fresh.before, served.before), (fresh.after, served.after)):
            for run, other in zip(runs, others, strict=True):
                print(f"{fresh.name}: peaks of {run.peak_bytes} and {other.peak_bytes} bytes")
    changed = [fresh.name for fresh, served in results if fresh.verdict.kind != served.verdict.kind]
    print(f"{len(results) - len(differing(results))} of {len(results)} samples have the same figures")
    print(*(f"{name}: another verdict" for name in changed), sep="\n", end="")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
