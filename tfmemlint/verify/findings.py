"""Findings to verify: the plans for each, then runs and a verdict."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tfmemlint.config.settings import Config
from tfmemlint.finding import Finding
from tfmemlint.lint.engine import FileResult, parse, siblings_of
from tfmemlint.model.file import File
from tfmemlint.report.places import place
from tfmemlint.verify import evidence
from tfmemlint.verify.evidence import Sample
from tfmemlint.verify.plan.examples import Example, ExampleError, read_examples
from tfmemlint.verify.plan.from_finding import plan, plan_alone
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.templates import Plan
from tfmemlint.verify.result import ALONE, WHOLE, Attempt, Result
from tfmemlint.verify.run.interpreters import MeasureError
from tfmemlint.verify.run.measure import Settings
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.run.side_by_side import two_at_once
from tfmemlint.verify.trials import all_tried, decisive
from tfmemlint.verify.verdicts import INCONCLUSIVE, RULE_ONLY, Verdict, inconclusive

if TYPE_CHECKING:
    from tfmemlint.text.source import Program

EXAMPLE = "give the data's shape in a comment: # tfmemlint: example NAME=float32[1000,32]"
HINTS = (
    (("No such file or directory",), EXAMPLE),
    (("URLError", "URL fetch failure", "gaierror", "name resolution"), f"there is no network here; {EXAMPLE}"),
    (("ModuleNotFoundError",), "install it for the interpreter that --python names"),
)
MORE_MEMORY = "allow it more with --max-memory"
NO_TENSORBOARD = "TensorBoard is not installed"
"""What a program notes that writes no summaries for want of it."""

_UNREADABLE = inconclusive("the code cannot be read")


@dataclass(frozen=True)
class Task:
    """A finding with its file, where it is and its plans, of which each is tried, or why it has none."""

    path: str
    finding: Finding
    place: str
    plans: tuple[Plan, ...] = ()
    verdict: Verdict | None = None
    """Why there is no plan, where there is none."""
    unplanned: tuple[Attempt, ...] = ()
    """The ways of measuring for which there is no plan, each with the reason."""

    @property
    def label(self) -> str:
        return f"{self.place} {self.finding.code}"


class Watcher(Protocol):
    """What is told how far the measuring is."""

    def ran(self) -> None:
        """One more process has ended."""

    def judged(self, label: str, kind: str) -> None:
        """One more verdict is there."""


def read_samples(folder: str | None = None) -> dict[str, Sample]:
    """The measured sample of each rule that has one, by code. Raises EvidenceError."""
    where = Path(folder) if folder else evidence.fixtures_folder()
    return {sample.code: sample for sample in evidence.read_samples(where)}


def tasks(
    result: FileResult,
    findings: Sequence[Finding],
    config: Config,
    samples: dict[str, Sample],
    run_samples: bool = False,
) -> list[Task]:
    """These findings of a file, each with its plans. Raises MeasureError for an example comment that cannot be read."""
    if not findings or result.source is None:
        return []
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
        return [Task(result.path, found, _where(result, found), (), _UNREADABLE) for found in mine]
    try:
        examples = read_examples(readable)
    except ExampleError as error:
        raise MeasureError(str(error)) from error
    model = File(readable, module, config, siblings_of(result.path, config))
    made = []
    for found in mine:
        own = found.moved(lambda offset: program.own(offset) or 0)
        plans, unplanned = _plans(own, model, samples.get(found.code), examples, run_samples)
        verdict = unplanned[-1].verdict if unplanned and unplanned[-1].way != ALONE else None
        made.append(Task(result.path, found, _where(result, found), plans, verdict, unplanned))
    return made


def _plans(
    own: Finding, model: File, sample: Sample | None, examples: dict[str, Example], run_samples: bool
) -> tuple[tuple[Plan, ...], tuple[Attempt, ...]]:
    """The plans for one finding: its statements alone, then all that they need; and why there is none of either."""
    whole, verdict = _made(lambda: plan(own, model, sample, examples, run_samples))
    if verdict is not None and verdict.kind not in (INCONCLUSIVE, RULE_ONLY):
        return (), (Attempt(WHOLE, verdict),)
    alone, why = _made(lambda: plan_alone(own, model, sample, examples))
    failed = ((ALONE, why), (WHOLE, verdict))
    planned = tuple(each for each in (alone, whole) if each is not None)
    return planned, tuple(Attempt(way, reason) for way, reason in failed if reason is not None)


def _made(make: Callable[[], Plan]) -> tuple[Plan | None, Verdict | None]:
    """A plan, or why there is none."""
    try:
        return make(), None
    except PlanError as error:
        return None, Verdict(error.kind, str(error))
    except Exception as error:  # one finding's failure must not hide the others
        return None, inconclusive(f"planning failed: {type(error).__name__}: {error}")


def _where(result: FileResult, found: Finding) -> str:
    return f"{os.path.relpath(result.path)}:{place(result, found.span)}"


def measured(tasks: Sequence[Task], chosen: Settings, watcher: Watcher) -> list[Result]:
    """The result of each task, in their order; runs what is planned. Raises MeasureError."""
    results = []
    runs = 2 * chosen.repeat * sum(len(task.plans) for task in tasks)
    with two_at_once(chosen, runs) as served:
        for task in tasks:
            results.append(_result(task, served, watcher))
            if task.plans:
                watcher.judged(task.label, results[-1].verdict.kind)
    return results


def _result(task: Task, served: Settings, watcher: Watcher) -> Result:
    found = task.finding
    if not task.plans:
        verdict = task.verdict or inconclusive("")
        return Result(found.code, found.name, task.place, found.message, verdict, attempts=task.unplanned)
    trials = all_tried(task.plans, served, watcher.ran)
    attempts = (*task.unplanned, *(trial.attempt for trial in trials))
    shown = decisive(trials)
    verdict = shown.verdict
    if verdict.kind == INCONCLUSIVE:
        verdict = replace(verdict, reason=_hinted(verdict.reason, (*shown.before, *shown.after)))
    ran = shown.plan.pair, shown.before, shown.after, shown.plan.alone, attempts
    return Result(found.code, found.name, task.place, found.message, verdict, *ran)


def _hinted(reason: str, runs: Sequence[Run]) -> str:
    """The reason with what to do about it, where the error is one of the usual ones."""
    errors = (run.error for run in runs if run.error is not None and run.error.type in reason)
    said = " ".join(f"{error.type} {error.message}" for error in errors)
    hint = next((hint for words, hint in HINTS if any(word in said for word in words)), None)
    if any(note.startswith(NO_TENSORBOARD) for run in runs for note in run.notes):
        hint = hint or "summaries are written where tensorboard is installed for the interpreter that --python names"
    if any(run.status == "memory" for run in runs):
        hint = MORE_MEMORY
    return f"{reason}; {hint}" if hint else reason
