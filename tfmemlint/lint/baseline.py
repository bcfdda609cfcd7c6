"""Findings that a project has accepted for now: a JSON file that knows statements, not line numbers.

An entry names the file, the code, a hash of the statement and which of several alike it is. It stays valid when lines
move and when a formatter lays the statement out anew, and it is stale once the finding is gone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from tfmemlint.config.paths import is_below, leads_away
from tfmemlint.config.selectors import INTERNAL_ERROR
from tfmemlint.files.bounded_read import read_regular
from tfmemlint.files.replace_file import replace_file
from tfmemlint.finding import Finding
from tfmemlint.lint.recursion import shallow
from tfmemlint.text.statements import Statements, simple_parts, string_end

if TYPE_CHECKING:
    from tfmemlint.lint.engine import FileResult

VERSION = 1
_TOKEN = re.compile(r"""\#[^\n]*|\s+|\\\n?|[()\[\]{},;]|\"{3}|'{3}|["']|[^\s#\\()\[\]{},;"']+""")
_CLOSING = ")]}="
_DROPPED = "#\\();"
_ESCAPED_QUOTE = re.compile(r"""\\(["'])""")
_DIGEST_LENGTH = 16
_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")
"""A byte of a file's name that is no text."""
_LIMIT = 64 << 20
"""Bytes of a baseline: some hundred thousand findings."""
_CONFLICT = re.compile(rb"^(?:<{7}|\|{7}|={7}|>{7})(?: .*)?\r?\n?", re.MULTILINE)
_BEGINNING = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"entries"\s*:\s*\[')


class BaselineError(Exception):
    """A baseline that cannot be read or written; the message is one line that names the file and what to do."""


class Entry(msgspec.Struct, frozen=True, order=True):
    """One accepted finding: the file's path from the baseline, the code, the statement's hash, and its number among
    those of the file that are alike."""

    path: str
    code: str
    statement: str
    occurrence: int = 1


class _Document(msgspec.Struct):
    version: int
    entries: list[Entry]


@dataclass(frozen=True)
class Filtered:
    """What is left of a run: its results without accepted findings, and how many those were."""

    results: list[FileResult]
    matched: int
    _find_stale: Callable[[], Iterable[Entry]]

    @cached_property
    def stale(self) -> list[Entry]:
        """The entries that no finding matched, looked for when asked: for each file that was checked to the end by the
        rule or is gone."""
        return sorted(self._find_stale())


class Baseline:
    """The accepted findings of one file. `path` is where it is; its directory is what its entries' paths start from."""

    def __init__(self, path: str, entries: Iterable[Entry]) -> None:
        self.path = os.path.abspath(path)
        self.entries = frozenset(entries)
        self._paths = {entry.path for entry in self.entries}

    @classmethod
    def load(cls, path: str) -> Baseline:
        """Read a baseline. Raises BaselineError for one that is missing or is not what `write_baseline` writes."""
        try:
            with shallow():
                document = msgspec.json.decode(read_regular(path, _LIMIT), type=_Document)
        except FileNotFoundError:
            raise BaselineError(f"{path}: no such baseline; write it with `tfmemlint check --write-baseline`") from None
        except OSError as error:
            raise BaselineError(f"{path}: the baseline cannot be read: {error.strerror or error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            why = " ".join(str(error).split())
            advice = "restore it or write it anew with `tfmemlint check --write-baseline`"
            raise BaselineError(f"{path}: not a baseline of tfmemlint ({why}); {advice}") from None
        if document.version != VERSION:
            advice = "use the tfmemlint that wrote it or write it anew with `tfmemlint check --write-baseline`"
            raise BaselineError(f"{path}: baseline version {document.version} is not known here; {advice}")
        return cls(path, document.entries)

    def filter(self, results: Iterable[FileResult], ran: Collection[str] | None = None) -> Filtered:
        """Take the accepted findings out of the results of a run. `ran` holds the codes that ran; None means all."""
        left: list[FileResult] = []
        used: set[Entry] = set()
        checked: set[str] = set()
        for result in results:
            name = self._relative(result.path)
            if result.complete:
                checked.add(name)
            if name in self._paths and result.findings:
                known = dict(_entries(result, name))
                used |= self.entries.intersection(known.values())
                kept = tuple(each for each in result.findings if known.get(each) not in self.entries)
                result = replace(result, findings=kept)
            left.append(result)
        return Filtered(left, len(used), lambda: self._stale(used, checked, ran))

    def _stale(self, used: set[Entry], checked: set[str], ran: Collection[str] | None) -> Iterator[Entry]:
        gone = self._gone(self._paths - checked)
        for entry in self.entries - used:
            if entry.path in gone or (entry.path in checked and (ran is None or entry.code in ran)):
                yield entry

    def spared(self, within: Iterable[str], ran: Mapping[str, Collection[str]]) -> list[Entry]:
        """The entries that a run over the paths `within` says nothing of: of files elsewhere that are still there, and
        of codes that did not run. `ran` has, by its path, the codes that ran to the end in each file that was read."""
        places = [os.path.abspath(path) for path in within]
        codes = {self._relative(path): found for path, found in ran.items()}
        gone = self._gone(self._paths)
        return [
            entry
            for entry in self.entries
            if entry.path not in gone
            and entry.code not in codes.get(entry.path, ())
            and (entry.path in codes or not any(is_below(self._file(entry.path), place) for place in places))
        ]

    def _gone(self, paths: Iterable[str]) -> set[str]:
        return {name for name in paths if not os.path.lexists(self._file(name))}

    def _file(self, name: str) -> str:
        """Where the file of an entry is."""
        path = os.path.normpath(os.path.join(os.path.dirname(self.path), *name.split("/")))
        return path if os.path.lexists(path) else _BYTE.sub(lambda found: chr(0xDC00 + int(found[1], 16)), path)

    def _relative(self, path: str) -> str:
        return _relative(path, os.path.dirname(self.path))


def replaceable(path: str, within: str | None = None) -> Baseline | None:
    """The baseline that is to be written anew, or None where there is none yet or it is damaged.

    Raises BaselineError for a file that is something else, for a link to elsewhere, and, with `within`, for a path that
    leads out of that folder: a repository must not choose which of the user's other files is written.
    """
    real = os.path.realpath(path)
    if within is not None and not is_below(real, os.path.realpath(within)):
        advice = "name it on the command line if it shall be written: --write-baseline=FILE"
        raise BaselineError(f"{path}: the baseline lies outside of {within}; {advice}")
    if within is None and leads_away(path):
        raise BaselineError(f"{path}: a link to {real}; it is not written, name that file itself")
    if not os.path.lexists(real):
        return None
    try:
        return Baseline.load(path)
    except BaselineError as error:
        if _was_baseline(path):
            return None
        if isinstance(error.__context__, OSError):
            raise
        raise BaselineError(f"{path}: not a baseline of tfmemlint; it is not overwritten, name another file") from None


def _was_baseline(path: str) -> bool:
    """Whether a file that cannot be read as a baseline is one all the same: of another version, or damaged by hand or
    by a merge. An empty file may become one."""
    try:
        data = read_regular(path, _LIMIT)
    except OSError:
        return False
    try:
        with shallow():
            document = msgspec.json.decode(data)
        return isinstance(document, dict) and {"version", "entries"} <= document.keys()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        rest = _CONFLICT.sub(b"", data)
        return not rest.strip() or _BEGINNING.match(rest) is not None


def write_baseline(
    path: str,
    results: Iterable[FileResult],
    spared: Iterable[Entry] = (),
    accepts: Callable[[str, Finding, Entry], bool] = lambda path, finding, entry: True,
) -> int:
    """Write the baseline that accepts the findings of the results, those only that `accepts` takes, and holds the
    spared entries too; how many findings it accepts.

    A failure of the tool (TFM000) is never accepted. The file is replaced as a whole or not at all; a link stays, and
    the file it leads to is replaced. Raises BaselineError when it cannot be written.
    """
    here = os.path.dirname(os.path.abspath(path))
    accepted = {
        entry
        for result in results
        if result.findings
        for finding, entry in _entries(result, _relative(result.path, here))
        if accepts(result.path, finding, entry)
    }
    entries = sorted(accepted.union(spared))
    lines = ",\n".join(f"    {msgspec.json.encode(entry).decode()}" for entry in entries)
    body = f"[\n{lines}\n  ]" if entries else "[]"
    text = f'{{\n  "version": {VERSION},\n  "entries": {body}\n}}\n'
    try:
        replace_file(os.path.realpath(path), text.encode())
    except OSError as error:
        raise BaselineError(f"{path}: the baseline cannot be written: {error.strerror or error}") from None
    return len(accepted)


def fingerprint(statements: Statements, finding: Finding) -> str:
    """A hash of the statement that a finding points into; the same wherever it stands and however it is laid out."""
    text, place = statements.text, finding.span.start
    index = statements.at(place)
    if index is None:
        found = text[finding.span.start : finding.span.end]
        return _digest(" ".join(found.split()))
    span = statements.spans[index]
    line = text[span.start : span.end]
    for part in simple_parts(line):
        if place < span.start + part.end:
            line = line[part.start : part.end]
            break
    return _digest(_bare(line))


def _bare(line: str) -> str:
    """A statement without what formatters add and take away: layout, comments, parentheses, semicolons, the kind of
    quotes, the parts of a long string, and the comma before a closing bracket or an equals sign."""
    parts: list[str] = []
    position, after_string = 0, False
    while match := _TOKEN.match(line, position):
        token, position = match.group(), match.end()
        if token[0] in _CLOSING and parts[-1:] == [","]:
            parts.pop()
        if token[0] in _DROPPED or token.isspace():
            continue
        if token[0] not in "\"'":
            parts.append(token)
            after_string = False
            continue
        position = string_end(line, match.start(), token, len(line))
        inner = _ESCAPED_QUOTE.sub(r"\1", line[match.end() : max(position - len(token), match.end())])
        opening = parts.pop()[:-1] if after_string else "'"
        parts.append(f"{opening}{inner}'")
        after_string = True
    return "".join(parts)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def _entries(result: FileResult, name: str) -> Iterator[tuple[Finding, Entry]]:
    """The findings of one file that can be accepted, each with its entry."""
    statements = Statements(result.source) if result.source is not None else None
    seen: Counter[tuple[str, str]] = Counter()
    for finding in sorted(result.findings, key=lambda finding: finding.sort_key):
        if finding.code != INTERNAL_ERROR:
            mark = fingerprint(statements, finding) if statements is not None else _digest(finding.message)
            seen[finding.code, mark] += 1
            yield finding, Entry(name, finding.code, mark, seen[finding.code, mark])


def _relative(path: str, directory: str) -> str:
    """The path from the directory, with forward slashes; absolute where there is no way (another drive). Bytes of it
    that are no text are written as escapes."""
    path = os.path.abspath(path)
    with contextlib.suppress(ValueError):
        path = os.path.relpath(path, directory)
    return os.fsencode(path.replace(os.sep, "/")).decode("utf-8", "backslashreplace")
