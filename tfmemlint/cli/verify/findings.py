"""`tfmemlint verify PATH`: lint, plan, run, judge."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.cli.output import tell
from tfmemlint.cli.usage import USAGE
from tfmemlint.cli.verify.arguments import Line, settings, split_line
from tfmemlint.cli.verify.shown import Progress, announce, present, show_programs
from tfmemlint.config.discover import discover
from tfmemlint.config.selectors import FAILURES, UNUSED, Layer
from tfmemlint.config.settings import Config, Configs
from tfmemlint.files.tagged_folder import FOLDER
from tfmemlint.finding import Finding
from tfmemlint.lint.engine import FileResult, parse, siblings_of
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.registry import fingerprint
from tfmemlint.model.file import File
from tfmemlint.report.places import place
from tfmemlint.verify import evidence
from tfmemlint.verify.evidence import EvidenceError, Sample
from tfmemlint.verify.plan.examples import Example, ExampleError, read_examples
from tfmemlint.verify.plan.from_finding import plan, plan_alone
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.templates import Plan
from tfmemlint.verify.result import Result
from tfmemlint.verify.run.kept import Kept, installed
from tfmemlint.verify.run.measure import MeasureError, Settings
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.run.side_by_side import two_at_once
from tfmemlint.verify.trials import decisive, tried
from tfmemlint.verify.verdicts import CONTRADICTED, INCONCLUSIVE, RULE_ONLY, Verdict, inconclusive

if TYPE_CHECKING:
    from tfmemlint.text.source import Program

EXAMPLE = "give the data's shape in a comment: # tfmemlint: example NAME=float32[1000,32]"
HINTS = (
    (("No such file or directory",), EXAMPLE),
    (("URLError", "URL fetch failure", "gaierror", "name resolution"), f"there is no network here; {EXAMPLE}"),
    (("ModuleNotFoundError",), "install it for the interpreter that --python names"),
)


@dataclass(frozen=True)
class Task:
    """A finding with where it is and its plans, of which each is tried, or why it has none."""

    finding: Finding
    place: str
    plans: tuple[Plan, ...] = ()
    verdict: Verdict | None = None
    """Why there is no plan, where there is none."""

    @property
    def label(self) -> str:
        return f"{self.place} {self.finding.code}"


def verify_findings(options: argparse.Namespace) -> int:
    """Verify the findings under the given paths; the exit code. Raises MeasureError and EvidenceError."""
    if not options.paths:
        raise EvidenceError("name files or folders to verify, or --rules for the rules' own samples")
    tasks, unread = _tasks(options)
    status = USAGE if unread else 0
    planned = [(task.label, plan.pair) for task in tasks for plan in task.plans]
    if options.dry_run:
        show_programs(planned)
        for task in tasks:
            if not task.plans:
                tell(f"{task.label}: no programs: {task.verdict.reason if task.verdict else ''}")
        return status
    chosen = settings(options)
    isolation = announce(2 * len(planned), chosen) if planned else ""
    if planned and not options.no_cache:
        chosen = replace(chosen, kept=_kept(chosen))
    results = _results(tasks, chosen)
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
    lines = dict(split_line(path) for path in options.paths)
    found = discover(list(lines), configs)
    for problem in found.problems:
        if problem.fails:
            raise MeasureError(problem.message)
    samples = _samples(options.fixtures)
    tasks: list[Task] = []
    unread = 0
    for target in found.targets:
        made = _of_file(target.path, target.config, lines.get(target.path), samples, options.samples)
        unread += made is None
        tasks += made or []
    return tasks, unread


def _kept(chosen: Settings) -> Kept:
    """The runs that are known of the project around the working directory."""
    config = Configs().for_directory(os.getcwd())
    folder = config.resolve(config.cache_dir) if config.cache_dir else os.path.join(config.root or os.curdir, FOLDER)
    return Kept(folder, installed(chosen), fingerprint())


def _samples(folder: str | None) -> dict[str, Sample]:
    where = Path(folder) if folder else evidence.fixtures_folder()
    return {sample.code: sample for sample in evidence.read_samples(where)}


def _of_file(
    path: str, config: Config, line: Line | None, samples: dict[str, Sample], run_samples: bool
) -> list[Task] | None:
    """The findings of a file; None where it, or a part of it, cannot be read."""
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
    if line is not None:
        findings = [found for found in findings if line.holds(place(result, found.span))]
    if not findings or result.source is None:
        return None if failures else []
    programs = result.source.programs
    return [task for each in programs for task in _of_program(each, findings, result, config, samples, run_samples)]


def _of_program(
    program: Program,
    findings: Sequence[Finding],
    result: FileResult,
    config: Config,
    samples: dict[str, Sample],
    run_samples: bool,
) -> list[Task]:
    """The findings of one of the file's programs, each with its plan."""
    mine = [found for found in findings if program.own(found.span.start) is not None]
    module, readable, _ = parse(program.source) if mine else (None, program.source, [])
    if module is None:
        return [Task(found, _where(result, found), (), inconclusive("the code cannot be read")) for found in mine]
    try:
        examples = read_examples(readable)
    except ExampleError as error:
        raise MeasureError(str(error)) from error
    model = File(readable, module, config, siblings_of(result.path, config))
    tasks = []
    for found in mine:
        where = _where(result, found)
        own = found.moved(lambda offset: program.own(offset) or 0)
        tasks.append(_task(own, found, where, model, samples.get(found.code), examples, run_samples))
    return tasks


def _task(
    own: Finding,
    found: Finding,
    where: str,
    model: File,
    sample: Sample | None,
    examples: dict[str, Example],
    run_samples: bool,
) -> Task:
    """The plans for one finding: its statements alone, then all that they need."""
    plans: list[Plan] = []
    verdict: Verdict | None = None
    try:
        plans.append(plan(own, model, sample, examples, run_samples))
    except PlanError as error:
        verdict = Verdict(error.kind, str(error))
    except Exception as error:  # one finding's failure must not hide the others
        verdict = inconclusive(f"planning failed: {type(error).__name__}: {error}")
    if verdict is None or verdict.kind in (INCONCLUSIVE, RULE_ONLY):
        with contextlib.suppress(PlanError):
            plans.insert(0, plan_alone(own, model, sample, examples))
    return Task(found, where, tuple(plans), verdict)


def _where(result: FileResult, found: Finding) -> str:
    return f"{os.path.relpath(result.path)}:{place(result, found.span)}"


def _results(tasks: Sequence[Task], chosen: Settings) -> list[Result]:
    total = 2 * chosen.repeat * sum(len(task.plans) for task in tasks)
    results = []
    with Progress(total) as progress, two_at_once(chosen, total) as served:
        for task in tasks:
            found = task.finding
            if not task.plans:
                verdict = task.verdict or inconclusive("")
                results.append(Result(found.code, found.name, task.place, found.message, verdict))
                continue
            trials = [tried(each, served, progress.ran) for each in task.plans]
            shown = decisive(trials)
            verdict = shown.verdict
            if verdict.kind == INCONCLUSIVE:
                verdict = replace(verdict, reason=_hinted(verdict.reason, (*shown.before, *shown.after)))
            sides = shown.before, shown.after
            results.append(Result(found.code, found.name, task.place, found.message, verdict, shown.plan.pair, *sides))
            progress.judged(task.label, verdict.kind)
    return results


def _hinted(reason: str, runs: Sequence[Run]) -> str:
    """The reason with what to do about it, where the error is one of the usual ones."""
    said = " ".join(f"{run.error.type} {run.error.message}" for run in runs if run.error is not None)
    hint = next((hint for words, hint in HINTS if any(word in said for word in words)), None)
    return f"{reason}; {hint}" if hint else reason
