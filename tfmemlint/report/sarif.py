"""SARIF 2.1.0, the interchange format of code scanning services and editors.

Regions count characters (code points) of the file as it is stored: those of a notebook lie in its JSON text, and its
cells are logical locations.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from tfmemlint.config.selectors import INTERNAL_ERROR
from tfmemlint.finding import Finding, Related, Safety, Severity, Span
from tfmemlint.report.base import FileResult, ReportOptions, RuleInfo, ordered, relative, uri
from tfmemlint.report.fingerprint import Fingerprints
from tfmemlint.report.notes import is_silenced
from tfmemlint.report.places import Place, file_place, place
from tfmemlint.report.rawedits import file_replacements
from tfmemlint.report.records import verification

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "tfmemlint/v1"
ROOT = "%SRCROOT%"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

Json = dict[str, Any]


def render(results: Sequence[FileResult], stream: TextIO, *, options: ReportOptions) -> None:
    """Write one log with one run, in ASCII so that it reads the same whatever the stream's encoding."""
    found = ordered(results, options)
    rules = _rules(found, options)
    numbers = {rule.code: number for number, rule in enumerate(rules)}
    names = Fingerprints(results, options)
    run = {
        "tool": {"driver": _driver(rules, options)},
        "invocations": [{"executionSuccessful": all(finding.code != INTERNAL_ERROR for _, finding in found)}],
        "originalUriBaseIds": {ROOT: {"uri": _directory(options)}},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "results": [_result(result, finding, numbers, names, options) for result, finding in found],
    }
    stream.write(json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n")


def _directory(options: ReportOptions) -> str:
    return Path(options.root or os.getcwd()).as_uri().rstrip("/") + "/"


def _rules(found: Sequence[tuple[FileResult, Finding]], options: ReportOptions) -> list[RuleInfo]:
    """The rules that the findings are of, and no others: their pages would be most of the log."""
    rules: dict[str, RuleInfo] = {}
    for _, finding in found:
        summary = finding.name.replace("-", " ")
        unknown = RuleInfo(finding.code, finding.name, summary, finding.severity)
        rules.setdefault(finding.code, options.rules.get(finding.code, unknown))
    return [rules[code] for code in sorted(rules)]


def _driver(rules: Sequence[RuleInfo], options: ReportOptions) -> Json:
    driver: Json = {"name": "tfmemlint", "rules": [_rule(rule) for rule in rules]}
    return {**driver, "version": options.version} if options.version else driver


def _rule(rule: RuleInfo) -> Json:
    made: Json = {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.help_markdown or rule.summary},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["memory", "performance", "tensorflow"]},
    }
    if rule.help_markdown:
        made["help"]["markdown"] = rule.help_markdown
    return {**made, "helpUri": rule.url} if rule.url else made


def _result(
    result: FileResult, finding: Finding, numbers: Mapping[str, int], names: Fingerprints, options: ReportOptions
) -> Json:
    made: Json = {
        "ruleId": finding.code,
        "ruleIndex": numbers[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [_location(result, finding.span, options)],
        "partialFingerprints": {FINGERPRINT: names.of(result, finding)},
    }
    if finding.related:
        made["relatedLocations"] = [
            {"id": number, "message": {"text": each.message}, **_related(result, each, options)}
            for number, each in enumerate(finding.related, start=1)
        ]
    fixes = _fixes(result, finding, options)
    if fixes:
        made["fixes"] = fixes
    if is_silenced(result, finding, options):
        made["suppressions"] = [{"kind": "inSource"}]
    properties = verification(result, finding, options)
    if finding.bytes is not None:
        properties = {"bytes": finding.bytes, "bytes_exact": finding.bytes_exact, **properties}
    return {**made, "properties": properties} if properties else made


def _location(result: FileResult, span: Span, options: ReportOptions) -> Json:
    made: Json = {
        "physicalLocation": {
            "artifactLocation": _artifact(result.path, options),
            "region": _region(file_place(result, span)),
        }
    }
    seen = place(result, span)
    if seen.cell is not None:
        name = f"{relative(result.path, options)}:{seen}"
        made["logicalLocations"] = [{"name": f"cell {seen.cell}", "fullyQualifiedName": name, "kind": "cell"}]
    return made


def _related(result: FileResult, related: Related, options: ReportOptions) -> Json:
    other = related.elsewhere
    if other is None:
        return _location(result, related.span, options)
    region = {
        "startLine": other.row, "startColumn": other.column, "endLine": other.end_row, "endColumn": other.end_column,
    }  # fmt: skip
    return {"physicalLocation": {"artifactLocation": _artifact(other.path, options), "region": region}}


def _artifact(path: str, options: ReportOptions) -> Json:
    address, is_relative = uri(path, options)
    return {"uri": address, "uriBaseId": ROOT} if is_relative else {"uri": address}


def _region(where: Place) -> Json:
    return {
        "startLine": where.row,
        "startColumn": where.column,
        "endLine": where.end_row,
        "endColumn": where.end_column,
    }


def _fixes(result: FileResult, finding: Finding, options: ReportOptions) -> list[Json]:
    """The repair, unless it is one that is only ever shown: a viewer would offer to apply it."""
    fix, source = finding.fix, result.source
    if fix is None or source is None or fix.safety is Safety.DISPLAY:
        return []
    replacements = [
        {"deletedRegion": _region(each.place), "insertedContent": {"text": each.content}}
        for each in file_replacements(source, fix) or ()
    ]
    if not replacements:
        return []
    change = {"artifactLocation": _artifact(result.path, options), "replacements": replacements}
    return [{"description": {"text": f"{fix.message} ({fix.safety.value} fix)"}, "artifactChanges": [change]}]
