"""What is shown over a finding: why it costs memory, how many bytes, what was measured, what the repair would do."""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.finding import Safety
from tfmemlint.report.diff import show_diff
from tfmemlint.report.notes import fix_kind, memory
from tfmemlint.report.style import Style
from tfmemlint.server.questions import About
from tfmemlint.server.shown import Marked
from tfmemlint.server.wording import plain
from tfmemlint.text.source import Source

_WIDTH = 100


def hover(mark: Marked, about: About, source: Source | None, href: str | None) -> str:
    """The Markdown for a finding."""
    return "\n".join(_lines(mark, about, source, href))


def _lines(mark: Marked, about: About, source: Source | None, href: str | None) -> Iterator[str]:
    finding = mark.finding
    name = f"[{finding.code}]({href})" if href else finding.code
    yield f"**{name} {finding.name}** ({finding.severity.value})"
    yield ""
    yield plain(finding.message)
    if cost := memory(finding):
        yield from ("", f"**{cost}**")
    if mark.kept:
        yield from ("", "*Found before the last edit, which left something that does not parse.*")
    if about.why:
        yield from ("", "---", "", about.why)
    if about.measured:
        yield from ("", "---", "", about.measured)
    if finding.fix is not None:
        yield from ("", "---", "", f"{fix_kind(finding.fix)}: {plain(finding.fix.message)}")
        if finding.fix.safety is Safety.DISPLAY and source is not None and not mark.kept:
            lines = list(show_diff(source, finding.fix, None, Style(False), _WIDTH))
            fence = "````" if any("```" in line for line in lines) else "```"
            yield from ("", f"{fence}text", *lines, fence)
