"""`tfmemlint estimate`."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.cli import output
from tfmemlint.cli.estimate.answers import Older, Sized, answers, chosen, memory
from tfmemlint.cli.estimate.arguments import parse
from tfmemlint.cli.estimate.read import Step, Wanted, read
from tfmemlint.cli.output import tell
from tfmemlint.cli.usage import USAGE, UsageError
from tfmemlint.config.discover import Target, discover
from tfmemlint.config.paths import leads_away
from tfmemlint.config.settings import Configs
from tfmemlint.files.bounded_read import read_regular
from tfmemlint.project.projects import Projects
from tfmemlint.report.estimates import Options, Reported, render

if TYPE_CHECKING:
    from tfmemlint.cli.estimate.older import Revision

OVER, INTERNAL = 1, 3


def estimate_main(words: Sequence[str]) -> int:
    """Run `estimate` with these arguments; the exit code. Raises UsageError, ConfigError and GitError."""
    options = parse(words)
    command = _Command(options)
    found = discover(options.paths, Configs(isolated=options.isolated))
    for problem in found.problems:
        command.failed |= problem.fails
        tell(f"{'error' if problem.fails else 'warning'}: {problem.message}")
    with contextlib.ExitStack() as stack:
        if options.compare is not None:
            from tfmemlint.cli.estimate.older import Revision

            command.revision = stack.enter_context(Revision(options.compare))
        for target in found.targets:
            command.add(target)
    command.check_facts()
    command.measure()
    if not command.found and not (command.failed or command.crashed):
        _tell_nothing(options)
    _write(command.found, options)
    if command.crashed or command.failed:
        return INTERNAL if command.crashed else USAGE
    return OVER if any(each.over for each in command.found) else 0


class _Command:
    """One run: what was found so far, whether something could not be read, and whether we failed at some file."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.memory = memory(options)
        self.revision: Revision | None = None
        self.found: list[Reported] = []
        self._measured: list[Step] = []
        self.failed = self.crashed = False
        self._wanted = _wanted(options)
        self._expressions: set[str] = set()
        self._used: set[str] = set()
        self._projects = Projects()

    def add(self, target: Target) -> None:
        """Estimate the steps of one file. Raises GitError."""
        try:
            self._add(target)
        except Exception as error:  # one file must not keep the others from being estimated
            if self.revision is not None and self.revision.failed(error):
                raise
            self.crashed = True
            tell(f"internal error: {target.path}: the estimate failed: {type(error).__name__}: {error}")

    def _add(self, target: Target) -> None:
        path = target.path
        try:
            data = read_regular(path)
        except OSError as error:
            self._fail(f"error: {path}: cannot be read: {(error.strerror or str(error)).lower()}")
            return
        done = read(data, path, target.config, self._wanted, self._projects)
        for each in done.failures:
            self._fail(each)
        self._expressions |= done.expressions
        self._used |= done.used
        budget: Sized | None = self.memory
        if budget is None and target.config.gpu_memory is not None:
            budget = target.config.gpu_memory, None
        steps = chosen(done.steps, self.options)
        self.found += answers(path, steps, self.options, budget, self._older(target) if steps else None)
        if self.options.measure:
            self._measured += [each for each in steps for _ in self.options.batch or (None,)]

    def check_facts(self) -> None:
        """Say which of the values of `--set` were not needed. Raises UsageError for names that are not there."""
        from tfmemlint.estimate.facts.named import is_among

        for name in self._wanted.given.facts if self._expressions else ():
            if not is_among(name, self._expressions):
                raise UsageError(f"--set {name}: that is not in {', '.join(self.options.paths)}{self._near(name)}")
            if name not in self._used:
                tell(f"note: --set {name} was not needed: no step rests on it, or the code says what it is")

    def _near(self, name: str) -> str:
        near = difflib.get_close_matches(name, sorted(self._expressions), 3, 0.6)
        return f"; did you mean {' or '.join(near)}?" if near else ""

    def measure(self) -> None:
        """Run what was found, where that is asked for."""
        if self.options.measure:
            from tfmemlint.cli.estimate.measuring import measured

            self.found = measured(self.found, self._measured, self.options)

    def _older(self, target: Target) -> Older | None:
        if self.revision is None:
            return None
        old = self.revision.file(target.path, target.config)
        if old is None:
            return Older(self.revision.ref, [])
        done = read(old.data, old.path, old.config, self._wanted, Projects())
        return Older(self.revision.ref, [each.step for each in chosen(done.steps, self.options)])

    def _fail(self, message: str) -> None:
        self.failed = True
        tell(message)


def _wanted(options: argparse.Namespace) -> Wanted:
    from tfmemlint.estimate.facts import Given

    rows, shape = options.input or (None, None)
    batch = options.batch[0] if options.batch else rows
    given = Given(batch, shape, options.optimizer, options.precision, dict(options.facts))
    return Wanted(given, options.function, options.model)


def _tell_nothing(options: argparse.Namespace) -> None:
    """One line where there is no step. Raises UsageError where one was asked for by name."""
    where = ", ".join(options.paths)
    for option, name in (("--function", options.function), ("--model", options.model)):
        if name is not None:
            raise UsageError(f"{option} {name}: no training step and no predict of that is seen in {where}")
    tell(f"no training step and no predict was seen in {where}; name the file that calls fit or has the training loop")


def _write(found: Sequence[Reported], options: argparse.Namespace) -> None:
    """Write the report where the arguments say. Raises UsageError where that cannot be."""
    path = options.output_file
    if path is None:
        with output.tolerant(sys.stdout) as stream:
            shown = Options(output.columns(stream), output.is_colored(stream), options.per_layer)
            stream.write(render(options.output_format, found, shown))
        return
    if "\0" in path:
        raise UsageError(f"--output-file {path!r}: no file has such a name")
    if leads_away(path):
        raise UsageError(f"--output-file {path}: a link to {os.path.realpath(path)}; name that file itself")
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(render(options.output_format, found, Options(per_layer=options.per_layer)))
    except OSError as error:
        raise UsageError(f"--output-file {path}: {(error.strerror or str(error)).lower()}") from None
