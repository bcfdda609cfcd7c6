"""Files linted by the workers of a cluster, with the same findings as here.

Workers read the files themselves, at the same paths: modules of a project are followed from one to the next, and which
ones shows only on the way. So they need the same files, by a shared file system or a copy. That is not taken on trust:
what a worker says of a file counts only if the bytes of the file, and of all others that had a part in it, are those
that are here. All else is linted here, and so is what no worker could end: nothing is missing from a report.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tfmemlint.config.discover import Problem, Target
from tfmemlint.config.settings import Config
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.recursion import with_deep_stack
from tfmemlint.run.conditions import Conditions
from tfmemlint.run.file_task import Options, Outcome, Tick, Work
from tfmemlint.run.fleet import Fleet
from tfmemlint.run.pool import processor_time
from tfmemlint.run.seen import Seen

_BYTES, _FILES = 200_000, 20
"""What one job of a worker holds, at most, but for a single larger file."""


@dataclass(slots=True)
class Remote:
    """What the workers did: outcomes by number, the numbers that are left to do here, and what to tell of it."""

    done: dict[int, Outcome] = field(default_factory=dict)
    left: list[int] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def on_fleet(work: Work, digests: Sequence[bytes], tick: Tick) -> Remote:
    """Have the workers of the cluster that the options name do what they can. `digests` are those of the files' bytes
    here. Raises FleetError where there is no such cluster."""
    targets, options = work.targets, replace(work.options, executor="")
    # Repairs are written here, where somebody sees them.
    given = [number for number, target in enumerate(targets) if not target.config.fix]
    found = Remote(left=[number for number in range(len(targets)) if targets[number].config.fix])
    batches = list(_batches(given, targets))
    here, unlike, run = os.getcwd(), 0, os.urandom(8).hex()
    same = _Same()
    with Fleet(work.options.executor, work.options.jobs) as fleet:
        jobs = [(run, here, [targets[number] for number in batch], options) for batch in batches]
        for job, answer in fleet.each(lint_files, jobs):
            batch = batches[job]
            if isinstance(answer, BaseException):
                words = f"{_named(batch, targets)}: no worker could do it and it was done here: {answer}"
                found.problems.append(Problem(words, fails=False))
                found.left += batch
                continue
            for number, outcome in zip(batch, answer, strict=True):
                if outcome.digest == digests[number] and same.holds(outcome, targets[number].config):
                    found.done[number] = replace(outcome, config=targets[number].config)
                else:
                    unlike += 1
                    found.left.append(number)
            tick(len(found.done), len(targets))
    if unlike:
        words = f"{unlike} files are not the same on the workers and were linted here; the workers need the same files"
        found.problems.append(Problem(words, fails=False))
    found.left.sort()
    return found


def _batches(numbers: Sequence[int], targets: Sequence[Target]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for number in numbers:
        if batch and (size > _BYTES or len(batch) >= _FILES):
            yield batch
            batch, size = [], 0
        batch.append(number)
        with contextlib.suppress(OSError):
            size += os.path.getsize(targets[number].path)
    if batch:
        yield batch


def _named(batch: Sequence[int], targets: Sequence[Target]) -> str:
    more = f" and {len(batch) - 1} more" if len(batch) > 1 else ""
    return f"{targets[batch[0]].path}{more}"


class _Same:
    """Whether other files that had a part in a result are here as they were there."""

    def __init__(self) -> None:
        self._seen = Seen(os.path.abspath)
        self._conditions: dict[int, Conditions] = {}
        self._answers: dict[tuple[int, str, bytes | None], bool] = {}

    def holds(self, outcome: Outcome, config: Config) -> bool:
        conditions = self._conditions.get(id(config))
        if conditions is None:
            root = config.resolve(config.project_root) if config.project_root else None
            conditions = self._conditions[id(config)] = Conditions(self._seen, os.path.abspath, root)
        for key, was in outcome.result.rests_on.items():
            question = id(config), key, was
            if question not in self._answers:
                self._answers[question] = conditions.is_as(key, was)
            if not self._answers[question]:
                return False
        return True


# -- on a worker ------------------------------------------------------------------------------------------------------

_ALONE = threading.Lock()
"""A worker may have several threads; the linter has one, and the time limit is one of the process."""


class _Linters:
    """The linters of the run that this worker is at, which keep what they see of projects until the next run."""

    def __init__(self) -> None:
        self.run = ""
        self.configs: list[Config] = []
        self.linters: dict[int, Linter] = {}

    def config(self, run: str, config: Config) -> Config:
        """The configuration equal to this one that came first."""
        if run != self.run:
            self.run, self.configs, self.linters = run, [], {}
        for each in self.configs:
            if each == config:
                return each
        self.configs.append(config)
        return config


_LINTERS = _Linters()


def lint_files(run: str, folder: str, targets: Sequence[Target], options: Options) -> list[Outcome]:
    """The outcomes for some files, with relative paths from `folder`. Raises FileNotFoundError where there is no such
    folder. A file at which the process dies costs the worker, and what the scheduler then makes of it."""
    with _ALONE, _inside(folder):
        known = [Target(target.path, _LINTERS.config(run, target.config)) for target in targets]
        work = Work(known, options, _LINTERS.linters)
        return [_one(work, number) for number in range(len(known))]


def _one(work: Work, number: int) -> Outcome:
    with processor_time(work.targets[number].path):
        return with_deep_stack(lambda: work.one(number))


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
