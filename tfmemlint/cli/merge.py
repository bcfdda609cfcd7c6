"""`tfmemlint merge`: the parts of a run, from several machines, as the report of one."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from tfmemlint.cli.arguments import Parser, add_report
from tfmemlint.cli.parts import Part, outcomes_of, read_part
from tfmemlint.cli.session import Session, exit_code, report
from tfmemlint.cli.usage import UsageError
from tfmemlint.config.discover import Problem
from tfmemlint.config.settings import Config
from tfmemlint.lint.result import FileResult
from tfmemlint.report.base import plural
from tfmemlint.run.file_task import Outcome

_DESCRIPTION = """Merge what the shards of a run found (`check --shard I/N --part FILE`) into the report of one run. The
exit code is that of one run; 2 where a shard is missing, as is told on stderr."""


def merge_parser() -> Parser:
    """The parser of `merge`."""
    parser = Parser("tfmemlint merge", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("parts", nargs="+", metavar="FILE", help="what --part has written, in any order")
    add_report(parser.add_argument_group("output"))
    parser.add_argument("--exit-zero", action="store_true", help="exit 0 whatever is found")
    parser.add_argument("-q", "--quiet", action="store_true", help="print findings and errors only")
    parser.add_argument("-v", "--verbose", action="store_true", help="say more")
    return parser


def merge(words: Sequence[str]) -> int:
    """Merge parts; the exit code. Raises UsageError for parts that do not belong together."""
    arguments = merge_parser().parse_args(words)
    arguments.exit_non_zero_on_fix = False
    problems: list[Problem] = []
    parts: dict[int, tuple[str, Part, list[tuple[int, Outcome]]]] = {}
    first: tuple[str, Part] | None = None
    for path in arguments.parts:
        try:
            made = read_part(path)
            outcomes = outcomes_of(made)
        except ValueError as error:
            problems.append(Problem(f"{path}: {error}"))
            continue
        first = first or (path, made)
        _require_alike(path, made, *first)
        number = made.shard[0]
        if number in parts:
            raise UsageError(f"{path}: shard {number} again, after {parts[number][0]}; leave one of them out")
        parts[number] = path, made, outcomes
    if first is None:
        session = _session(arguments, [], problems)
        session.tell_problems()
        return exit_code(session)
    missing = [number for number in range(1, first[1].shard[1] + 1) if number not in parts]
    if missing:
        named = ", ".join(f"{number}/{first[1].shard[1]}" for number in missing)
        problems.append(Problem(f"the report is not whole: {plural(len(missing), 'shard')} did not come: {named}"))
    session = _session(arguments, [made for _, made, _ in parts.values()], problems)
    found = sorted((pair for _, _, outcomes in parts.values() for pair in outcomes), key=lambda pair: pair[0])
    skipped = Outcome(FileResult("", skipped=True), Config())
    session.outcomes = [outcome for _, outcome in found]
    session.outcomes += [skipped] * sum(made.skipped for _, made, _ in parts.values())
    session.tell_problems()
    report(session)
    return exit_code(session)


def _session(arguments: argparse.Namespace, parts: Sequence[Part], problems: list[Problem]) -> Session:
    if arguments.show_suppressed and not all(part.shows_suppressed for part in parts):
        raise UsageError("--show-suppressed: the shards ran without; run them with it, too")
    kind: Any = arguments.output_format or (parts[0].output_format if parts else "text")
    config = Config(output_format=kind)
    # The time is that of all machines together.
    session = Session(arguments, config, time.perf_counter() - sum(part.elapsed for part in parts))
    told = [Problem(*problem) for part in parts for problem in part.problems]
    session.problems = [*dict.fromkeys(told), *problems]
    session.fixed = sum(part.fixed for part in parts)
    return session


def _require_alike(path: str, part: Part, first_path: str, first: Part) -> None:
    """Raises UsageError for parts of two runs."""
    for name, what in (
        ("version", "another version of tfmemlint"), ("rules", "other rules, or another version of Python"),
        ("names", "other files: do all machines have the same checkout and options?"),
    ):  # fmt: skip
        if getattr(part, name) != getattr(first, name):
            raise UsageError(f"{path}: of another run than {first_path}: {what}")
    if part.shard[1] != first.shard[1]:
        counts = f"one of {part.shard[1]} shards, and there of {first.shard[1]}"
        raise UsageError(f"{path}: of another run than {first_path}: {counts}")
