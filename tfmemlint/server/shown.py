"""Findings in the protocol's words: what is marked where, in a file or in the cells of a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsprotocol import types

from tfmemlint.config.selectors import FAILURES
from tfmemlint.files.bounded_read import read_regular
from tfmemlint.finding import Elsewhere, Finding, Related, Severity, Span
from tfmemlint.lint.engine import FileResult
from tfmemlint.report.notes import memory
from tfmemlint.report.places import Place, file_place, place
from tfmemlint.server.documents import Document, FileDocument, Text
from tfmemlint.server.positions import UTF16, Encoding, Lines
from tfmemlint.shown import shown
from tfmemlint.text.decoding import SourceError, decode_python

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
NAME = "tfmemlint"
_LARGEST = 4 << 20
"""Bytes of another file of which the place of a line is looked up exactly."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A finding, the text in which it is marked, and how. `text` is what that held then; a finding that is `kept` was
    found before an edit left what does not parse."""

    finding: Finding
    uri: str
    text: str
    diagnostic: types.Diagnostic
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """What the client takes, where pages are, and the files that are not on disk as they are open."""

    encoding: Encoding = UTF16
    related: bool = True
    href: Callable[[str], str | None] = lambda code: None
    unsaved: Mapping[str, bytes] = field(default_factory=dict)


def marked(document: Document, result: FileResult, words: Words) -> list[Marked]:
    """The findings of a document, marked in the text that was linted: the caller has seen to it that it is the one that
    is open."""
    found = []
    for finding in result.findings:
        where = _place(document, result, finding.span)
        text = document.text_at(where.cell)
        if text is None:
            continue
        diagnostic = types.Diagnostic(
            range=_range(text, where),
            message=_message(finding),
            severity=SEVERITIES[finding.severity],
            code=finding.code,
            source=NAME,
            data={"name": finding.name, "bytes": finding.bytes, "bytes_exact": finding.bytes_exact},
        )
        href = words.href(finding.code)
        if href is not None:
            diagnostic.code_description = types.CodeDescription(href)
        if words.related and finding.related:
            diagnostic.related_information = [_related(document, result, each, words) for each in finding.related]
        found.append(Marked(finding, text.uri, text.text, diagnostic))
    return found


def _place(document: Document, result: FileResult, span: Span) -> Place:
    """Where a span stands for who has the document open: the JSON of a notebook may be open as a text."""
    return file_place(result, span) if isinstance(document, FileDocument) else place(result, span)


def _message(finding: Finding) -> str:
    """The message, with the cost where it does not say that."""
    cost = memory(finding)
    known = cost.partition(": ")[2].partition(" (")[0]
    return finding.message if not cost or known in finding.message else f"{finding.message}\n{cost}"


def _range(text: Text, where: Place) -> types.Range:
    lines = text.lines
    return types.Range(lines.at(where.row, where.column), lines.at(where.end_row, where.end_column))


def _related(
    document: Document, result: FileResult, related: Related, words: Words
) -> types.DiagnosticRelatedInformation:
    other = related.elsewhere
    if other is not None:
        return types.DiagnosticRelatedInformation(_elsewhere(other, words), shown(related.message))
    where = _place(document, result, related.span)
    text = document.text_at(where.cell)
    assert text is not None
    return types.DiagnosticRelatedInformation(types.Location(text.uri, _range(text, where)), shown(related.message))


def _elsewhere(other: Elsewhere, words: Words) -> types.Location:
    """A place in another file, whose columns are those of its text on disk."""
    try:
        data = words.unsaved.get(other.path)
        text = decode_python(read_regular(other.path, _LARGEST) if data is None else data).raw
    except (OSError, SourceError):
        text = ""
    lines = Lines(text, words.encoding)
    start, end = lines.at(other.row, other.column), lines.at(other.end_row, other.end_column)
    return types.Location(Path(other.path).as_uri(), types.Range(start, end))


def carried(document: Document, before: list[Marked], now: list[Marked]) -> Iterator[Marked]:
    """What was marked before and can still be told, for a text that does not parse just now: marks before and behind
    what was edited, moved with their text."""
    texts = {text.uri: text for _, text in document.texts()}
    there = {(each.uri, each.finding.code, _key(each.diagnostic.range)) for each in now}
    for each in before:
        text = texts.get(each.uri)
        if text is None or each.finding.code in FAILURES:
            continue
        span = _moved(each, text)
        if span is None:
            continue
        where = text.lines.range(span.start, span.end)
        if (each.uri, each.finding.code, _key(where)) not in there:
            diagnostic = types.Diagnostic(
                where, each.diagnostic.message, each.diagnostic.severity, each.diagnostic.code,
                each.diagnostic.code_description, each.diagnostic.source, data=each.diagnostic.data,
            )  # fmt: skip
            yield replace(each, text=text.text, diagnostic=diagnostic, kept=True)


def _key(where: types.Range) -> tuple[int, int, int, int]:
    return where.start.line, where.start.character, where.end.line, where.end.character


def _moved(each: Marked, text: Text) -> Span | None:
    """Where the mark stands in the text as it is now; None where it lies in what was changed."""
    old, new = each.text, text.text
    lines = Lines(old, text.encoding)
    start, end = lines.offset(each.diagnostic.range.start), lines.offset(each.diagnostic.range.end)
    head = common(old, new)
    if end <= head:
        return Span(start, end)
    tail = min(common(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    shift = len(new) - len(old)
    return Span(start + shift, end + shift) if start >= len(old) - tail else None


def common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one.startswith(other[:middle]) else (low, middle - 1)
    return low
