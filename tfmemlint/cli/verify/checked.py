"""`tfmemlint check --verify`: what a check has found, measured as `tfmemlint verify` measures it, once each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tfmemlint.cli.output import tell
from tfmemlint.cli.usage import UsageError
from tfmemlint.cli.verify.arguments import settings, verify_parser
from tfmemlint.cli.verify.shown import Progress, announce
from tfmemlint.config.selectors import FAILURES, UNUSED
from tfmemlint.config.settings import Config
from tfmemlint.finding import Finding
from tfmemlint.lint.engine import FileResult
from tfmemlint.report.base import Verified
from tfmemlint.verify.evidence import EvidenceError
from tfmemlint.verify.findings import measured, read_samples, tasks
from tfmemlint.verify.pages.report import in_words, summary
from tfmemlint.verify.run.interpreters import MeasureError
from tfmemlint.verify.run.stopping import ended_cleanly
from tfmemlint.verify.run.workspaces import sweep
from tfmemlint.verify.verdicts import CONTRADICTED


def verified(
    results: Sequence[tuple[FileResult, Config]], arguments: argparse.Namespace
) -> dict[tuple[str, Finding], Verified]:
    """What measuring shows of the findings, by the file's path and the finding. Raises UsageError."""
    try:
        with ended_cleanly():
            sweep()
            return _verified(results, arguments.verify or sys.executable, arguments.quiet)
    except (EvidenceError, MeasureError) as error:
        raise UsageError(f"--verify: {error}") from error


def _verified(
    results: Sequence[tuple[FileResult, Config]], python: str, quiet: bool
) -> dict[tuple[str, Finding], Verified]:
    samples = read_samples()
    planned = []
    for result, config in results:
        findings = [each for each in result.findings if each.code not in FAILURES and each.code != UNUSED]
        planned += tasks(result, findings, config, samples)
    programs = 2 * sum(len(task.plans) for task in planned)
    chosen = settings(verify_parser().parse_args(["--repeat", "1", "--python", python]))
    if programs:
        announce(programs, chosen)
    with Progress(programs) as progress:
        found = measured(planned, chosen, progress)
    if not quiet and found:
        tell(f"measured: {summary(found)}")
    made = {}
    for task, verdict in zip(planned, (each.verdict for each in found), strict=True):
        figures = (verdict.metric, verdict.unit, verdict.before, verdict.after)
        against = verdict.kind in CONTRADICTED
        made[task.path, task.finding] = Verified(verdict.kind, verdict.reason, against, in_words(verdict), *figures)
    return made
