"""What many repositories hold: a report by repository, by rule and by bytes, as text, JSON and a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tfmemlint.finding import Finding, Severity
from tfmemlint.report.base import SEVERITIES, FileResult, ReportOptions, clean, plural, relative
from tfmemlint.report.pages.html import document, shown
from tfmemlint.report.records import record
from tfmemlint.units import AtLeast, show_bytes


@dataclass(slots=True)
class Audited:
    """One repository: its name as it was given, the folder in which it was read, and what was found, or why not."""

    name: str
    folder: str = ""
    commit: str = ""
    failure: str = ""
    read: int = 0
    """Files that use TensorFlow."""
    skipped: int = 0
    seconds: float = 0.0
    remarks: list[str] = field(default_factory=list)
    """What could not be read in it."""
    results: list[FileResult] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        return [each for result in self.results for each in result.findings]


@dataclass(slots=True)
class Row:
    """A rule over all repositories. `bytes` adds up what is known, and is `exact` where all of it is."""

    code: str
    name: str
    count: int = 0
    repositories: set[str] = field(default_factory=set)
    bytes: int = 0
    exact: bool = True


def rows(audited: Sequence[Audited]) -> list[Row]:
    """The rules that found something, the most bytes first, then the most findings."""
    found: dict[str, Row] = {}
    for repository in audited:
        for each in repository.findings:
            row = found.setdefault(each.code, Row(each.code, each.name))
            row.count += 1
            row.repositories.add(repository.name)
            row.bytes += each.bytes or 0
            row.exact = row.exact and each.bytes_exact
    return sorted(found.values(), key=lambda row: (-row.bytes, -row.count, row.code))


def _bytes(findings: Sequence[Finding]) -> tuple[int, bool]:
    return sum(each.bytes or 0 for each in findings), all(each.bytes_exact for each in findings)


def _size(size: int, exact: bool) -> str:
    return show_bytes(size if exact else AtLeast(size)) if size else ""


def _severities(findings: Sequence[Finding]) -> dict[Severity, int]:
    return {each: sum(finding.severity is each for finding in findings) for each in SEVERITIES}


def text(audited: Sequence[Audited]) -> str:
    """For people: a line for each repository and for each rule."""
    lines = []
    table = [("repository", "files", "findings", "memory")]
    for each in audited:
        if each.failure:
            table.append((clean(each.name), "", "", f"failed: {clean(each.failure)}"))
        else:
            table.append((clean(each.name), str(each.read), str(len(each.findings)), _size(*_bytes(each.findings))))
    lines += _table(table)
    table = [("rule", "findings", "repositories", "memory")]
    for row in rows(audited):
        counts = str(row.count), str(len(row.repositories))
        table.append((f"{row.code} {row.name}", *counts, _size(row.bytes, row.exact)))
    if len(table) > 1:
        lines += ["", *_table(table)]
    failed = sum(bool(each.failure) for each in audited)
    total = plural(sum(len(each.findings) for each in audited), "finding")
    where = plural(len(audited), "repository").replace("repositorys", "repositories")
    lines += ["", f"{total} in {where}" + (f"; {failed} failed" if failed else "") + "."]
    return "\n".join(lines) + "\n"


def _table(table: Sequence[tuple[str, str, str, str]]) -> list[str]:
    widths = [max(len(line[column]) for line in table) for column in range(4)]
    return [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in table]


def as_json(audited: Sequence[Audited], version: str) -> str:
    """For programs: `repositories` with their findings as `--output-format json` has them, and `rules`."""
    document_: dict[str, Any] = {
        "version": version,
        "repositories": [_repository(each) for each in audited],
        "rules": [
            {
                "code": row.code, "name": row.name, "findings": row.count, "repositories": sorted(row.repositories),
                "bytes": row.bytes, "bytes_exact": row.exact,
            }
            for row in rows(audited)
        ],
    }  # fmt: skip
    return json.dumps(document_, indent=2) + "\n"


def _repository(each: Audited) -> dict[str, Any]:
    size, exact = _bytes(each.findings)
    options = ReportOptions(root=each.folder)
    findings = [record(result, found, options) for result in each.results for found in result.findings]
    for place in [place for found in findings for place in (found, *found["related"])]:
        place["filename"] = relative(place["filename"], options)  # where it was read is of no use
    return {
        "name": each.name, "commit": each.commit or None, "failure": each.failure or None, "files": each.read,
        "files_skipped": each.skipped, "remarks": each.remarks, "bytes": size, "bytes_exact": exact,
        "findings": findings,
    }  # fmt: skip


def page(audited: Sequence[Audited]) -> str:
    """For browsers: a page that needs nothing but itself."""
    failed = [each for each in audited if each.failure]
    parts = [f"<h1>{plural(sum(len(each.findings) for each in audited), 'finding')}</h1>"]
    body = "".join(
        f"<tr><td>{shown(row.code)} {shown(row.name)}</td><td>{row.count}</td><td>{len(row.repositories)}</td>"
        f"<td>{shown(_size(row.bytes, row.exact))}</td></tr>"
        for row in rows(audited)
    )
    parts.append(_html_table("Rules", ("rule", "findings", "repositories", "memory"), body))
    body = "".join(
        f"<tr><td>{shown(each.name)}</td><td>{shown(each.commit[:12])}</td><td>{each.read}</td>"
        + "".join(f"<td>{count or ''}</td>" for count in _severities(each.findings).values())
        + f"<td>{shown(_size(*_bytes(each.findings)))}</td></tr>"
        for each in sorted(audited, key=lambda each: (-_bytes(each.findings)[0], each.name))
        if not each.failure
    )
    heads = ("repository", "commit", "files", *(each.value for each in SEVERITIES), "memory")
    parts.append(_html_table("Repositories", heads, body))
    if failed:
        body = "".join(f"<tr><td>{shown(each.name)}</td><td>{shown(each.failure)}</td></tr>" for each in failed)
        parts.append(_html_table("Not read", ("repository", "why"), body))
    for each in audited:
        found = [(result.path, one) for result in each.results for one in result.findings]
        if found:
            items = "".join(
                f"<tr><td>{shown(path)}</td><td>{shown(one.code)}</td><td>{shown(one.message)}</td>"
                f"<td>{shown(_size(one.bytes or 0, one.bytes_exact))}</td></tr>"
                for path, one in found
            )
            parts.append(_html_table(each.name, ("file", "rule", "what", "memory"), items))
    return document("audit", "".join(parts))


def _html_table(title: str, heads: Sequence[str], body: str) -> str:
    row = "".join(f"<th>{shown(head)}</th>" for head in heads)
    return f"<h2>{shown(title)}</h2><table><thead><tr>{row}</tr></thead><tbody>{body}</tbody></table>"
