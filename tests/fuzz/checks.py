"""What must hold of every file that is linted and repaired."""

from __future__ import annotations

import ast
import warnings
from functools import cache

import libcst as cst

from tfmemlint.config.settings import Config
from tfmemlint.finding import Finding, Safety, Span
from tfmemlint.lint.engine import FileResult
from tfmemlint.lint.linter import Linter
from tfmemlint.run.repair import Gate, repair

from .case import Broken


@cache
def linter(unsafe: bool = False) -> Linter:
    """All rules; with `unsafe` their unsafe fixes are applied too."""
    return Linter(Config(select=("ALL",), unsafe_fixes=unsafe))


def sound(data: bytes, path: str) -> FileResult:
    """The result for a file: no rule failed, and all places lie in the file where they say."""
    result = linter().lint(data, path)
    for finding in result.findings:
        if finding.code == "TFM000" and not _is_another_program(finding, result):
            raise Broken(f"TFM000 {finding.message}")
    _consistent(result)
    return result


def _is_another_program(finding: Finding, result: FileResult) -> bool:
    """Whether libcst itself has read another program than Python reads, so that the file is given up with one finding:
    a backslash alone on a line at the margin does not end an indented block for it."""
    if not finding.message.startswith("positions unknown") or result.source is None or len(result.findings) > 1:
        return False
    text = result.source.text
    return ast.dump(ast.parse(cst.parse_module(text).code)) != ast.dump(ast.parse(text))


def repaired(data: bytes, path: str) -> bytes:
    """The bytes after all repairs: none was taken back, they are as good Python as before, and repairing them again
    changes nothing."""
    before = sound(data, path)
    done = repair(data, path, linter(unsafe=True), Gate())
    for finding in done.failed:
        raise Broken(f"TFM000 {finding.message}")
    if done.data == data:
        return data
    after = sound(done.data, path)
    old, new = (sum(each.code == "TFM002" for each in result.findings) for result in (before, after))
    if new > old or (path.endswith(".py") and is_python(data) and not is_python(done.data)):
        raise Broken("the repaired file is no Python")
    again = repair(done.data, path, linter(unsafe=True), Gate())
    if again.data != done.data:
        raise Broken(f"a second repair changes the file again: {', '.join(each.code for each in again.applied)}")
    return done.data


def is_python(data: bytes) -> bool:
    """Whether the running Python can parse this."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _consistent(result: FileResult) -> None:
    if result.source is None:
        return
    for finding in result.findings:
        for span in (finding.span, *(each.span for each in finding.related)):
            _place(result, finding, span)
        if finding.fix is not None and finding.fix.safety is not Safety.DISPLAY:
            _rewrites(result, finding)


def _place(result: FileResult, finding: Finding, span: Span) -> None:
    source = result.source
    assert source is not None
    if not 0 <= span.start <= span.end <= len(source.text):
        raise Broken(f"{finding.code} has a place outside of the text")
    for offset in (span.start, span.end):
        place = source.position(offset)
        if source.offset(place.row, place.column, place.cell) != offset:
            raise Broken(f"{finding.code} has a place whose row and column are those of another place")
    if span.start < span.end:
        place, char = source.position(span.start), source.text[span.start]
        line = source.line_text(place.row, place.cell)
        if not char.isspace() and line[place.column - 1 : place.column] != char:
            raise Broken(f"{finding.code} has a place where its line holds something else")


def _rewrites(result: FileResult, finding: Finding) -> None:
    """The fix alone changes its places in the bytes and no others, where they are those of the text."""
    source = result.source
    assert source is not None
    assert finding.fix is not None
    edits = sorted(finding.fix.edits)
    data = source.rewrite(edits)
    if type(source).__name__ != "Source" or source.data != source.text.encode():
        return
    expected, done = b"", 0
    for edit in edits:
        expected += source.text[done : edit.start].encode() + edit.content.encode()
        done = edit.end
    if data != expected + source.text[done:].encode():
        raise Broken(f"the fix of {finding.code} changes bytes outside of its places")
