"""What all output formats share: the options of a report, the order of its findings, paths and clean text."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import quote

from tfmemlint.finding import Finding, Safety, Severity
from tfmemlint.report.site import page_url
from tfmemlint.shown import shown

if TYPE_CHECKING:
    from tfmemlint.text.source import Source

SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)
"""The severities, the worst one first."""

clean = shown
"""The text with characters that no line of output may hold written as escapes."""


class FileResult(Protocol):
    """What linting one file gave, as the engine's result has it."""

    @property
    def path(self) -> str: ...
    @property
    def source(self) -> Source | None: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...
    @property
    def suppressed(self) -> int: ...
    @property
    def skipped(self) -> bool: ...
    @property
    def place(self) -> tuple[int, int] | None: ...


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """What a report says about a rule: its help is Markdown, `url` is empty where it has no page."""

    code: str
    name: str
    summary: str
    severity: Severity = Severity.WARNING
    help_markdown: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """What measuring a finding showed: the kind of its verdict and its reason, and the figures before and after the
    repair, in bytes, in seconds or as a count (`unit`), where there are any."""

    verdict: str
    reason: str
    contradicted: bool
    """Whether the measurement speaks against the finding or its repair."""
    words: str
    """The figures and the reason for people; may be empty."""
    metric: str | None = None
    unit: str = ""
    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """How to report. What is None is counted from the results or left out."""

    color: bool = False
    root: str = ""
    """The directory that relative paths start from, absolute; empty for the working directory."""
    width: int = 100
    """Columns for a line of code; longer ones are cut around the place that is marked."""
    elapsed: float | None = None
    """Seconds that the run took."""
    files_read: int | None = None
    files_skipped: int | None = None
    """Files that do not use TensorFlow."""
    failed: bool = False
    """Whether something that was to be read could not be, which was told before the report."""
    fixed: int = 0
    """Findings that this run repaired and that are no longer in the results."""
    show_fixes: bool = True
    """Whether text shows a repair as a diff, and not only what it does."""
    statistics: bool = False
    """Whether text and concise count findings by code in place of listing them."""
    sort: Literal["place", "bytes"] = "place"
    rules: Mapping[str, RuleInfo] = field(default_factory=dict)
    version: str = ""
    """The version of the linter."""
    silenced: Collection[tuple[str, Finding]] | None = None
    """Findings of the results that comments silence, by the path of the file, in a run that shows them; they are marked
    and not counted."""
    verified: Mapping[tuple[str, Finding], Verified] = field(default_factory=dict)
    """What measuring showed, by the path of the file and the finding; empty where nothing was measured."""

    def url(self, code: str) -> str | None:
        """The address of the page on a code, or None where it has none."""
        rule = self.rules.get(code)
        return rule.url or None if rule else page_url(code)


def ordered(results: Iterable[FileResult], options: ReportOptions) -> list[tuple[FileResult, Finding]]:
    """The findings with their files: in the order of the files and places, or the most bytes first."""
    found = [
        (result, finding) for result in results for finding in sorted(result.findings, key=lambda each: each.sort_key)
    ]
    if options.sort == "bytes":
        found.sort(key=lambda pair: -1 if pair[1].bytes is None else pair[1].bytes, reverse=True)
    return found


def absolute(path: str, options: ReportOptions) -> str:
    """The absolute path of a file; what is not a file (`-`, `<stdin>`) stays as it is."""
    if _is_stream(path):
        return path
    return os.path.normpath(os.path.join(options.root or os.getcwd(), path))


def relative(path: str, options: ReportOptions) -> str:
    """The path from the root with forward slashes, or the absolute path of a file that is not below it."""
    if _is_stream(path):
        return path
    root = options.root or os.getcwd()
    full = PurePath(absolute(path, options))
    return (full.relative_to(root) if full.is_relative_to(root) else full).as_posix()


def heading(path: str, options: ReportOptions) -> str:
    """The path as a line of text begins with it: clean, and nothing that GitHub takes for a command (`::error`)."""
    name = clean(relative(path, options))
    return f"./{name}" if name.lstrip().startswith("::") else name


def uri(path: str, options: ReportOptions) -> tuple[str, bool]:
    """The URI of a file and whether it is relative to the root."""
    shown = relative(path, options)
    if PurePath(shown).is_absolute():
        return Path(shown).as_uri(), False
    # A colon in the first part would read as a scheme, which `quote` prevents.
    return quote(os.fsencode(shown), safe="/"), True


def _is_stream(path: str) -> bool:
    return path == "-" or path.startswith("<")


def plural(count: int, noun: str) -> str:
    """The count with its noun: `1 finding`, `2 findings`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def exact_bytes(count: int) -> str:
    """A number of bytes in binary units and in full: `188 MiB (197 132 288 bytes)`."""
    from tfmemlint.units import show_bytes

    full = plural(count, "byte") if count < 1000 else f"{count:,} bytes".replace(",", " ")
    return full if count < 1024 else f"{show_bytes(count)} ({full})"


@dataclass(frozen=True, slots=True)
class Totals:
    """The numbers of a run that a report closes with."""

    severities: Mapping[Severity, int]
    safe: int
    unsafe: int
    suppressed: int
    read: int
    skipped: int

    @property
    def findings(self) -> int:
        return sum(self.severities.values())


def totals(results: Sequence[FileResult], options: ReportOptions) -> Totals:
    """Count the findings, repairs and files of a run."""
    hidden = options.silenced or ()
    found = [each for result in results for each in result.findings if (result.path, each) not in hidden]
    fixes = Counter(finding.fix.safety for finding in found if finding.fix)
    skipped = sum(result.skipped for result in results)
    return Totals(
        severities=Counter(finding.severity for finding in found),
        safe=fixes[Safety.SAFE],
        unsafe=fixes[Safety.UNSAFE],
        suppressed=sum(result.suppressed for result in results),
        read=len(results) - skipped if options.files_read is None else options.files_read,
        skipped=skipped if options.files_skipped is None else options.files_skipped,
    )
