"""`tfmemlint estimate --measure`: the steps of an estimate, run contained and measured."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.cli.estimate.arguments import TIMEOUT
from tfmemlint.cli.output import tell
from tfmemlint.cli.verify.arguments import settings, verify_parser
from tfmemlint.cli.verify.shown import Progress, announce
from tfmemlint.report.estimates.words import heading
from tfmemlint.verify.run.interpreters import MeasureError
from tfmemlint.verify.run.measure import Step
from tfmemlint.verify.run.stopping import ended_cleanly
from tfmemlint.verify.run.workspaces import sweep
from tfmemlint.verify.training_step import Alone, measure_step

if TYPE_CHECKING:
    from tfmemlint.cli.estimate.read import Step as Read
    from tfmemlint.report.estimates import Reported
    from tfmemlint.verify.run.measure import Settings


def measured(found: Sequence[Reported], steps: Sequence[Read], options: argparse.Namespace) -> list[Reported]:
    """The estimates with what was measured of each; `steps` are what they are of. What cannot be measured is said in
    one line each and stays as it is."""
    if not found:
        return []
    words = ["--repeat", "1", "--python", options.python or sys.executable]
    chosen = settings(verify_parser().parse_args([*words, "--timeout", str(options.timeout or TIMEOUT)]))
    with ended_cleanly():
        sweep()
        try:
            announce(len(found), chosen)
        except MeasureError as error:
            tell(f"not measured: {error}")
            return list(found)
        with Progress(len(found)) as progress:
            return [
                _one(each, read, options, chosen, progress) for each, read in zip(found, steps, strict=True)
            ]  # fmt: skip


def _one(
    found: Reported, read: Read, options: argparse.Namespace, chosen: Settings, progress: Progress
) -> Reported:
    step = found.estimate.of
    try:
        if options.predict and step.call.startswith(("for ", "while ")):
            raise MeasureError("--predict cannot be measured of a loop; name the call of fit or predict")
        batch = found.estimate.batch if options.batch else None
        wanted = Step(step.line, batch, options.mode, options.predict)
        alone = None
        if read.file is not None and found.is_whole and not found.estimate.bounded and not options.predict:
            alone = Alone(read.file, step, found.estimate.batch)
        found = replace(found, measured=measure_step(found.path, read.text, wanted, chosen, alone=alone))
        said = "measured"
    except MeasureError as error:
        said = f"not measured: {error}"
    progress.ran()
    progress.judged(heading(found), said)
    return found
