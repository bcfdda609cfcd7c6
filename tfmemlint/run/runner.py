"""Many files: which need to be read again, with which configuration, in one process or in several."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.config.discover import Problem, Target
from tfmemlint.config.settings import Config, ConfigError
from tfmemlint.files.bounded_read import digest_of
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.recursion import FORKS, with_deep_stack
from tfmemlint.lint.result import FileResult
from tfmemlint.run.file_task import Options, Outcome, Tick, Work, read
from tfmemlint.run.repair import is_applicable
from tfmemlint.text.prefilter import mentions_tensorflow

if TYPE_CHECKING:
    from tfmemlint.run.cache import Cache

_WORTH_A_PROCESS = 200_000
"""Bytes of source from which another process is worth its start."""
_WORTH_A_CACHE = 400
"""Files from which the cache is worth its opening before any of them is known to use TensorFlow."""


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
    from tfmemlint.lint.registry import has_selectors

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
        digests: dict[int, bytes] = {}
        size = 0
        many = len(targets) > _WORTH_A_CACHE
        for index, target in enumerate(targets):
            data: bytes | Outcome = b""
            outcome = self._unread(target, many)
            if outcome is None:
                data = read(target)
                outcome = self._unreadable(data) if isinstance(data, Outcome) else self._at_once(target, data)
            if outcome is not None:
                done[index] = outcome
            elif isinstance(data, bytes):
                pending.append((index, target))
                size += len(data)
                if self.options.executor:
                    digests[index] = digest_of(data)
        usable = self._prepare(targets, pending)
        pending = [(index, target) for index, target in pending if id(target.config) in usable]
        for (index, target), outcome in zip(pending, self._outcomes(pending, size, digests), strict=True):
            done[index] = outcome
            if outcome.digest and not outcome.problems and (cache := self._cache(target.config)):
                cache.put(target.path, outcome.digest, outcome.result)
        for cache in self.caches.values():
            cache.save()
            if cache.refused:
                words = f"{cache.folder}: the cache is not used: {cache.refused}"
                self.problems.append(Problem(words, fails=False, detail=not cache.is_named))
        return [done[index] for index in sorted(done) if id(done[index].config) in usable], self.problems

    def _unreadable(self, outcome: Outcome) -> Outcome:
        """The outcome for a file that cannot be opened, as its configuration wants it told."""
        try:
            return replace(outcome, result=Linter(outcome.config).settled(outcome.result))
        except ConfigError:  # told where the configuration is used
            return outcome

    def _unread(self, target: Target, many: bool) -> Outcome | None:
        """The outcome for a file that need not even be read."""
        # To open the cache takes the time of reading hundreds of files, and most of them need no more.
        cache = self._cache(target.config) if many else self.caches.get(id(target.config))
        result = cache.unread(target.path) if cache else None
        return Outcome(result, target.config) if result is not None else None

    def _at_once(self, target: Target, data: bytes) -> Outcome | None:
        """The outcome for a file that need not be linted: it has no TensorFlow in it or is as it was."""
        if not mentions_tensorflow(data):
            if known := self.caches.get(id(target.config)):
                known.plain(target.path)
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
            from tfmemlint.lint.registry import fingerprint
            from tfmemlint.run.cache import Cache

            found = self.caches[id(config)] = Cache(config, fingerprint())
        return found

    def _prepare(self, targets: Sequence[Target], pending: Sequence[tuple[int, Target]]) -> set[int]:
        """Load the rules for the configurations that need them, and check those that name rules; the usable ones."""
        from tfmemlint.lint.registry import has_selectors

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

    def _outcomes(
        self, pending: Sequence[tuple[int, Target]], size: int, digests: Mapping[int, bytes]
    ) -> list[Outcome]:
        work = Work([target for _, target in pending], self.options)
        if not self.options.executor or not pending:
            return self._outcomes_here(work, size)
        from tfmemlint.run.remote import on_fleet

        remote = on_fleet(work, [digests[index] for index, _ in pending], self.tick)
        self.problems += remote.problems
        here = Work([work.targets[number] for number in remote.left], self.options)
        done = {**remote.done, **dict(zip(remote.left, self._outcomes_here(here, size), strict=True))}
        return [done[number] for number in sorted(done)]

    def _outcomes_here(self, work: Work, size: int) -> list[Outcome]:
        pending = work.targets
        jobs = min(self.options.jobs or min(_processors(), size // _WORTH_A_PROCESS + 1), len(pending))
        # Whoever asks for one job has it in this process, where it can be watched.
        if jobs > 1 or (jobs and FORKS and not self.options.jobs):
            from tfmemlint.lint.registry import load_rules
            from tfmemlint.run.pool import in_processes

            if jobs > 1:
                load_rules()  # else each process imports them for itself
            return in_processes(work, jobs, self.tick)
        return with_deep_stack(lambda: work.all(self.tick)) if pending else []


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
