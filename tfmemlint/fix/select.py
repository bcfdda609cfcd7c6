"""Which of a file's fixes to apply together: whole ones that do not touch each other's text."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable

from tfmemlint.finding import Edit, Finding, Safety


def select_fixes(
    findings: Iterable[Finding], *, unsafe: bool = False, fixable: Callable[[str], bool] = lambda code: True
) -> tuple[Finding, ...]:
    """The findings whose fixes can be applied together, in order of their place.

    Safe fixes are taken, unsafe ones too where `unsafe` says so, and only of codes that are `fixable`. Where two fixes
    would change the same text, the one of the earlier finding is taken whole; the other waits for the next round.
    """
    chosen: list[Finding] = []
    taken: list[Edit] = []
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        if finding.fix is None or not fixable(finding.code):
            continue
        if finding.fix.safety is not Safety.SAFE and not (unsafe and finding.fix.safety is Safety.UNSAFE):
            continue
        new = [edit for edit in finding.fix.edits if not _is_shared(edit, taken)]
        if new and not any(_conflicts(edit, taken) for edit in new):
            chosen.append(finding)
            for edit in new:
                insort(taken, edit)
    return tuple(chosen)


def merged_edits(findings: Iterable[Finding]) -> tuple[Edit, ...]:
    """All edits of the fixes of these findings in order; a line that several of them add is added once."""
    return tuple(sorted({edit for finding in findings if finding.fix for edit in finding.fix.edits}))


def _is_shared(edit: Edit, taken: list[Edit]) -> bool:
    """Whether the edit is made already: two fixes may add the same whole line, such as an import, or delete the same
    text; a bracket that both add is another matter."""
    index = bisect_left(taken, edit)
    made = index < len(taken) and taken[index] == edit
    return made and (edit.start < edit.end or edit.content.endswith("\n"))


def _conflicts(edit: Edit, taken: list[Edit]) -> bool:
    """Whether the edit overlaps a taken one, or adds text at the very place where another does.

    The taken edits are apart from each other, so only the two next to the edit's place can reach it.
    """
    index = bisect_left(taken, edit)
    for other in taken[max(index - 1, 0) : index + 1]:
        if edit.start < other.end and other.start < edit.end:
            return True
        if edit.start == edit.end == other.start == other.end:
            return True
    return False
