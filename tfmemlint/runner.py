"""Many files: read, linted and repaired in one process or in several, what goes wrong in one kept from the others."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tfmemlint.cache import Cache, digest
from tfmemlint.config import Config, ConfigError
from tfmemlint.discover import Problem, Target
from tfmemlint.engine import FileResult, unreadable
from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.linter import Linter
from tfmemlint.prefilter import mentions_tensorflow
from tfmemlint.repair import Gate, Repaired, is_applicable, repair, repair_file

RECURSION_LIMIT = 50_000
_STACK_BYTES = 256 << 20
_WORTH_A_PROCESS = 200_000
"""Bytes of source from which another process is worth its start."""

Answer = TypeVar("Answer")
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


@dataclass(frozen=True, slots=True)
class Options:
    """How a run goes about its files. `preview` makes the repairs in memory only; `gates` go by configuration."""

    jobs: int = 0
    """Processes to use; 0 for as many as there are processors and work for."""
    cache: bool = False
    """Whether results of earlier runs are used and kept."""
    preview: bool = False
    gates: tuple[tuple[Config, Gate], ...] = ()

    def gate(self, config: Config) -> Gate:
        """The gate of a configuration's files."""
        return next((gate for each, gate in self.gates if each is config), Gate())


def run(
    targets: Sequence[Target], options: Options, tick: Tick = lambda done, total: None
) -> tuple[list[Outcome], list[Problem]]:
    """Lint the targets; the outcomes are in their order, without those whose configuration cannot be used.

    `tick` is told after each file how many are done and how many there are to lint.
    Raises RegistryError when the rules cannot be loaded and ConfigError for what the command line selects wrongly.
    """
    return _Run(options, tick).run(targets)


def run_bytes(target: Target, data: bytes, options: Options) -> Outcome:
    """Lint bytes that are not on disk, and with `preview` repair them.

    Raises RegistryError and ConfigError when the rules or the selection cannot be used.
    """
    from tfmemlint.registry import has_selectors

    if mentions_tensorflow(data) or has_selectors(target.config):
        Linter(target.config).prepare()
    return with_deep_stack(lambda: Work([target], options).of_bytes(target, data))


class _Run:
    def __init__(self, options: Options, tick: Tick) -> None:
        self.options = options
        self.tick = tick
        self.caches: dict[int, Cache] = {}
        self.problems: list[Problem] = []

    def run(self, targets: Sequence[Target]) -> tuple[list[Outcome], list[Problem]]:
        done: dict[int, Outcome] = {}
        pending: list[tuple[int, Target]] = []
        size = 0
        for index, target in enumerate(targets):
            data = _read(target)
            outcome = data if isinstance(data, Outcome) else self._at_once(target, data)
            if outcome is not None:
                done[index] = outcome
            elif isinstance(data, bytes):
                pending.append((index, target))
                size += len(data)
        usable = self._prepare(targets, pending)
        pending = [(index, target) for index, target in pending if id(target.config) in usable]
        for (index, target), outcome in zip(pending, self._outcomes(pending, size), strict=True):
            done[index] = outcome
            if outcome.digest and not outcome.problems and (cache := self._cache(target.config)):
                cache.put(target.path, outcome.digest, outcome.result)
        for cache in self.caches.values():
            cache.save()
        return [done[index] for index in sorted(done) if id(done[index].config) in usable], self.problems

    def _at_once(self, target: Target, data: bytes) -> Outcome | None:
        """The outcome for a file that need not be linted: it has no TensorFlow in it or is as it was."""
        if not mentions_tensorflow(data):
            return Outcome(FileResult(target.path, skipped=True), target.config)
        cache = self._cache(target.config)
        result = cache.get(target.path, data) if cache else None
        if result is None:
            return None
        if self._repairs(target.config):
            unsafe = target.config.unsafe_fixes
            if any(is_applicable(finding, unsafe=unsafe) for finding in result.findings):
                return None
        return Outcome(result, target.config)

    def _repairs(self, config: Config) -> bool:
        return config.fix or self.options.preview

    def _cache(self, config: Config) -> Cache | None:
        if not self.options.cache:
            return None
        found = self.caches.get(id(config))
        if found is None:
            from tfmemlint.registry import fingerprint

            found = self.caches[id(config)] = Cache(config, fingerprint())
        return found

    def _prepare(self, targets: Sequence[Target], pending: Sequence[tuple[int, Target]]) -> set[int]:
        """Load the rules for the configurations that need them, and check those that name rules; the usable ones."""
        from tfmemlint.registry import has_selectors

        configs = {id(target.config): target.config for target in targets}
        needed = {id(target.config) for _, target in pending}
        usable = set(configs)
        for key, config in configs.items():
            cache = self.caches.get(key)
            if key not in needed and (not has_selectors(config) or (cache is not None and cache.exists)):
                continue
            try:
                Linter(config).prepare()
            except ConfigError as error:
                if not error.path:  # the command line's own
                    raise
                usable.discard(key)
                self.caches.pop(key, None)
                self.problems.append(Problem(str(error)))
        self.problems = list(dict.fromkeys(self.problems))
        return usable

    def _outcomes(self, pending: Sequence[tuple[int, Target]], size: int) -> list[Outcome]:
        work = Work([target for _, target in pending], self.options)
        jobs = self.options.jobs or min(_processors(), size // _WORTH_A_PROCESS + 1)
        if min(jobs, len(pending)) > 1:
            from tfmemlint.processes import in_processes

            return in_processes(work, min(jobs, len(pending)), self.tick)
        return with_deep_stack(lambda: work.all(self.tick)) if pending else []


class Work:
    """What is done with each of some files, by their number; the same in this process and in others."""

    def __init__(self, targets: Sequence[Target], options: Options) -> None:
        self.targets = targets
        self.options = options
        self._linters: dict[int, Linter] = {}

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
        data = _read(target)
        return data if isinstance(data, Outcome) else self.of_bytes(target, data)

    def of_bytes(self, target: Target, data: bytes) -> Outcome:
        """The outcome for a file that holds these bytes."""
        try:
            return self._done(target, data)
        except Exception as error:  # one file must not keep the others from being checked
            return failed(target, f"{type(error).__name__}: {error}")

    def _linter(self, config: Config) -> Linter:
        found = self._linters.get(id(config))
        if found is None:
            found = self._linters[id(config)] = Linter(config)
        return found

    def _done(self, target: Target, data: bytes) -> Outcome:
        from tfmemlint.diff_base import DiffBaseError

        config, path = target.config, target.path
        linter = self._linter(config)
        if not config.fix and not self.options.preview:
            return Outcome(linter.lint(data, path), config, digest=digest(data))
        gate = self.options.gate(config)
        if self.options.preview:
            done = repair(data, path, linter, gate)
            outcome = _outcome(done, done.before, config, digest(data))
            if done.data == data:
                return outcome
            after = replace(done.result, findings=(*done.result.findings, *done.failed))
            return replace(outcome, change=(data, done.data), after=after)
        try:
            done = repair_file(data, path, linter, gate)
        except (OSError, DiffBaseError) as error:
            problem = Problem(f"{path}: not repaired: {getattr(error, 'strerror', None) or error}")
            return Outcome(linter.lint(data, path), config, problems=(problem,), digest=digest(data))
        return _outcome(done, done.result, config, digest(done.data))


def _outcome(done: Repaired, result: FileResult, config: Config, of: bytes) -> Outcome:
    """The outcome of a repair; fixes that failed count among the findings, those that the file refused are told."""
    problems = tuple(Problem(note, fails=False) for note in done.notes)
    result = replace(result, findings=(*result.findings, *done.failed))
    return Outcome(result, config, done.applied, problems=problems, digest=of)


def failed(target: Target, reason: str) -> Outcome:
    """The outcome for a file at which the tool itself failed: one TFM000."""
    message = f"the file could not be checked: {' '.join(reason.split())}"
    finding = Finding("TFM000", "internal-error", Severity.ERROR, message, Span(0, 0))
    return Outcome(FileResult(target.path, None, (finding,)), target.config)


def _read(target: Target) -> bytes | Outcome:
    try:
        with open(target.path, "rb") as stream:
            return stream.read()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return Outcome(unreadable(target.path, f"the file cannot be read: {reason}"), target.config)


def with_deep_stack(function: Callable[[], Answer]) -> Answer:
    """Run a function where deeply nested code can be parsed and walked; libcst and we recurse into the tree."""
    answers: list[Answer] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            answers.append(function())
        except BaseException as error:
            errors.append(error)

    old = _deepen()
    thread = threading.Thread(target=call, daemon=True)
    try:
        thread.start()
    finally:
        threading.stack_size(old)
    thread.join()
    if errors:
        raise errors[0]
    return answers[0]


def _deepen() -> int:
    """Raise the recursion limit and the stack size of new threads; returns the old stack size.

    The garbage collector is made to wait: a syntax tree is many objects and none of them garbage, and looking for it at
    the usual rate takes a tenth of the time.
    """
    gc.set_threshold(50_000, 20, 100)
    sys.setrecursionlimit(max(RECURSION_LIMIT, sys.getrecursionlimit()))
    try:
        return threading.stack_size(_STACK_BYTES)
    except (ValueError, RuntimeError):  # a system that does not let threads have this much
        return threading.stack_size()


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
