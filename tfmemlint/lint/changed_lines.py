"""Findings in what changed since a git revision: `--diff-base REF`.

git says which blob of the revision a file was, renames in the index followed, and how the two differ. A notebook's
rows are rows of JSON, and filters may strip them on the way into git, so of notebooks the program texts are compared.

A repository that came as an archive, or a bare one hidden in a clone, brings a configuration of its own, and git runs
what such a configuration names. So git is only asked for what it has stored, by commands that never read the working
tree (filters, file system monitors), show no differences (drivers) and fetch nothing; files are read by ourselves, and
compared by git in a folder that is no repository.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfmemlint.config.selectors import FAILURES
from tfmemlint.files.bounded_read import SOURCES, read_regular
from tfmemlint.finding import Finding
from tfmemlint.text.read import read_source
from tfmemlint.text.source import Source, SourceError
from tfmemlint.text.statements import Statements

if TYPE_CHECKING:
    from tfmemlint.lint.engine import FileResult

Rows = tuple[int, int]
"""First and last row, from 1. A removal between two rows is the later one and the earlier one, in this order."""

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_PLAIN_SUFFIX = re.compile(r"\.\w+")
_DIFF = (
    *("diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--text", "--unified=0"),
    *("--inter-hunk-context=0", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"),
)
_RENAMES = (
    *("diff-index", "--cached", "--raw", "-z", "--find-renames", "-l1000", "--diff-filter=R", "--ignore-submodules"),
)
_SAFE = (
    *("--no-pager", "-c", "core.fsmonitor=", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "safe.bareRepository=explicit"),
)
_SAFE_ENVIRONMENT = {
    "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ":",
    "GIT_TERMINAL_PROMPT": "0",
}  # fmt: skip
_SECONDS = 120
"""How long git may take for one answer."""


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
    repositories: dict[str, dict[str, str]] = {}
    tops: dict[str, str] = {}
    for path in paths:
        real = os.path.realpath(path)
        directory = os.path.dirname(real)
        if directory not in tops:
            tops[directory] = _top(directory, path)
        name = os.path.relpath(real, tops[directory]).replace(os.sep, "/")
        repositories.setdefault(tops[directory], {})[path] = name
    found: dict[str, Changed] = {}
    for top, files in repositories.items():
        changes = _changes(top, ref, set(files.values()))
        found.update((path, changes[name]) for path, name in files.items())
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


def _changes(top: str, ref: str, names: set[str]) -> dict[str, Changed]:
    """What changed in files of a repository, by their names in it."""
    revision = _revision(top, ref)
    tracked = set(_listed(_git(top, "ls-files", "--cached", "-z")))
    found = {name: Changed(everything=True) for name in names}
    wanted = names & tracked
    if revision is None or not wanted:
        return found
    renamed = _renamed(top, revision, wanted)
    blobs = _blobs(top, revision, {renamed.get(name, name) for name in wanted})
    pairs: dict[str, tuple[bytes, bytes]] = {}
    for name in wanted:
        before = blobs.get(renamed.get(name, name))
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


def _renamed(top: str, revision: str, names: Iterable[str]) -> dict[str, str]:
    """The earlier names of files that were renamed in the index."""
    suffixes = {os.path.splitext(name)[1] for name in names}
    plain = all(_PLAIN_SUFFIX.fullmatch(suffix) for suffix in suffixes)
    patterns = [f":(top)*{suffix}" for suffix in sorted(suffixes)] if plain else []
    parts = _listed(_git(top, *_RENAMES, revision, "--", *patterns))
    return {new: old for _, old, new in zip(parts[::3], parts[1::3], parts[2::3], strict=False)}


def _blobs(top: str, revision: str, names: set[str]) -> dict[str, bytes]:
    """The content of files at a revision, without those that are no files there or too large to be a program's."""
    objects = {}
    for line in _listed(_git(top, "ls-tree", "-r", "-z", "--full-tree", revision)):
        about, _, name = line.partition("\t")
        if name in names and about.split(" ")[1:2] == ["blob"]:
            objects[name] = about.split(" ")[2]
    asked = "".join(f"{each}\n" for each in sorted(set(objects.values()))).encode()
    sizes = [line.split() for line in _git(top, "cat-file", "--batch-check", data=asked).splitlines()]
    if any(each[1] == b"missing" for each in sizes):
        raise DiffBaseError(f"{top}: git has not all files of {revision} here; `git diff {revision}` fetches them")
    small = [each[0] for each in sizes if int(each[2]) <= SOURCES]
    answer = _git(top, "cat-file", "--batch", data=b"".join(each + b"\n" for each in small))
    content, at = {}, 0
    while at < len(answer):
        start = answer.index(b"\n", at) + 1
        each, _, size = answer[at:start].split()
        content[each.decode()] = answer[start : start + int(size)]
        at = start + int(size) + 1
    return {name: content[each] for name, each in objects.items() if each in content}


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
            diff = _git(os.path.realpath(folder), *_DIFF, "before", "after", fails_from=2)
    except OSError as error:
        raise DiffBaseError(f"files cannot be compared in {tempfile.gettempdir()}: {error.strerror}") from None
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


def _listed(data: bytes) -> list[str]:
    """The parts of git's answer, which end in NUL."""
    return os.fsdecode(data).split("\0")[:-1]


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


def _git(directory: str, *arguments: str, data: bytes = b"", fails_from: int = 1) -> bytes:
    done = _run(directory, *arguments, data=data)
    if done.returncode >= fails_from or done.returncode < 0:
        raise DiffBaseError(f"{directory}: `git {arguments[0]}` failed: {_first_line(done.stderr)}")
    return done.stdout


def _first_line(message: bytes) -> str:
    return next(iter(os.fsdecode(message).strip().splitlines()), "no reason given").removeprefix("fatal: ")


def _run(directory: str, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    # A hook's variables speak of the repository it runs in; here the files' places decide.
    hook = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS")
    environment = {key: value for key, value in os.environ.items() if key not in hook}
    environment.update(_SAFE_ENVIRONMENT)
    if "--no-index" in arguments:  # whatever lies above the folder for temporary files
        environment["GIT_CEILING_DIRECTORIES"] = os.path.dirname(directory)
    command = (_program(), "-C", directory, *_SAFE, *arguments)
    try:
        return subprocess.run(command, input=data, capture_output=True, env=environment, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise DiffBaseError(f"{directory}: `git {arguments[0]}` did not end in {_SECONDS} s; it was stopped") from None


def _program() -> str:
    """Where git is. Only absolute folders of the PATH are looked in: what lies in the working directory and is called
    git is the repository's own."""
    for folder in filter(os.path.isabs, os.get_exec_path()):
        path = os.path.join(folder, "git.exe" if os.name == "nt" else "git")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise DiffBaseError("--diff-base needs git, and git was not found; install it or leave it out")
