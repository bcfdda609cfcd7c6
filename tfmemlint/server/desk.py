"""Answers to the server's questions, given in a process of its own: the linter, repairs and the estimate behind it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from tfmemlint.config.settings import Config, ConfigError
from tfmemlint.finding import Finding
from tfmemlint.fix.select import select_fixes
from tfmemlint.lint.baseline import BaselineError
from tfmemlint.lint.builtin_codes import OWN_RULES
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.registry import RegistryError, load_rules
from tfmemlint.project.projects import Projects
from tfmemlint.run.repair import Gate, repair
from tfmemlint.server.governed import Governed, leaves_out
from tfmemlint.server.questions import About, Estimated, Estimates, Failed, Lint, Linted, Page, Repair, Repaired

if TYPE_CHECKING:
    from tfmemlint.rule import Rule


class Desk:
    """Answers questions one after the other, and keeps what the next one may need: rules, configurations, and with the
    linter's own memory the modules that were parsed."""

    def __init__(self) -> None:
        self._governed = Governed()

    def answer(self, question: object) -> Any:
        """The answer to a question; a Failed where we fail at it."""
        try:
            if isinstance(question, Lint):
                return self._linted(question)
            if isinstance(question, Repair):
                return self._repaired(question)
            if isinstance(question, Estimates):
                return self._estimated(question)
            return about(question.code) if isinstance(question, Page) else Failed("no such question")
        except Exception as error:  # what one file does to us must not cost the next one its answer
            return Failed(f"{type(error).__name__}: {' '.join(str(error).split())}")

    def _linted(self, question: Lint) -> Linted:
        try:
            config, gate = self._ruling(question)
            if question.is_file and leaves_out(question.path, config):
                return Linted()
            result = _linter(question, config).lint(question.data, question.path)
            return Linted(gate.known(result))
        except (BaselineError, ConfigError, RegistryError) as error:
            return Linted(problem=str(error))

    def _repaired(self, question: Repair) -> Repaired:
        """The file after the repairs, made as `check --fix` makes them: each is tried, and taken back where it does not
        do what it says."""
        of = question.of
        try:
            config, gate = self._ruling(of)
            linter = _linter(of, msgspec.structs.replace(config, unsafe_fixes=False))
            done = repair(of.data, of.path, linter, gate, _chooser(question) if question.code else None)
        except (BaselineError, ConfigError, RegistryError) as error:
            return Repaired(of.data, notes=(str(error),))
        notes = (*(note.removeprefix(f"{of.path}: ") for note in done.notes), *(each.message for each in done.failed))
        return Repaired(done.data, len(done.applied), notes)

    def _estimated(self, question: Estimates) -> tuple[Estimated, ...]:
        from tfmemlint.server.estimates import estimated

        config, _ = self._ruling(question.of)
        if question.of.is_file and leaves_out(question.of.path, config):
            return ()
        return estimated(question.of, config, Projects(question.of.around.unsaved))

    def _ruling(self, question: Lint) -> tuple[Config, Gate]:
        """The configuration of a file and what its baseline lets through. Raises ConfigError and BaselineError."""
        around = question.around
        if question.is_file:
            config = self._governed.config(os.path.dirname(question.path), around.settings)
            return config, self._governed.gate(config)
        config = self._governed.config(around.folder or os.getcwd(), around.settings)
        return msgspec.structs.replace(config, follow_imports=False), Gate()


def _linter(question: Lint, config: Config) -> Linter:
    """A linter for one question. What is seen of a project is seen anew each time, for the disk may have changed."""
    return Linter(config, projects=Projects(question.around.unsaved))


def _chooser(question: Repair) -> Any:
    """Chooses the fixes of one rule, round after round, or that of one finding, once."""
    rounds = [True]

    def choose(findings: Sequence[Finding]) -> Sequence[Finding]:
        if question.span is None:
            return select_fixes(findings, unsafe=question.unsafe, fixable=lambda code: code == question.code)
        once = rounds and rounds.pop()
        chosen = [each for each in findings if each.code == question.code and each.span == question.span]
        return select_fixes(chosen[:1], unsafe=question.unsafe) if once else ()

    return choose


def about(code: str) -> About:
    """What is to be said of a code; nothing where no such rule is installed."""
    from tfmemlint.report.rule_page import measured, whole_page, why

    own = next((each for each in OWN_RULES if each.code == code), None)
    if own is not None:
        return About(own.text, page=f"# {own.code}: {own.name}\n\n{own.summary}\n\n{own.text}\n")
    rule: Rule | None = next((each for each in load_rules() if each.code == code), None)
    if rule is None:
        return About()
    made = About(why(rule), measured(rule))
    return replace(made, page=f"# {rule.code}: {rule.name}\n\n{rule.summary}\n\n{whole_page(rule)}\n")
