"""Where the time of a run goes, by stages and by rules, for `check --timings`.

Nothing is measured before `begin` puts a clock around the functions that a stage consists of: without it there is no
test and no call more. Seconds are those of the processor, which other programs do not stretch. A stage that begins
within another one stops the clock of that, so that all of them add up.

The model answers a question once and remembers it. What a rule asks first, all others have for nothing: so the time of
the answers is kept apart from that of the rules' own code, under the rule that happened to ask.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

DECODING, PARSING, INDEX, MODEL, RULES = "decoding", "parsing", "indexing", "model", "rules"
SPANS, COMMENTS, LOADING, READING, CACHE = "places", "comments", "loading rules", "reading", "cache"

OF_RUNS: Mapping[str, tuple[str, ...]] = {
    READING: ("tfmemlint.run.runner.read", "tfmemlint.run.file_task.read"),
    LOADING: ("tfmemlint.lint.linter.Linter.prepare", "tfmemlint.run.timings._load_engine"),
    CACHE: tuple(f"tfmemlint.run.cache.Cache.{name}" for name in ("__init__", "get", "put", "save")),
}
"""The functions of each stage of a run. They are imported when there is a clock."""
OF_FILES: Mapping[str, tuple[str, ...]] = {
    DECODING: ("tfmemlint.lint.engine.read_program",),
    PARSING: (
        "tfmemlint.lint.engine.parse", "tfmemlint.lint.engine.is_python", "tfmemlint.lint.first_pass.parse",
        "tfmemlint.lint.first_pass.read", "tfmemlint.syntax.first_pass.reading.Reading.module",
    ),
    INDEX: ("tfmemlint.syntax.tree.Tree.__init__",),
    SPANS: ("tfmemlint.syntax.spans.Spans.__init__",),
    COMMENTS: ("tfmemlint.lint.suppress.apply_suppressions",),
    MODEL: (
        "tfmemlint.syntax.program.Program.flow", "tfmemlint.model.evaluate.Evaluator.*",
        "tfmemlint.model.call_graph.CallGraph.*", "tfmemlint.model.contexts.Contexts.*",
        "tfmemlint.model.effects.Effects.order", "tfmemlint.model.effects.Order.before",
    ),
}  # fmt: skip
"""The same of what happens to a file that is linted, `*` for all public methods of a class: they are imported when
there is such a file, as without a clock."""


@dataclass(slots=True)
class RuleTime:
    """Seconds of a rule: of its own code and the queries in it, and of what it was the first to ask of the model (with
    other modules that were parsed for that). `files` counts those that woke it."""

    own: float = 0.0
    asked: float = 0.0
    files: int = 0


@dataclass(slots=True)
class Spent:
    """Seconds of processor time by stage, and by rule."""

    stages: dict[str, float] = field(default_factory=dict)
    rules: dict[tuple[str, str], RuleTime] = field(default_factory=dict)
    """By code and name."""

    def add(self, other: Spent) -> None:
        """Count what was spent elsewhere, too."""
        for stage, seconds in other.stages.items():
            self.stages[stage] = self.stages.get(stage, 0.0) + seconds
        for key, rule in other.rules.items():
            ours = self.rules.setdefault(key, RuleTime())
            ours.own, ours.asked, ours.files = ours.own + rule.own, ours.asked + rule.asked, ours.files + rule.files

    @property
    def seconds(self) -> float:
        """Of all stages together."""
        return sum(self.stages.values())


class Clock:
    """Adds up what the stages take. One for each process."""

    def __init__(self) -> None:
        self.spent = Spent()
        self.times_files = False
        self._open: list[str] = []
        self._since = 0.0
        self._thread = 0

    @property
    def stage(self) -> str:
        """The stage that runs now; empty where none does."""
        return self._open[-1] if self._open else ""

    def enter(self, stage: str) -> None:
        self._count()
        self._open.append(stage)

    def leave(self) -> None:
        self._count()
        self._open.pop()

    def _count(self) -> None:
        # The thread's own clock is finer than that of the process. Of two threads one waits for the other.
        now, thread = time.thread_time(), threading.get_ident()
        if self._open and thread == self._thread:
            stages, stage = self.spent.stages, self._open[-1]
            stages[stage] = stages.get(stage, 0.0) + now - self._since
        self._since, self._thread = now, thread

    @contextmanager
    def within(self, stage: str) -> Iterator[None]:
        """A stage that lasts as long as a `with` block."""
        self.enter(stage)
        try:
            yield
        finally:
            self.leave()

    def take(self) -> Spent:
        """What was spent since this was last asked."""
        found, self.spent = self.spent, Spent()
        return found

    @property
    def totals(self) -> tuple[float, float]:
        """Seconds so far: of the rules' code alone, and of all stages."""
        return self.spent.stages.get(RULES, 0.0), self.spent.seconds


_clock: Clock | None = None


def begin(more: Mapping[str, tuple[str, ...]] | None = None) -> Clock:
    """The clock of this process, around the functions of a run's stages and those of `more`."""
    global _clock
    if _clock is None:
        _clock = Clock()
    _time_all({**OF_RUNS, **(more or {})}, _clock)
    _clock.take()
    return _clock


def clock_of_files() -> Clock:
    """The clock of this process, around what happens to a file, too."""
    global _clock
    if _clock is None:
        _clock = Clock()
        _time_all(OF_RUNS, _clock)
    if not _clock.times_files:
        _clock.times_files = True
        _load_engine()
        _time_all(OF_FILES, _clock)
        _time_rules(_clock)
    return _clock


def _load_engine() -> None:
    for name in dict.fromkeys(name for names in OF_FILES.values() for name in names):
        _owner(name.rpartition(".")[0])


def _time_all(stages: Mapping[str, tuple[str, ...]], clock: Clock) -> None:
    for stage, names in stages.items():
        for name in names:
            _time(stage, name, clock)


def _time(stage: str, name: str, clock: Clock) -> None:
    """Put the clock around a function, a method, or all public methods of a class. Raises AttributeError for a name
    that nothing has any more."""
    path, _, last = name.rpartition(".")
    owner = _owner(path)
    for each in [last] if last != "*" else [key for key in vars(owner) if not key.startswith("_")]:
        function = inspect.getattr_static(owner, each)
        # The body of a generator does not run when it is called.
        if inspect.isfunction(function) and not inspect.isgeneratorfunction(function) and not _is_timed(function):
            setattr(owner, each, _timed(function, stage, clock))


def _owner(path: str) -> Any:
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)


def _is_timed(function: Callable[..., Any]) -> bool:
    return hasattr(function, "tfmemlint_stage")


def _timed(function: Callable[..., Any], stage: str, clock: Clock) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*arguments: Any, **named: Any) -> Any:
        if clock.stage == stage:  # one that calls itself
            return function(*arguments, **named)
        clock.enter(stage)
        try:
            return function(*arguments, **named)
        finally:
            clock.leave()

    timed.tfmemlint_stage = stage  # type: ignore[attr-defined]
    return timed


def _time_rules(clock: Clock) -> None:
    """Put the clock around what each handler finds."""
    dispatch: Any = importlib.import_module("tfmemlint.lint.dispatch")
    whole, runs = dispatch.dispatch, dispatch._runs

    path, seen = "", set[str]()  # of a file that is read twice, or has several programs, a rule is told once

    @functools.wraps(runs)
    def timed(file: Any, rules: Any) -> Iterator[tuple[Any, Iterator[Any]]]:
        nonlocal path
        if file.source.path != path:
            path = file.source.path
            seen.clear()
        for rule, found in runs(file, rules):
            time_of = clock.spent.rules.setdefault((rule.code, rule.name), RuleTime())
            time_of.files += rule.code not in seen
            seen.add(rule.code)
            yield rule, _timed_findings(found, time_of, clock)

    dispatch._runs = timed
    dispatch.dispatch = _timed(whole, "dispatch", clock)


def _timed_findings(found: Iterator[Any], time_of: RuleTime, clock: Clock) -> Iterator[Any]:
    while True:
        clock.enter(RULES)
        own, all_ = clock.totals
        try:
            finding = next(found)
        except StopIteration:
            return
        finally:
            clock.leave()
            after, everything = clock.totals
            time_of.own += after - own
            time_of.asked += (everything - all_) - (after - own)
        yield finding


def children() -> float:
    """Seconds of processor time of the processes that this one started and that have ended."""
    times = os.times()
    return times.children_user + times.children_system
