"""`tfmemlint verify` and `tfmemlint run`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from tfmemlint.cli.output import tell
from tfmemlint.cli.usage import UsageError
from tfmemlint.cli.verify.arguments import parse, run_parser, settings, verify_parser
from tfmemlint.cli.verify.findings import verify_findings
from tfmemlint.cli.verify.run import monitor
from tfmemlint.cli.verify.shown import Progress, announce, present, show_programs, write
from tfmemlint.verify import evidence
from tfmemlint.verify.agreement import agreed
from tfmemlint.verify.evidence import EvidenceError, Sample
from tfmemlint.verify.result import Result, environment
from tfmemlint.verify.run.measure import MeasureError, Settings
from tfmemlint.verify.run.side_by_side import two_at_once
from tfmemlint.verify.run.stopping import ended_cleanly
from tfmemlint.verify.run.variants import OTHERS
from tfmemlint.verify.run.workspaces import sweep
from tfmemlint.verify.verdicts import CONFIRMED


def verify_main(words: Sequence[str]) -> int:
    """Run `verify` with these arguments; the exit code. Raises UsageError."""
    options = parse(verify_parser(), words)
    try:
        with ended_cleanly():
            sweep()
            return _verify_rules(options) if options.rules is not None else verify_findings(options)
    except (EvidenceError, MeasureError) as error:
        raise UsageError(str(error)) from error


def run_main(words: Sequence[str]) -> int:
    """Run `run` with these arguments; the exit code is the program's. Raises UsageError."""
    options = parse(run_parser(), words)
    try:
        with ended_cleanly(interrupts=False):
            sweep()
            return monitor(options)
    except MeasureError as error:
        raise UsageError(str(error)) from error


def _verify_rules(options: argparse.Namespace) -> int:
    codes = [*options.rules, *options.paths, *(options.select or ())]
    folder = Path(options.fixtures) if options.fixtures else evidence.fixtures_folder()
    samples = evidence.read_samples(folder, codes)
    if options.dry_run:
        show_programs([(sample.folder.name, sample.pair) for sample in samples])
        return 0
    kept = Path(options.evidence or "docs/evidence.json")
    if options.evidence is None and not kept.parent.is_dir():
        raise EvidenceError("there is no folder docs here; name the file that keeps the verdicts with --evidence")
    old = evidence.read_evidence(kept)
    chosen = settings(options)
    able = [sample for sample in samples if sample.device != "gpu" or options.device == "gpu"]
    for sample in samples:
        if sample not in able:
            tell(f"{sample.folder.name} needs a graphics card; left out without --device gpu")
    if not able:
        raise EvidenceError(f"no samples to measure in {folder}")
    isolation = announce(2 * len(able), chosen)
    results = _gather(able, chosen, options.strict)
    present(options, results, chosen, isolation)
    where = environment(results, chosen, isolation)
    complete = not codes and len(able) == len(samples)
    write(kept, json.dumps(evidence.merged(old, results, where, complete), indent=2) + "\n")
    return 0 if all(result.verdict.kind == CONFIRMED for result in results) else 1


def _gather(samples: Sequence[Sample], chosen: Settings, strict: bool) -> list[Result]:
    """What the samples show; with `strict`, in all ways in which they may run elsewhere."""
    results = []
    total = 2 * len(samples) * (chosen.repeat + len(OTHERS) * strict)
    with Progress(total) as progress:
        with two_at_once(chosen, total) as served:
            for sample in samples:
                results.append(evidence.gather(sample, served, progress.ran))
                progress.judged(sample.folder.name, results[-1].verdict.kind)
        if not strict:
            return results
        held = agreed(samples, results, chosen, progress.ran)
        for before, after in zip(results, held, strict=True):
            if before is not after:
                progress.judged(after.name, f"{after.verdict.kind} after all")
    return held
