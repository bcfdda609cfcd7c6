"""What is done with one file of a run: read, linted, repaired, and what went wrong with it kept from the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfmemlint.config.discover import Problem, Target
from tfmemlint.config.settings import Config
from tfmemlint.files.bounded_read import digest_of, read_regular
from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.result import FileResult, unreadable
from tfmemlint.run.repair import Gate, Repaired, repair, repair_file

if TYPE_CHECKING:
    from tfmemlint.run.timings import Spent

Tick = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave for one file: all that is left to find in it, and what was repaired."""

    result: FileResult
    config: Config
    applied: tuple[Finding, ...] = ()
    change: tuple[bytes, bytes] | None = None
    """The bytes before and after the repairs, where they were to be shown and not written."""
    after: FileResult | None = None
    """What is left to find after a `change`; `result` speaks of the bytes before it."""
    problems: tuple[Problem, ...] = ()
    digest: bytes = b""
    """A hash of the bytes that the result speaks of."""
    spent: Spent | None = None
    """Where the time for this file went, if that was asked for."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a run goes about its files. `preview` makes the repairs in memory only; `gates` go by configuration."""

    jobs: int = 0
    """Processes to use; 0 for as many as there are processors and work for."""
    cache: bool = False
    """Whether results of earlier runs are used and kept."""
    preview: bool = False
    gates: tuple[tuple[Config, Gate], ...] = ()
    executor: str = ""
    """The cluster whose workers lint the files; empty for none."""
    timings: bool = False
    """Whether outcomes say where the time went."""

    def gate(self, config: Config) -> Gate:
        """The gate of a configuration's files."""
        return next((gate for each, gate in self.gates if each is config), Gate())


class Work:
    """What is done with each of some files, by their number; the same in this process and in others. `linters` has
    those of earlier files, by the identity of their configuration."""

    def __init__(self, targets: Sequence[Target], options: Options, linters: dict[int, Linter] | None = None) -> None:
        self.targets = targets
        self.options = options
        self._linters: dict[int, Linter] = {} if linters is None else linters

    def all(self, tick: Tick) -> list[Outcome]:
        """The outcomes for all files."""
        done: list[Outcome] = []
        for number in range(len(self.targets)):
            done.append(self.one(number))
            tick(len(done), len(self.targets))
        return done

    def one(self, number: int) -> Outcome:
        """The outcome for one file; never raises for what is in it."""
        target = self.targets[number]
        if self.options.timings:
            return self._timed(target)
        data = read(target)
        return data if isinstance(data, Outcome) else self.of_bytes(target, data)

    def _timed(self, target: Target) -> Outcome:
        from tfmemlint.run.timings import clock_of_files

        clock = clock_of_files()
        before = clock.take()
        data = read(target)
        outcome = data if isinstance(data, Outcome) else self.of_bytes(target, data)
        outcome = replace(outcome, spent=clock.take())
        clock.spent = before
        return outcome

    def of_bytes(self, target: Target, data: bytes) -> Outcome:
        """The outcome for a file that holds these bytes."""
        try:
            return self._done(target, data)
        except Exception as error:  # one file must not keep the others from being checked
            return failed(target, f"{type(error).__name__}: {error}")

    def _linter(self, config: Config) -> Linter:
        found = self._linters.get(id(config))
        if found is None:
            from tfmemlint.project.projects import Projects

            found = self._linters[id(config)] = Linter(config, projects=None if config.fix else Projects())
        return found

    def _done(self, target: Target, data: bytes) -> Outcome:
        from tfmemlint.lint.git import GitError

        config, path = target.config, target.path
        linter = self._linter(config)
        if not config.fix and not self.options.preview:
            return Outcome(linter.lint(data, path), config, digest=digest_of(data))
        gate = self.options.gate(config)
        if self.options.preview:
            done = repair(data, path, linter, gate)
            outcome = _outcome(done, done.before, config, digest_of(data))
            if done.data == data:
                return outcome
            after = replace(done.result, findings=(*done.result.findings, *done.failed))
            return replace(outcome, change=(data, done.data), after=after)
        try:
            done = repair_file(data, path, linter, gate)
        except (OSError, GitError) as error:
            problem = Problem(f"{path}: not repaired: {getattr(error, 'strerror', None) or error}")
            return Outcome(linter.lint(data, path), config, problems=(problem,), digest=digest_of(data))
        return _outcome(done, done.result, config, digest_of(done.data))


def _outcome(done: Repaired, result: FileResult, config: Config, of: bytes) -> Outcome:
    """The outcome of a repair; fixes that failed count among the findings, those that the file refused are told."""
    problems = tuple(Problem(note, fails=False) for note in done.notes)
    failures = (*result.failures, *done.failed)
    result = replace(result, findings=(*result.findings, *done.failed), failures=failures)
    return Outcome(result, config, done.applied, problems=problems, digest=of)


def failed(target: Target, reason: str) -> Outcome:
    """The outcome for a file at which the tool itself failed: one TFM000."""
    finding = failure(reason)
    return Outcome(FileResult(target.path, None, (finding,), failures=(finding,)), target.config)


def failure(reason: str) -> Finding:
    """The TFM000 for a file at which the tool itself failed."""
    message = f"the file could not be checked: {' '.join(reason.split())}"
    return Finding("TFM000", "internal-error", Severity.ERROR, message, Span(0, 0))


def read(target: Target) -> bytes | Outcome:
    """The bytes of a file, or the outcome that says why there are none."""
    try:
        return read_regular(target.path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return Outcome(unreadable(target.path, f"the file cannot be read: {reason}"), target.config)
