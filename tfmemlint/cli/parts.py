"""What one shard of a run found, written to a file that `tfmemlint merge` takes: all that a report may need."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from tfmemlint import __version__
from tfmemlint.cli.usage import UsageError
from tfmemlint.config.discover import Problem
from tfmemlint.config.paths import is_below, leads_away
from tfmemlint.config.settings import Config
from tfmemlint.files.bounded_read import read_regular
from tfmemlint.files.replace_file import replace_file
from tfmemlint.finding import Elsewhere, Finding, Severity
from tfmemlint.lint.result import FileResult
from tfmemlint.run.file_task import Outcome

KIND = "tfmemlint part 1"
_LIMIT = 1 << 30
"""Bytes of a part."""


class Part(msgspec.Struct, kw_only=True):
    """What one shard found. Paths are bytes, as files may be named by anything; `folder` is what relative ones start
    from. `names` stands for all files of the run, of which `count` were in this shard."""

    kind: str
    version: str
    rules: str
    shard: tuple[int, int]
    names: str
    folder: bytes
    elapsed: float
    output_format: str
    shows_suppressed: bool = False
    fixed: int = 0
    skipped: int = 0
    """Files that do not use TensorFlow."""
    problems: list[tuple[str, bool, bool]] = []
    """Message, whether it fails the run, whether it is a detail."""
    files: list[PartFile] = []


class PartFile(msgspec.Struct, kw_only=True):
    """What was found in one file; `place` is its place in the whole run, `data` its bytes where they are shown."""

    place: int
    path: bytes
    findings: tuple[Finding, ...] = ()
    silenced: tuple[Finding, ...] = ()
    suppressed: int = 0
    data: bytes | None = None
    unread_at: tuple[int, int] | None = None
    fail_on: str = "warning"


def part(
    outcomes: Sequence[Outcome], problems: Iterable[Problem], *, places: dict[str, int], shard: tuple[int, int],
    names: str, elapsed: float, config: Config, shows_suppressed: bool,
) -> Part:  # fmt: skip
    """The part of a run over these files; `places` has the place of each in the whole run, by path."""
    from tfmemlint.lint.registry import fingerprint

    read = [outcome for outcome in outcomes if not outcome.result.skipped]
    return Part(
        kind=KIND, version=__version__, rules=fingerprint(), shard=shard, names=names, elapsed=elapsed,
        folder=os.fsencode(os.getcwd()), output_format=config.output_format, shows_suppressed=shows_suppressed,
        fixed=sum(len(outcome.applied) for outcome in outcomes), skipped=len(outcomes) - len(read),
        problems=[(each.message, each.fails, each.detail) for each in dict.fromkeys(problems)],
        files=[_file(outcome, places[outcome.result.path]) for outcome in read],
    )  # fmt: skip


def _file(outcome: Outcome, place: int) -> PartFile:
    result = outcome.result
    is_shown = result.source is not None and (result.findings or result.silenced)
    return PartFile(
        place=place, path=os.fsencode(result.path), findings=result.findings, silenced=result.silenced,
        suppressed=result.suppressed, data=result.source.data if result.source is not None and is_shown else None,
        unread_at=result.place, fail_on=outcome.config.fail_on.value,
    )  # fmt: skip


def write_part(path: str, made: Part) -> None:
    """Write a part. Raises UsageError where it cannot be written."""
    if "\0" in path or leads_away(path):
        raise UsageError(f"--part {path!r}: it is no name of a file, or a link to elsewhere; name the file itself")
    try:
        replace_file(path, msgspec.json.encode(made))
    except OSError as error:
        raise UsageError(f"--part {path}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeError as error:
        raise UsageError(f"--part {path}: {error}") from None


def read_part(path: str) -> Part:
    """Read a part. Raises ValueError, with words for users, for a file that is none."""
    try:
        data = read_regular(path, _LIMIT)
    except OSError as error:
        raise ValueError((error.strerror or str(error)).lower()) from None
    if data.lstrip().startswith(b"["):
        raise ValueError("a report; `tfmemlint check --shard I/N --part FILE` writes what can be merged")
    try:
        made = msgspec.json.decode(data, type=Part)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ValueError(f"no whole part of a run ({' '.join(str(error).split())})") from None
    if made.kind != KIND:
        raise ValueError(f"a part of another kind ({made.kind}); use the tfmemlint that wrote it")
    return made


def outcomes_of(made: Part) -> list[tuple[int, Outcome]]:
    """The outcomes of a part with their places in the run, as if the files had been read here."""
    folder = os.fsdecode(made.folder)
    return [(each.place, _outcome(each, folder)) for each in made.files]


def _outcome(file: PartFile, folder: str) -> Outcome:
    from tfmemlint.text.read import read_source
    from tfmemlint.text.source import SourceError

    path = os.fsdecode(file.path)
    try:
        source = None if file.data is None else read_source(file.data, path)
    except SourceError as error:
        raise ValueError(f"{path} cannot be read: {error.message}") from None
    findings, silenced = ([_here(each, folder) for each in found] for found in (file.findings, file.silenced))
    result = FileResult(
        path, source, tuple(findings), file.suppressed, place=file.unread_at, silenced=tuple(silenced)
    )  # fmt: skip
    return Outcome(result, Config(fail_on=Severity(file.fail_on)))


def _here(finding: Finding, folder: str) -> Finding:
    """A finding whose places in other files are those of this machine."""
    if not any(each.elsewhere for each in finding.related):
        return finding
    related = tuple(
        replace(each, elsewhere=_moved(each.elsewhere, folder)) if each.elsewhere else each for each in finding.related
    )
    return replace(finding, related=related)


def _moved(where: Elsewhere, folder: str) -> Elsewhere:
    if not is_below(where.path, folder):
        return where
    return replace(where, path=os.path.join(os.getcwd(), os.path.relpath(where.path, folder)))
