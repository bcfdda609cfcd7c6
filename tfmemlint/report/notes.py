"""What is said about a finding beside its message, in the same words in every format for people."""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.finding import Finding, Fix, Safety
from tfmemlint.report.base import FileResult, ReportOptions, clean, exact_bytes, heading
from tfmemlint.report.places import place

_FIXES = {Safety.SAFE: "safe fix", Safety.UNSAFE: "unsafe fix", Safety.DISPLAY: "suggestion"}


def fix_kind(fix: Fix) -> str:
    """`safe fix`, `unsafe fix` or `suggestion`."""
    return _FIXES[fix.safety]


def marks(result: FileResult, finding: Finding, options: ReportOptions) -> str:
    """What stands behind a message of one line: ` [safe fix]`, what was measured against it, ` [suppressed]`."""
    found = options.verified.get((result.path, finding))
    words = [
        fix_kind(finding.fix) if finding.fix else "",
        found.verdict if found is not None and found.contradicted else "",
        "suppressed" if is_silenced(result, finding, options) else "",
    ]
    return "".join(f" [{word}]" for word in words if word)


def is_silenced(result: FileResult, finding: Finding, options: ReportOptions) -> bool:
    """Whether a comment silences a finding, in a run that shows such."""
    return options.silenced is not None and (result.path, finding) in options.silenced


def memory(finding: Finding) -> str:
    """The cost in bytes as a line, or nothing where it is not known."""
    if finding.bytes is None:
        return ""
    return f"memory: {'' if finding.bytes_exact else 'at least '}{exact_bytes(finding.bytes)}"


def measured(result: FileResult, finding: Finding, options: ReportOptions) -> str:
    """What a measurement says against a finding or its repair, as a line; empty where it says nothing against it."""
    found = options.verified.get((result.path, finding))
    if found is None or not found.contradicted:
        return ""
    return "measured: " + ": ".join(filter(None, (found.verdict, clean(found.words))))


def related(result: FileResult, finding: Finding, options: ReportOptions) -> Iterator[str]:
    """A line for each related place."""
    path = heading(result.path, options)
    for each in finding.related:
        other = each.elsewhere
        if other is not None:
            yield f"{heading(other.path, options)}:{other.row}:{other.column}: {clean(each.message)}"
        else:
            yield f"{path}:{place(result, each.span)}: {clean(each.message)}"


def details(result: FileResult, finding: Finding, message: str, options: ReportOptions) -> str:
    """The message with a line each for the cost, what was measured against it, the related places and the repair."""
    lines = [message, memory(finding), measured(result, finding, options), *related(result, finding, options)]
    if finding.fix:
        lines.append(f"{fix_kind(finding.fix)}: {clean(finding.fix.message)}")
    return "\n".join(filter(None, lines))
