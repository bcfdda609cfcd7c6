"""What a run of `check` came to: its report and its exit code."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TextIO

from tfmemlint import __version__
from tfmemlint.cli import output
from tfmemlint.cli.output import tell
from tfmemlint.cli.usage import UsageError
from tfmemlint.config.discover import Problem
from tfmemlint.config.paths import leads_away
from tfmemlint.config.selectors import INTERNAL_ERROR
from tfmemlint.run.file_task import Outcome

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config
    from tfmemlint.finding import Finding
    from tfmemlint.lint.builtin_codes import OwnRule
    from tfmemlint.report import RuleInfo
    from tfmemlint.report.base import Verified
    from tfmemlint.rule import Rule


SHOWS_SUPPRESSED = frozenset(("text", "concise", "grouped", "json", "jsonl", "sarif"))
"""The formats that have a mark for findings that comments silence."""


@dataclass(slots=True)
class Session:
    """One run of `check`: its arguments, the configuration of the run as a whole, and what came out."""

    arguments: argparse.Namespace
    config: Config
    started: float
    outcomes: list[Outcome] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    verified: dict[tuple[str, Finding], Verified] = field(default_factory=dict)
    """What measuring showed of findings, by the file's path and the finding."""
    fixed: int = 0
    """Findings that were repaired on other machines."""
    places: dict[str, int] = field(default_factory=dict)
    """With --shard, the place of each file among those of all shards, by path."""
    names: str = ""
    """With --shard, what stands for these files."""

    def tell_problems(self) -> None:
        """One line on stderr for each problem; remarks that fail nothing only where not quiet, details with -v."""
        for problem in self.problems:
            if problem.detail and not self.arguments.verbose:
                continue
            if problem.fails or not self.arguments.quiet:
                tell(f"{'error' if problem.fails else 'warning'}: {problem.message}")


def report(session: Session, stream: TextIO | None = None) -> None:
    """Write the report where the arguments say, or to `stream`."""
    if session.config.show_fixes:
        for outcome in session.outcomes:
            for (code, name), count in sorted(Counter((each.code, each.name) for each in outcome.applied).items()):
                tell(f"fixed {count} x {code} {name} in {outcome.result.path}")
    path = session.arguments.output_file
    if path is None:
        with output.tolerant(stream or sys.stdout) as out:
            _render(session, out)
        return
    if "\0" in path:
        raise UsageError(f"--output-file {path!r}: no file has such a name")
    if leads_away(path):
        raise UsageError(f"--output-file {path}: a link to {os.path.realpath(path)}; name that file itself")
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            _render(session, file)
    except OSError as error:
        raise UsageError(f"--output-file {path}: {(error.strerror or str(error)).lower()}") from None


def _render(session: Session, stream: TextIO) -> None:
    from tfmemlint.report import ReportOptions

    arguments, config = session.arguments, session.config
    options = ReportOptions(
        color=output.is_colored(stream, arguments.color),
        width=output.columns(stream),
        elapsed=time.perf_counter() - session.started,
        failed=any(problem.fails for problem in session.problems),
        fixed=session.fixed + sum(len(outcome.applied) for outcome in session.outcomes),
        statistics=arguments.statistics,
        sort=arguments.sort,
        version=__version__,
        verified=session.verified,
    )
    results = [outcome.result for outcome in session.outcomes]
    if arguments.show_suppressed and config.output_format in SHOWS_SUPPRESSED:
        options = replace(options, silenced={(each.path, found) for each in results for found in each.silenced})
        results = [replace(each, findings=(*each.findings, *each.silenced)) for each in results]
    if config.output_format == "sarif":
        options = replace(options, rules=_described({found.code for each in results for found in each.findings}))
    output.write_report(config.output_format, results, stream, options, quiet=arguments.quiet)


def _described(codes: Collection[str]) -> dict[str, RuleInfo]:
    """What a report says about the rules with these codes, their pages too."""
    from tfmemlint.lint.builtin_codes import OWN_RULES
    from tfmemlint.lint.registry import load_rules
    from tfmemlint.report import RuleInfo
    from tfmemlint.report.rule_page import whole_page
    from tfmemlint.report.site import page_url

    pages: dict[str, tuple[OwnRule | Rule, str]] = {own.code: (own, own.text) for own in OWN_RULES if own.code in codes}
    pages |= {rule.code: (rule, whole_page(rule)) for rule in load_rules() if rule.code in codes}
    return {
        code: RuleInfo(code, rule.name, rule.summary, rule.severity, page, page_url(code) or "")
        for code, (rule, page) in pages.items()
    }


def exit_code(session: Session) -> int:
    """3 for a failure of the tool, 2 for what was asked and could not be done, 1 for findings that count, else 0."""
    failed = failure(session)
    if failed is not None:
        return failed
    arguments = session.arguments
    if arguments.exit_non_zero_on_fix and any(outcome.applied for outcome in session.outcomes):
        return 1
    counts = any(
        finding.severity.rank >= outcome.config.fail_on.rank
        for outcome in session.outcomes
        for finding in outcome.result.findings
    )
    changes = any(outcome.change for outcome in session.outcomes)
    return 1 if (counts or changes) and not arguments.exit_zero else 0


def failure(session: Session) -> int | None:
    codes = {finding.code for outcome in session.outcomes for finding in outcome.result.findings}
    if INTERNAL_ERROR in codes:
        return 3
    return 2 if any(problem.fails for problem in session.problems) else None
