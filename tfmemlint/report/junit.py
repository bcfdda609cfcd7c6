"""JUnit XML: a suite for each file that was read, a failed case for each finding in it.

Advice fails nothing, so that it is a passed case with its message as output; what kept a file from being checked is an
error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TextIO
from xml.sax.saxutils import escape

from tfmemlint.config.selectors import FAILURES
from tfmemlint.finding import Finding, Severity
from tfmemlint.report.base import FileResult, ReportOptions, clean, relative
from tfmemlint.report.notes import details
from tfmemlint.report.places import file_place, place

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(results: Sequence[FileResult], stream: TextIO, *, options: ReportOptions) -> None:
    """Write the document, in ASCII so that it reads the same whatever the stream's encoding."""
    read = [result for result in results if not result.skipped or result.findings]
    tests = sum(max(len(result.findings), 1) for result in read) or 1
    errors, failures = (sum(counts) for counts in zip((0, 0), *map(_counts, read), strict=True))
    time = {} if options.elapsed is None else {"time": f"{options.elapsed:.3f}"}
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    stream.write(_open("testsuites", name="tfmemlint", tests=tests, failures=failures, errors=errors, **time) + "\n")
    for result in read:
        stream.writelines(f"{line}\n" for line in _suite(result, options))
    if not read:
        # Services take a document without any case for a run that broke.
        stream.writelines(f"{line}\n" for line in _passed("tfmemlint"))
    stream.write("</testsuites>\n")


def _counts(result: FileResult) -> tuple[int, int]:
    """Errors and failures of a file."""
    kinds = [_kind(finding) for finding in result.findings]
    return kinds.count("error"), kinds.count("failure")


def _kind(finding: Finding) -> str:
    if finding.code in FAILURES:
        return "error"
    return "system-out" if finding.severity is Severity.INFO else "failure"


def _suite(result: FileResult, options: ReportOptions) -> Iterator[str]:
    path = relative(result.path, options)
    if not result.findings:
        yield from _passed(path)
        return
    errors, failures = _counts(result)
    yield "  " + _open("testsuite", name=path, tests=len(result.findings), failures=failures, errors=errors, skipped=0)
    for finding in sorted(result.findings, key=lambda each: each.sort_key):
        yield from _case(result, finding, options)
    yield "  </testsuite>"


def _passed(name: str) -> Iterator[str]:
    yield "  " + _open("testsuite", name=name, tests=1, failures=0, errors=0, skipped=0)
    yield "    " + _open("testcase", name="no findings", classname=name)[:-1] + "/>"
    yield "  </testsuite>"


def _case(result: FileResult, finding: Finding, options: ReportOptions) -> Iterator[str]:
    where, path = place(result, finding.span), relative(result.path, options)
    name = f"{finding.code} {finding.name} at {where}"
    line = file_place(result, finding.span).row
    yield "    " + _open("testcase", name=name, classname=path, file=path, line=line)
    kind = _kind(finding)
    message = clean(finding.message)
    body = details(result, finding, f"{clean(path)}:{where}: {finding.code} {message}", options)
    opening = "<system-out>" if kind == "system-out" else _open(kind, type=finding.severity.value, message=message)
    yield f"      {opening}{_text(body)}</{kind}>"
    yield "    </testcase>"


def _open(tag: str, **attributes: object) -> str:
    shown = "".join(f' {key}="{_text(str(value), quoted=True)}"' for key, value in attributes.items())
    return f"<{tag}{shown}>"


def _text(text: str, *, quoted: bool = False) -> str:
    """The text as XML in ASCII; what XML cannot hold becomes the replacement character."""
    entities = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"} if quoted else {"\r": "&#13;"}
    entities["\x7f"] = "&#127;"  # text as XML has it, but no character for a terminal
    plain = escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text), entities)
    return plain.encode("ascii", "xmlcharrefreplace").decode()
