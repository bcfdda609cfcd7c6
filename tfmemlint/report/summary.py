"""What a run came to: the closing line, and the table of findings by code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfmemlint.finding import Finding, Safety, Severity
from tfmemlint.report.base import SEVERITIES, FileResult, ReportOptions, plural, totals
from tfmemlint.units import AtLeast, show_bytes


def summary(results: Sequence[FileResult], options: ReportOptions) -> str:
    """One line: findings by severity, how many of them can be repaired, the files and the time."""
    count = totals(results, options)
    parts = []
    if options.fixed:
        parts.append(f"Fixed {plural(options.fixed, 'finding')}")
    if count.findings:
        by_severity = [_of_severity(count.severities[each], each) for each in SEVERITIES if count.severities[each]]
        verb = "found" if parts else "Found"
        parts.append(f"{verb} {plural(count.findings, 'finding')} ({', '.join(by_severity)})")
        parts += _fixable(count.safe, count.unsafe)
    elif options.fixed or not options.failed:
        parts.append("no findings left" if options.fixed else "No findings")
    if count.suppressed:
        parts.append(f"{count.suppressed} suppressed")
    files = f"Read {plural(count.read, 'file')}"
    if count.skipped:
        files += f", skipped {count.skipped} that {'does' if count.skipped == 1 else 'do'} not use TensorFlow"
    if options.elapsed is not None:
        files += f", in {options.elapsed:.2f} s"
    return ". ".join(filter(None, ("; ".join(parts), f"{files}.")))


def _of_severity(count: int, severity: Severity) -> str:
    return f"{count} info" if severity is Severity.INFO else plural(count, severity.value)


def _fixable(safe: int, unsafe: int) -> list[str]:
    if safe and unsafe:
        return [f"{safe} fixable with --fix, {unsafe} more with --unsafe-fixes"]
    if safe:
        return [f"{safe} fixable with --fix"]
    return [f"{unsafe} fixable with --fix --unsafe-fixes"] if unsafe else []


@dataclass(slots=True)
class _Row:
    """One line of the table."""

    code: str
    name: str
    count: int = 0
    safe: int = 0
    unsafe: int = 0
    bytes: int = 0
    exact: bool = True

    def add(self, finding: Finding) -> None:
        self.count += 1
        self.bytes += finding.bytes or 0
        self.exact = self.exact and finding.bytes_exact
        if finding.fix:
            self.safe += finding.fix.safety is Safety.SAFE
            self.unsafe += finding.fix.safety is Safety.UNSAFE

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        fixes = [f"{count} {word}" for count, word in ((self.safe, "safe"), (self.unsafe, "unsafe")) if count]
        memory = show_bytes(self.bytes if self.exact else AtLeast(self.bytes)) if self.bytes else ""
        return str(self.count), self.code, self.name, ", ".join(fixes), memory


def statistics(results: Sequence[FileResult]) -> Iterator[str]:
    """A table of the findings by code, the most frequent first; nothing when there are none."""
    rows: dict[str, _Row] = {}
    for result in results:
        for finding in result.findings:
            rows.setdefault(finding.code, _Row(finding.code, finding.name)).add(finding)
    if not rows:
        return
    table = [("count", "code", "name", "fixable", "memory")]
    table += [row.cells for row in sorted(rows.values(), key=lambda row: (-row.count, row.code))]
    used = [column for column in zip(*table, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in used]
    for line in zip(*used, strict=True):
        first, *rest = line
        shown = [first.rjust(widths[0]), *(cell.ljust(size) for cell, size in zip(rest, widths[1:], strict=True))]
        yield "  ".join(shown).rstrip()
