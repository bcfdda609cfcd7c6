"""One file through the system: prefilter, trigger, source, parse, model, dispatch, suppressions."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.model.source import Source, SourceError, read_source
from tfmemlint.prefilter import mentions_tensorflow

if TYPE_CHECKING:
    import libcst as cst

    from tfmemlint.config import Config
    from tfmemlint.rule import Rule

INTERNAL_ERROR = ("TFM000", "internal-error")
UNREADABLE = ("TFM001", "unreadable-file")
SYNTAX_ERROR = ("TFM002", "syntax-error")

_DEEP = re.compile(r"(?:[(\[{]\s*){200}")
"""Brackets nested more deeply than Python allows, on which libcst's parser takes seconds and gigabytes."""


_LARGEST = 16 << 20
"""Characters of code in one file; their tree takes gigabytes, and what is this large was written by a program."""


@dataclass(frozen=True)
class FileResult:
    """What linting one file gave. `skipped` says that the file does not use TensorFlow; `source` is None where the
    file could not be read as text or was skipped; `suppressed` counts findings that comments silenced."""

    path: str
    source: Source | None = None
    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    skipped: bool = False
    place: tuple[int, int] | None = field(default=None)
    """Row and column of a TFM001, which has no source to look its place up in."""


def lint(data: bytes, path: str, config: Config, rules: Sequence[Rule]) -> FileResult:
    """Run `rules` over the bytes of one file and honour its suppression comments.

    Never raises for what is in the file: an unreadable file, a syntax error and a crashing rule become findings.
    """
    if not mentions_tensorflow(data):
        return FileResult(path, skipped=True)
    try:
        source = read_source(data, path)
    except SourceError as error:
        return unreadable(path, error.message, error.row, error.column)
    if not source.text.strip():
        return FileResult(path, source, skipped=True)
    if len(source.text) > _LARGEST:
        count, limit = len(source.text) >> 20, _LARGEST >> 20
        return unreadable(path, f"{count} MiB of code, and {limit} MiB are the limit; exclude the file")
    try:
        return _lint_source(source, config, rules)
    except RecursionError:
        return _failed(source, "the code is nested too deeply to be read; the file was not checked")
    except Exception as error:  # the engine's own failure must not hide other files
        return _failed(source, f"the engine failed: {type(error).__name__}: {error}")


def unreadable(path: str, message: str, row: int = 1, column: int = 1) -> FileResult:
    """The result for a file that cannot be read as program text: one TFM001 and nothing else."""
    finding = Finding(*UNREADABLE, Severity.ERROR, message, Span(0, 0))
    return FileResult(path, None, (finding,), place=(row, column))


def _failed(source: Source, message: str) -> FileResult:
    return FileResult(source.path, source, (Finding(*INTERNAL_ERROR, Severity.ERROR, message, Span(0, 0)),))


def _lint_source(source: Source, config: Config, rules: Sequence[Rule]) -> FileResult:
    from tfmemlint.registry import known_codes
    from tfmemlint.suppress import apply_suppressions

    found, readable = _run(source, config, rules)
    enabled = {rule.code: rule.name for rule in rules}
    kept, suppressed, unused = apply_suppressions(readable, found, {**known_codes(), **enabled}, enabled)
    findings = sorted((*kept, *unused), key=lambda finding: finding.sort_key)
    return FileResult(source.path, source, tuple(dict.fromkeys(findings)), len(suppressed))


def _run(source: Source, config: Config, rules: Sequence[Rule]) -> tuple[list[Finding], Source]:
    """The rules' findings, and the source with parts that do not parse blanked."""
    from tfmemlint.dispatch import dispatch, triggered

    awake = triggered(rules, source.text)
    if not awake and _is_python(source.text):
        return [], source
    module, readable, found = parse(source)
    if module is not None and awake:
        from tfmemlint.model.file import File

        found += dispatch(File(readable, module, config), awake)
    return found, readable


def _is_python(text: str) -> bool:
    """Whether the running Python accepts the text: yes is sure, no is not (its grammar may be older)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def parse(source: Source) -> tuple[cst.Module | None, Source, list[Finding]]:
    """The tree of the program text, the source that it belongs to and a TFM002 for each part that does not parse.

    Cells and fenced blocks that do not parse are blanked, so that the others are still linted.
    """
    import libcst as cst

    if _DEEP.search(source.text) and not _is_python(source.text):
        message = "cannot parse: brackets are nested too deeply; nothing in this file was checked or changed"
        return None, source, [Finding(*SYNTAX_ERROR, Severity.ERROR, message, Span(0, 0))]
    try:
        return cst.parse_module(source.text), source, []
    except cst.ParserSyntaxError as error:
        if len(source.blocks) == 1:
            return None, source, [_syntax_error(error, 0, source.text)]
    bad: dict[int, Finding] = {}
    for index, block in enumerate(source.blocks):
        text = source.text[block.span.start : block.span.end]
        try:
            cst.parse_module(text)
        except cst.ParserSyntaxError as error:
            bad[index] = _syntax_error(error, block.span.start, text)
    rest = source.without_blocks(set(bad))
    try:
        return cst.parse_module(rest.text), rest, list(bad.values())
    except cst.ParserSyntaxError as error:
        return None, source, [*bad.values(), _syntax_error(error, 0, source.text)]


def _syntax_error(error: cst.ParserSyntaxError, start: int, text: str) -> Finding:
    row, column, why = error.raw_line, error.raw_column, "is not valid Python"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as python:
        # Python's own words are clearer than the grammar's; its place is the one that users know.
        row, column, why = python.lineno or row, (python.offset or 1) - 1, python.msg
    except (ValueError, RecursionError, MemoryError):
        pass
    lines = text.split("\n")
    row = min(max(row, 1), len(lines))
    offset = start + sum(len(line) + 1 for line in lines[: row - 1]) + min(max(column, 0), len(lines[row - 1]))
    message = f"cannot parse: {why}; nothing in this part was checked or changed"
    return Finding(*SYNTAX_ERROR, Severity.ERROR, message, Span(offset, offset))
