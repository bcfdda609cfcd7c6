"""`tfmemlint check -`: one file on standard input; with `--fix` the repaired text goes to standard output."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace

from tfmemlint.cli import output
from tfmemlint.cli.session import Session, exit_code, report
from tfmemlint.config.discover import Target, is_excluded
from tfmemlint.config.settings import Configs
from tfmemlint.lint.baseline import Baseline
from tfmemlint.run.file_task import Options
from tfmemlint.run.repair import Gate
from tfmemlint.run.runner import run_bytes


def check_stdin(arguments: argparse.Namespace, configs: Configs, started: float) -> int:
    """Lint or repair standard input; the exit code."""
    name = arguments.stdin_filename
    config = configs.for_file(name) if name else configs.for_directory(os.getcwd())
    data = output.read_stdin()
    session = Session(arguments, config, started)
    if name and config.force_exclude and is_excluded(name, config):
        if config.fix and not arguments.diff:
            output.write_bytes(data)
        return 0
    target = Target(name or "-", config)
    gate = Gate(Baseline.load(config.resolve(config.baseline))) if config.baseline else Gate()
    options = Options(preview=config.fix or arguments.diff, gates=((config, gate),))
    outcome = run_bytes(target, data, options)
    if config.fix and not arguments.diff:
        output.write_bytes(outcome.change[1] if outcome.change else data)
        outcome = replace(outcome, result=outcome.after or outcome.result, change=None)
    session.outcomes = [replace(outcome, result=gate.known(outcome.result))]
    session.problems += outcome.problems
    session.tell_problems()
    if arguments.diff:
        if outcome.change:
            output.write_bytes(output.unified_diff(target.path, *outcome.change))
    else:
        report(session, sys.stderr if config.fix else None)
    return exit_code(session)
