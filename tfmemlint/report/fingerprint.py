"""Names for findings that stay the same when lines move and code is reformatted.

A name is made of the code, the path, the statement as a baseline knows it, and a number for findings that are alike in
all of these; it holds no row.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from tfmemlint.finding import Finding
from tfmemlint.report.base import FileResult, ReportOptions, relative


class Fingerprints:
    """The names of all findings of a run, 32 hexadecimal digits each and no two alike."""

    def __init__(self, results: Iterable[FileResult], options: ReportOptions) -> None:
        self._made: dict[tuple[str, Finding], str] = {}
        for result in results:
            if result.findings:
                self._add(result, options)

    def of(self, result: FileResult, finding: Finding) -> str:
        """The name of a finding in a file."""
        return self._made[result.path, finding]

    def _add(self, result: FileResult, options: ReportOptions) -> None:
        from tfmemlint.lint.baseline import fingerprint
        from tfmemlint.text.statements import Statements

        statements = Statements(result.source) if result.source else None
        seen: Counter[tuple[str, str]] = Counter()
        for finding in sorted(result.findings, key=lambda each: each.sort_key):
            mark = fingerprint(statements, finding) if statements else ""
            parts = (finding.code, relative(result.path, options), mark, str(seen[finding.code, mark]))
            seen[finding.code, mark] += 1
            digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
            self._made[result.path, finding] = digest[:32]
