"""`tfmemlint verify` and `tfmemlint run`."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tfmemlint.cli.output import tell
from tfmemlint.cli.usage import USAGE, UsageError
from tfmemlint.cli.verify.arguments import Line, parse, run_parser, settings, split_line, verify_parser
from tfmemlint.cli.verify.run import monitor
from tfmemlint.cli.verify.shown import Progress, announce, present, show_programs, write
from tfmemlint.config.discover import discover
from tfmemlint.config.selectors import FAILURES, UNUSED, Layer
from tfmemlint.config.settings import Config, Configs
from tfmemlint.files.tagged_folder import FOLDER
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.registry import fingerprint
from tfmemlint.report.places import place
from tfmemlint.verify import evidence
from tfmemlint.verify.agreement import agreed, once
from tfmemlint.verify.evidence import EvidenceError, Sample
from tfmemlint.verify.findings import Task, measured, read_samples, tasks
from tfmemlint.verify.metrics import SETTINGS
from tfmemlint.verify.result import Environment, Result, environment
from tfmemlint.verify.run.interpreters import MeasureError
from tfmemlint.verify.run.kept import Kept, installed
from tfmemlint.verify.run.measure import Settings
from tfmemlint.verify.run.side_by_side import two_at_once
from tfmemlint.verify.run.stopping import ended_cleanly
from tfmemlint.verify.run.variants import OTHERS
from tfmemlint.verify.run.workspaces import sweep
from tfmemlint.verify.verdicts import CONFIRMED, CONTRADICTED


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


def verify_findings(options: argparse.Namespace) -> int:
    """Verify the findings under the given paths; the exit code. Raises MeasureError and EvidenceError."""
    if not options.paths:
        raise EvidenceError("name files or folders to verify, or --rules for the rules' own samples")
    found, unread = _tasks(options)
    status = USAGE if unread else 0
    planned = [(task.label, plan.pair) for task in found for plan in task.plans]
    if options.dry_run:
        show_programs(planned)
        for task in found:
            if not task.plans:
                tell(f"{task.label}: no programs: {task.verdict.reason if task.verdict else ''}")
        return status
    chosen = settings(options)
    isolation = announce(2 * len(planned), chosen) if planned else ""
    if planned and not options.no_cache and not options.executor:
        chosen = replace(chosen, kept=_kept(chosen))
    sizes = sum(1 + (plan.smaller is not None) for task in found for plan in task.plans)
    with Progress(2 * chosen.repeat * sizes) as progress:
        if options.executor and planned:
            from tfmemlint.cli.verify.fleet import measured_by

            results = measured_by(options.executor, found, chosen, progress)
        else:
            results = measured(found, chosen, progress)
    if chosen.kept is not None and chosen.kept.used:
        noun = "program has" if chosen.kept.used == 1 else "programs have"
        tell(f"{chosen.kept.used} {noun} not changed and were not run again; --no-cache runs all")
    present(options, results, chosen, isolation)
    contradicted = any(result.verdict.kind in CONTRADICTED for result in results)
    return status or int(options.strict and contradicted)


def _tasks(options: argparse.Namespace) -> tuple[list[Task], int]:
    """The findings under the paths, and how many files could not be read."""
    overrides = {"command_line": Layer(select=options.select)} if options.select else {}
    configs = Configs(overrides=overrides)
    lines: dict[str, list[Line | None]] = {}
    for path, line in map(split_line, options.paths):
        lines.setdefault(path, []).append(line)
    found = discover(list(lines), configs)
    for problem in found.problems:
        if problem.fails:
            raise MeasureError(problem.message)
    samples = read_samples(options.fixtures)
    made: list[Task] = []
    unread = 0
    for target in found.targets:
        of_file = _of_file(target.path, target.config, lines.get(target.path, [None]), samples, options.samples)
        unread += of_file is None
        made += of_file or []
    return made, unread


def _kept(chosen: Settings) -> Kept:
    """The runs that are known of the project around the working directory."""
    config = Configs().for_directory(os.getcwd())
    folder = config.resolve(config.cache_dir) if config.cache_dir else os.path.join(config.root or os.curdir, FOLDER)
    return Kept(folder, installed(chosen), fingerprint())


def _of_file(
    path: str, config: Config, lines: Sequence[Line | None], samples: dict[str, Sample], run_samples: bool
) -> list[Task] | None:
    """The findings of a file, of these lines of it unless one is None; None where it, or a part of it, cannot be
    read."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise MeasureError(f"cannot read {path}: {error.strerror}") from error
    result = Linter(config).lint(data, path)
    failures = [found for found in result.findings if found.code in FAILURES]
    for failure in failures:
        tell(f"{os.path.relpath(path)}:{place(result, failure.span)}: {failure.code} {failure.message}")
    findings = [found for found in result.findings if found.code not in FAILURES and found.code != UNUSED]
    if None not in lines:
        places = [(found, place(result, found.span)) for found in findings]
        findings = [found for found, at in places if any(line is not None and line.holds(at) for line in lines)]
    if not findings or result.source is None:
        return None if failures else []
    return tasks(result, findings, config, samples, run_samples)


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
    if options.device == "gpu":
        results = _on_cards(results, where)
    complete = not codes and len(able) == len(samples)
    write(kept, json.dumps(evidence.merged(old, results, where, complete), indent=2) + "\n")
    return 0 if all(result.verdict.kind == CONFIRMED for result in results) else 1


def _on_cards(results: Sequence[Result], where: Environment) -> list[Result]:
    """The results that say something of graphics cards. Raises EvidenceError where there are none."""
    if not where.on_card:
        raise EvidenceError("no program could use a graphics card; nothing is kept")
    kept = []
    for result in results:
        if result.simulated:
            cards = "a graphics card" if result.simulated == 1 else f"{result.simulated} graphics cards"
            tell(f"{result.name} needs {cards}; kept as no evidence")
        elif result.verdict.metric in SETTINGS:
            tell(f"{result.name} shows what TensorFlow is told, not what a card does; kept as no evidence")
        else:
            kept.append(result)
    return kept


def _gather(samples: Sequence[Sample], chosen: Settings, strict: bool) -> list[Result]:
    """What the samples show; with `strict`, in all ways in which they may run elsewhere."""
    results = []
    again = sum(once(sample, chosen).repeat for sample in samples) * len(OTHERS) if strict else 0
    total = 2 * (len(samples) * chosen.repeat + again)
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
