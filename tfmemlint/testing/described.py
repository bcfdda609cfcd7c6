"""Findings in words, and texts that must be the same or parse: what the checks of cases compare and say."""

from __future__ import annotations

import ast
import difflib
import os
from collections.abc import Iterator

from tfmemlint.finding import Finding, Safety
from tfmemlint.lint.engine import FileResult
from tfmemlint.testing.cases import Case, fail, hide_from_tracebacks
from tfmemlint.testing.variants import Variant

__tracebackhide__ = hide_from_tracebacks


def rows(result: FileResult) -> Iterator[tuple[int, Finding]]:
    """The findings, each with the row (from 1) where it starts."""
    for finding in result.findings:
        row = result.source.position(finding.span.start).row if result.source else 1
        yield row, finding


def described(result: FileResult) -> str:
    """Findings as `findings.txt` has them: place, code, message, bytes, related places, fix."""
    if result.source is None:
        return "".join(f"{each.code} {each.message}\n" for each in result.findings)
    lines = []
    for each in result.findings:
        start, end = result.source.position(each.span.start), result.source.position(each.span.end)
        lines.append(f"{start.row}:{start.column}-{end.row}:{end.column} {each.code} {each.name} {each.severity.value}")
        lines.append(f"    {each.message}")
        if each.bytes is not None:
            lines.append(f"    bytes: {'' if each.bytes_exact else 'at least '}{each.bytes}")
        for other in each.related:
            there = other.elsewhere
            place = result.source.position(other.span.start) if there is None else there
            of = "" if there is None else f"{os.path.basename(there.path)}:"
            lines.append(f"    related {of}{place.row}:{place.column}: {other.message}")
        if each.fix is not None:
            lines.append(f"    fix ({each.fix.safety.value}): {each.fix.message}")
            if each.fix.safety is Safety.DISPLAY:
                old, new = result.source.data.decode(), result.source.rewrite(each.fix.edits).decode()
                changed = difflib.unified_diff(old.split("\n"), new.split("\n"), n=0, lineterm="")
                lines += [f"        {line}".rstrip() for line in list(changed)[2:]]
    return "".join(f"{line}\n" for line in lines)


def facts(result: FileResult, variant: Variant, shift: int) -> list[str]:
    """What of the findings a variant must not change."""
    facts = []
    for row, each in rows(result):
        column = result.source.position(each.span.start).column if variant.columns and result.source else "-"
        fix = each.fix.safety.value if each.fix else "none"
        facts.append(f"{row + shift}:{column} {each.code} {each.severity.value} bytes={each.bytes} fix={fix}")
    return facts


def must_parse(case: Case, what: str, data: bytes) -> None:
    """Raises CaseError where a text is not Python."""
    try:
        ast.parse(data)
    except SyntaxError as error:
        lines = data.decode("utf-8", "replace").splitlines()
        line = lines[(error.lineno or 1) - 1] if lines else ""
        why = f"{what} leaves code that does not parse: {error.msg} in line {error.lineno}"
        fail(case, "bad.py", why, f"    {line}")


def must_be(case: Case, name: str, expected: str, actual: str) -> None:
    """Raises CaseError where a file of the case holds another text than it should."""
    if expected != actual:
        hint = "if the new text is right: pytest --bless, or python -m tfmemlint.dev bless"
        fail(case, name, "differs", diff(expected, actual, "expected", "actual"), hint)


def diff(before: str, after: str, old: str, new: str) -> str:
    """How one text becomes another, for a message."""
    return "\n".join(difflib.unified_diff(before.split("\n"), after.split("\n"), old, new, lineterm="", n=2))
