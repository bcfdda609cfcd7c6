"""Findings in what changed since a git revision: `--diff-base REF`.

git says which rows of the working tree's files differ from the revision, renames followed. A notebook's rows are rows
of JSON, and filters may strip them on the way into git, so of notebooks the program texts are compared instead.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfmemlint.finding import Finding
from tfmemlint.model.source import Source, SourceError, read_source
from tfmemlint.model.statements import Statements
from tfmemlint.selectors import FAILURES

if TYPE_CHECKING:
    from tfmemlint.engine import FileResult

Rows = tuple[int, int]
"""First and last row, from 1. A removal between two rows is the later one and the earlier one, in this order."""

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_PLAIN_SUFFIX = re.compile(r"\.\w+")
_DIFF = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--text", "--unified=0"),
    *("--inter-hunk-context=0", "--find-renames", "--ignore-submodules", "--src-prefix=a/", "--dst-prefix=b/"),
)


class DiffBaseError(Exception):
    """Changes that cannot be found out; the message is one line."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed in one file: everything, or these rows. `before` is a notebook's content at the revision."""

    rows: tuple[Rows, ...] = ()
    everything: bool = False
    before: bytes | None = None


def changed_lines(ref: str, paths: Iterable[str]) -> dict[str, Changed]:
    """What changed in files of the working tree since a revision, by path.

    Files that git does not track are new from start to end, and so is everything on a branch without commits. Raises
    DiffBaseError for a file outside any repository, an unknown revision, and where git is missing or fails.
    """
    repositories: dict[str, list[tuple[str, str]]] = {}
    tops: dict[str, str] = {}
    for path in paths:
        real = os.path.realpath(path)
        directory = os.path.dirname(real)
        if directory not in tops:
            tops[directory] = _top(directory, path)
        name = os.path.relpath(real, tops[directory]).replace(os.sep, "/")
        repositories.setdefault(tops[directory], []).append((path, name))
    found: dict[str, Changed] = {}
    for top, files in repositories.items():
        changes = _changes(top, ref, [name for _, name in files])
        found.update((path, changes.get(name, Changed())) for path, name in files)
    return found


def keep_changed(results: Sequence[FileResult], ref: str) -> list[FileResult]:
    """The results with only those findings of which a line of the statement changed since the revision.

    Failures (TFM000 to TFM002) stay. Raises DiffBaseError as `changed_lines` does.
    """
    asked = [result.path for result in results if result.source and result.findings]
    changes = changed_lines(ref, asked or [result.path for result in results[:1]])
    return [
        replace(result, findings=tuple(_kept(result.source, result.findings, changes[result.path])))
        if result.source and result.findings
        else result
        for result in results
    ]


def _kept(source: Source, findings: Iterable[Finding], changed: Changed) -> Iterator[Finding]:
    everything, rows = changed.everything, changed.rows
    if changed.before is not None:
        try:
            rows = _differing(read_source(changed.before, source.path).text, source.text)
        except SourceError:
            everything = True
    statements = Statements(source)
    for finding in findings:
        if everything or finding.code in FAILURES:
            yield finding
            continue
        index = statements.at(finding.span.start)
        span = statements.spans[index] if index is not None else finding.span
        start, end = (_row(source, offset, changed) for offset in (span.start, span.end))
        if any(first <= end and last >= start for first, last in rows):
            yield finding


def _row(source: Source, offset: int, changed: Changed) -> int:
    return source.position(offset).row if changed.before is None else source.line_index(offset) + 1


def _differing(before: str, after: str) -> tuple[Rows, ...]:
    """The rows of the later text that differ from the earlier one."""
    import difflib

    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    return tuple((first + 1, last) for tag, _, _, first, last in matcher.get_opcodes() if tag != "equal")


def _changes(top: str, ref: str, names: list[str]) -> dict[str, Changed]:
    revision = _revision(top, ref)
    tracked = set(os.fsdecode(_git(top, "ls-files", "--cached", "-z")).split("\0"))
    found = {name: Changed(everything=True) for name in names if revision is None or name not in tracked}
    wanted = set(names) - found.keys()
    if revision is None or not wanted:
        return found
    suffixes = {os.path.splitext(name)[1] for name in wanted}
    plain = all(_PLAIN_SUFFIX.fullmatch(suffix) for suffix in suffixes)
    patterns = [f":(top)*{suffix}" for suffix in sorted(suffixes)] if plain else []
    for old, new, rows in _parse(_git(top, *_DIFF, revision, "--", *patterns)):
        if new not in wanted:
            continue
        if old is None:
            found[new] = Changed(everything=True)
        elif new.lower().endswith(".ipynb"):
            found[new] = Changed(before=_git(top, "cat-file", "blob", f"{revision}:{old}"))
        else:
            found[new] = Changed(rows)
    return found


def _parse(diff: bytes) -> Iterator[tuple[str | None, str, tuple[Rows, ...]]]:
    """The earlier name (None for a new file), the name and the changed rows of each file in a diff without context."""
    lines = iter(diff.split(b"\n"))
    old, new, rows = None, None, []
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk:
            removed, start, added = (int(number) if number is not None else 1 for number in hunk.groups())
            rows.append((start, start + added - 1) if added else (start + 1, start))
            _skip(lines, removed + added)
        elif line.startswith(b"--- "):
            if new is not None:
                yield old, new, tuple(rows)
            old, new, rows = _name(line), None, []
        elif line.startswith(b"+++ "):
            new = _name(line)
    if new is not None:
        yield old, new, tuple(rows)


def _skip(lines: Iterator[bytes], count: int) -> None:
    """Pass over the lines of a hunk, whose words may look like anything; notes on missing line ends do not count."""
    while count:
        count -= not next(lines, b"").startswith(b"\\")


def _name(line: bytes) -> str | None:
    """The path of a `---` or `+++` line; None for `/dev/null`."""
    text = line[4:].removesuffix(b"\t")
    if text.startswith(b'"'):
        text = text[1:-1].decode("unicode_escape").encode("latin-1")
    return None if text == b"/dev/null" else os.fsdecode(text[2:])


def _revision(top: str, ref: str) -> str | None:
    """The commit that `ref` names; None when it names the branch that is checked out and has no commit yet."""
    if not ref.startswith("-"):
        done = _run(top, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if done.returncode == 0:
            return os.fsdecode(done.stdout).strip()
        if _run(top, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
            branch = os.fsdecode(_run(top, "symbolic-ref", "--short", "HEAD").stdout).strip()
            if ref in ("HEAD", "@", branch):
                return None
    raise DiffBaseError(f"--diff-base {ref}: no such revision in {top}; name a commit, branch or tag of it")


def _top(directory: str, path: str) -> str:
    done = _run(directory, "rev-parse", "--show-toplevel")
    if done.returncode == 0:
        return os.path.realpath(os.fsdecode(done.stdout.removesuffix(b"\n")))
    if b"not a git repository" in done.stderr:
        raise DiffBaseError(f"{path}: not in a git repository, so nothing is known of changes; leave --diff-base out")
    raise DiffBaseError(f"{path}: git failed: {_first_line(done.stderr)}")


def _git(top: str, *arguments: str) -> bytes:
    done = _run(top, *arguments)
    if done.returncode:
        raise DiffBaseError(f"{top}: `git {arguments[0]}` failed: {_first_line(done.stderr)}")
    return done.stdout


def _first_line(message: bytes) -> str:
    return next(iter(os.fsdecode(message).strip().splitlines()), "no reason given").removeprefix("fatal: ")


def _run(directory: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    # A hook's variables speak of the repository it runs in; here the files' places decide.
    hook = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS")
    environment = {key: value for key, value in os.environ.items() if key not in hook}
    environment.update(LC_ALL="C", GIT_OPTIONAL_LOCKS="0")
    command = ("git", "-C", directory, "-c", "core.quotePath=true", *arguments)
    try:
        return subprocess.run(command, capture_output=True, check=False, env=environment, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise DiffBaseError("--diff-base needs git, and git was not found; install it or leave it out") from None
