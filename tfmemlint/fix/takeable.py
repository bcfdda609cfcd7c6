"""Which repairs a file can take, told before anybody asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.finding import Finding, Safety
from tfmemlint.text.decoding import RewriteError

if TYPE_CHECKING:
    from tfmemlint.text.source import Source


def takeable(source: Source | None, findings: Sequence[Finding]) -> Sequence[Finding]:
    """The findings, repairs that the file cannot take being suggestions which say why: one in a magic command, one over
    the end of a cell, one with letters that the file's encoding lacks."""
    offered = [finding for finding in findings if finding.fix and finding.fix.safety is not Safety.DISPLAY]
    refused = _refusals(source, offered) if source and offered else {}
    return [_by_hand(finding, refused[finding]) if finding in refused else finding for finding in findings]


def _refusals(source: Source, findings: Sequence[Finding]) -> dict[Finding, str]:
    """Why the file does not take these findings' repairs. All are tried at once, as writing a notebook takes long, and
    where that fails one half at a time: some may only be in each other's way."""
    try:
        source.rewrite(sorted({edit for finding in findings if finding.fix for edit in finding.fix.edits}))
        return {}
    except ValueError as error:
        if len(findings) == 1:  # another error than this one is the rule's own fault, which repairing names
            return {findings[0]: str(error)} if isinstance(error, RewriteError) else {}
    middle = len(findings) // 2
    return {**_refusals(source, findings[:middle]), **_refusals(source, findings[middle:])}


def _by_hand(finding: Finding, reason: str) -> Finding:
    assert finding.fix is not None
    return replace(
        finding,
        fix=replace(finding.fix, safety=Safety.DISPLAY, message=f"{finding.fix.message} (by hand: {reason})"),
    )
