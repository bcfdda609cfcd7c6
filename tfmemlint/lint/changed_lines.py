"""Findings in what changed since a git revision: `--diff-base REF`.

git says which blob of the revision a file was, renames in the index followed, and how the two differ. A notebook's
rows are rows of JSON, and filters may strip them on the way into git, so of notebooks the program texts are compared.

git is only asked for what it has stored (see `lint.git`); files are read by ourselves, and compared by git in a folder
that is no repository.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfmemlint.config.selectors import FAILURES, INTERNAL_ERROR
from tfmemlint.files.bounded_read import read_regular
from tfmemlint.finding import Finding
from tfmemlint.lint.git import GitError, ask, blobs, commit_of, listed, renamed, repository_of
from tfmemlint.text.read import read_source
from tfmemlint.text.source import Source, SourceError
from tfmemlint.text.statements import Statements

if TYPE_CHECKING:
    from tfmemlint.lint.engine import FileResult

Rows = tuple[int, int]
"""First and last row, from 1. A removal between two rows is the later one and the earlier one, in this order."""

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_DIFF = (
    *("diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--text", "--unified=0"),
    *("--inter-hunk-context=0", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"),
)


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed in one file: everything, or these rows. `before` is a notebook's content at the revision."""

    rows: tuple[Rows, ...] = ()
    everything: bool = False
    before: bytes | None = None


def changed_lines(ref: str, paths: Iterable[str]) -> dict[str, Changed]:
    """What changed in files of the working tree since a revision, by path.

    Files that git does not track are new from start to end, and so is everything on a branch without commits. Raises
    GitError for a file outside any repository, an unknown revision, and where git is missing or fails.
    """
    repositories: dict[str, dict[str, str]] = {}
    tops: dict[str, str] = {}
    for path in paths:
        real = os.path.realpath(path)
        directory = os.path.dirname(real)
        if directory not in tops:
            tops[directory] = repository_of(directory, path, "--diff-base")
        name = os.path.relpath(real, tops[directory]).replace(os.sep, "/")
        repositories.setdefault(tops[directory], {})[path] = name
    found: dict[str, Changed] = {}
    for top, files in repositories.items():
        changes = _changes(top, ref, set(files.values()))
        found.update((path, changes[name]) for path, name in files.items())
    return found


def keep_changed(results: Sequence[FileResult], ref: str) -> list[FileResult]:
    """The results with only those findings of which a line of the statement changed since the revision.

    That a file cannot be checked (TFM001, TFM002) is told where anything in it changed, a failure of the tool (TFM000)
    always. Raises GitError as `changed_lines` does.
    """
    asked = [result.path for result in results if result.findings]
    changes = changed_lines(ref, asked or [result.path for result in results[:1]])
    return [
        replace(result, findings=tuple(_kept(result.source, result.findings, changes[result.path])))
        if result.findings
        else result
        for result in results
    ]


def _kept(source: Source | None, findings: Iterable[Finding], changed: Changed) -> Iterator[Finding]:
    everything, rows = changed.everything, changed.rows
    is_touched = everything or bool(rows) or changed.before is not None
    if source is None:
        yield from (each for each in findings if is_touched or each.code == INTERNAL_ERROR)
        return
    if changed.before is not None:
        try:
            rows = _differing(read_source(changed.before, source.path).text, source.text)
        except SourceError:
            everything = True
    statements = Statements(source)
    for finding in findings:
        if everything or finding.code in FAILURES:
            if is_touched or finding.code == INTERNAL_ERROR:
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


def _changes(top: str, ref: str, names: set[str]) -> dict[str, Changed]:
    """What changed in files of a repository, by their names in it."""
    revision = commit_of(top, ref, "--diff-base")
    tracked = set(listed(ask(top, "ls-files", "--cached", "-z")))
    found = {name: Changed(everything=True) for name in names}
    wanted = names & tracked
    if revision is None or not wanted:
        return found
    earlier = {name: name for name in wanted} | renamed(top, revision, wanted)
    stored = blobs(top, revision, {earlier[name] for name in wanted}.__contains__)
    pairs: dict[str, tuple[bytes, bytes]] = {}
    for name in wanted:
        before = stored.get(earlier[name])
        try:
            after = read_regular(os.path.join(top, name))
        except OSError:
            continue
        if before == after:
            found[name] = Changed()
        elif before is not None and name.lower().endswith(".ipynb"):
            found[name] = Changed(before=before)
        elif before is not None:
            pairs[name] = (before, after)
    found.update((name, Changed(rows)) for name, rows in _compared(pairs).items())
    return found


def _compared(pairs: Mapping[str, tuple[bytes, bytes]]) -> dict[str, tuple[Rows, ...]]:
    """The rows that differ in the later one of each pair of texts. How lines end is no difference."""
    if not pairs:
        return {}
    found: dict[str, tuple[Rows, ...]] = dict.fromkeys(pairs, ())
    names = dict(enumerate(pairs))
    try:
        with tempfile.TemporaryDirectory(prefix="tfmemlint-") as folder:
            for side, at in (("before", 0), ("after", 1)):
                os.mkdir(os.path.join(folder, side))
                for number, name in names.items():
                    with open(os.path.join(folder, side, str(number)), "wb") as stream:
                        stream.write(pairs[name][at].replace(b"\r\n", b"\n"))
            diff = ask(os.path.realpath(folder), *_DIFF, "before", "after", fails_from=2)
    except OSError as error:
        raise GitError(f"files cannot be compared in {tempfile.gettempdir()}: {error.strerror}") from None
    for name, rows in _parse(diff):
        found[names[int(os.path.basename(name))]] = rows
    return found


def _parse(diff: bytes) -> Iterator[tuple[str, tuple[Rows, ...]]]:
    """The name and the changed rows of each file in a diff without context."""
    lines = iter(diff.split(b"\n"))
    new, rows = None, []
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk:
            removed, start, added = (int(number) if number is not None else 1 for number in hunk.groups())
            rows.append((start, start + added - 1) if added else (start + 1, start))
            _skip(lines, removed + added)
        elif line.startswith(b"+++ "):
            if new is not None:
                yield new, tuple(rows)
            new, rows = os.fsdecode(line[4:]), []
    if new is not None:
        yield new, tuple(rows)


def _skip(lines: Iterator[bytes], count: int) -> None:
    """Pass over the lines of a hunk, whose words may look like anything; notes on missing line ends do not count."""
    while count:
        count -= not next(lines, b"").startswith(b"\\")


