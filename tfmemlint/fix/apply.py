"""Applies fixes round by round until none is left, and takes back every one that does not do what it says.

Linting is handed in as a function, so that this module knows findings and text and nothing of rules.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from tfmemlint.finding import Edit, Finding, Severity, Span
from tfmemlint.fix.select import merged_edits
from tfmemlint.fix.write import FileChangedError, write_atomically
from tfmemlint.text.decoding import RewriteError
from tfmemlint.text.statements import Statements

if TYPE_CHECKING:
    from tfmemlint.text.source import Source

__all__ = ["MAX_ROUNDS", "FileChangedError", "Fixed", "Linted", "Refused", "fix_bytes", "write_atomically"]

MAX_ROUNDS = 10
"""Rounds after which no fewer fixes are left, and none will be. Fixes that add text at one place take a round each."""

# Findings of the engine itself: a crashed rule, an unreadable file, a syntax error. No fix may add one.
_TROUBLE = {
    "TFM000": "makes a check fail",
    "TFM001": "leaves a file that cannot be read",
    "TFM002": "leaves code that does not parse",
}


class Linted(Protocol):
    """What linting a file gave: its source, or None where there is none to edit, and its findings."""

    @property
    def source(self) -> Source | None: ...

    @property
    def findings(self) -> tuple[Finding, ...]: ...


Result = TypeVar("Result", bound=Linted)


@dataclass(frozen=True, slots=True)
class Refused:
    """A fix that this file cannot take, such as one in a magic command or with letters its encoding lacks."""

    finding: Finding
    reason: str


@dataclass(frozen=True)
class Fixed(Generic[Result]):
    """The outcome for one file: its new bytes, what linting them gives, and what became of the fixes."""

    data: bytes
    linted: Result
    applied: tuple[Finding, ...] = ()
    """The findings whose fixes were applied; their places are those of the text before their round."""
    failed: tuple[Finding, ...] = ()
    """A TFM000 for each fix that was taken back, naming its rule."""
    refused: tuple[Refused, ...] = ()


def fix_bytes(
    data: bytes,
    lint: Callable[[bytes], Result],
    choose: Callable[[Sequence[Finding]], Sequence[Finding]],
    linted: Result | None = None,
) -> Fixed[Result]:
    """Apply the fixes that `choose` selects from a file's findings, lint again, and so on until there are none.

    A round counts only if the file still parses, holds exactly the old text with the edits made, still has every
    statement that no edit touches, has lost the repaired findings and has no new one of their codes. If a round as a
    whole does not, its fixes are tried one at a time, and those at fault are left out. `linted` is the result for
    `data` where it is known already.
    """
    run = _Run(data, linted if linted is not None else lint(data), lint)
    history = {data: 0}
    fewest, rounds = run.count_left(), 0
    while rounds < MAX_ROUNDS:
        chosen = run.choose(choose)
        if not chosen:
            return run.result()
        before = run.data
        run.apply(chosen)
        if run.data != before and run.data in history:
            run.applied = run.applied[: history[run.data]]
            run.report(chosen, "undo what another fix does")
            return run.result()
        history[run.data] = len(run.applied)
        left = run.count_left()
        fewest, rounds = min(fewest, left), 0 if left < fewest else rounds + 1
    chosen = run.choose(choose)
    if chosen:
        run.report(chosen, f"still find something to repair after {MAX_ROUNDS} rounds")
    return run.result()


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why fixes were taken back, and whether the file is to blame rather than the rule."""

    reason: str
    is_refusal: bool = False


@dataclass
class _Run(Generic[Result]):
    """The state of one file between rounds."""

    data: bytes
    linted: Result
    lint: Callable[[bytes], Result]
    applied: list[Finding] = field(default_factory=list)
    rejected: list[tuple[Finding, _Fault]] = field(default_factory=list)
    """The findings whose fixes are not to be tried again, at their places in the present text."""
    waiting: list[Finding] = field(default_factory=list)
    """The findings of this round whose fixes are yet to be tried, at their places in the present text."""
    reports: list[Finding] = field(default_factory=list)

    def result(self) -> Fixed[Result]:
        """The outcome so far."""
        failed = [
            _internal_error(finding.span, f"the fix of {finding.code} ({finding.name}) {fault.reason}; not applied")
            for finding, fault in self.rejected
            if not fault.is_refusal
        ]
        refused = [Refused(finding, fault.reason) for finding, fault in self.rejected if fault.is_refusal]
        return Fixed(self.data, self.linted, tuple(self.applied), (*failed, *self.reports), tuple(refused))

    def choose(self, choose: Callable[[Sequence[Finding]], Sequence[Finding]]) -> tuple[Finding, ...]:
        """The fixes of the next round, without those that were tried in vain."""
        in_vain = {(finding.code, finding.span) for finding, _ in self.rejected}
        return tuple(choose([found for found in self.linted.findings if (found.code, found.span) not in in_vain]))

    def count_left(self) -> int:
        """How many findings have a fix."""
        return sum(finding.fix is not None for finding in self.linted.findings)

    def apply(self, findings: Sequence[Finding]) -> None:
        """Apply these fixes together or, where that goes wrong, those of them that go well one at a time."""
        fault = self._attempt(findings)
        if fault and len(findings) == 1:
            self.rejected.append((findings[0], fault))
        elif fault:
            self.waiting = list(findings)
            while self.waiting:
                self._apply_alone(self.waiting.pop(0))

    def report(self, findings: Sequence[Finding], what: str) -> None:
        """Add a TFM000 that names the rules of these findings."""
        codes = ", ".join(sorted({finding.code for finding in findings}))
        length = len(self.linted.source.text) if self.linted.source else 0
        start = min(findings[0].span.start, length)
        self.reports.append(_internal_error(Span(start, start), f"the fixes of {codes} {what}; stopped repairing"))

    def _apply_alone(self, finding: Finding) -> None:
        same = (found for found in self.linted.findings if (found.code, found.span) == (finding.code, finding.span))
        present = next(same, None)
        if present is None or present.fix is None or finding.fix is None:
            return
        if present.fix.safety is not finding.fix.safety:  # not what was chosen any more: the next round decides
            return
        fault = self._attempt([present])
        if fault:
            self.rejected.append((present, fault))

    def _attempt(self, findings: Sequence[Finding]) -> _Fault | None:
        """Apply fixes together; when that goes wrong, everything is left as it was."""
        source = self.linted.source
        if source is None:
            return _Fault("has no text to change")
        edits = merged_edits(findings)
        try:
            data = source.rewrite(edits)
        except RewriteError as error:
            return _Fault(str(error), is_refusal=True)
        except ValueError:
            return _Fault("has edits outside the text")
        if data == self.data:
            return _Fault("changes nothing")
        after = self.lint(data)
        fault = _fault(self.linted, after, findings, source.edited_text(edits))
        if fault is None and after.source is not None and not _keeps_others(source, after.source, edits):
            fault = "changes a statement that it does not touch"
        if fault:
            return _Fault(fault)
        self.data, self.linted = data, after
        self.applied.extend(findings)
        self.waiting = [_moved(finding, edits) for finding in self.waiting]
        self.rejected = [(_moved(finding, edits), reason) for finding, reason in self.rejected]
        return None


def _fault(before: Linted, after: Linted, fixed: Sequence[Finding], expected: str) -> str | None:
    """What is wrong with the text after these fixes, or None."""
    old, new = (Counter(finding.code for finding in linted.findings) for linted in (before, after))
    for code, words in _TROUBLE.items():
        if new[code] > old[code]:
            return words
    if after.source is not None and after.source.text != expected:
        return "changes more than it says"
    for code, count in Counter(finding.code for finding in fixed).items():
        if new[code] > old[code] - count:
            return f"leaves the finding or makes another {code}"
    return None


def _keeps_others(before: Source, after: Source, edits: Sequence[Edit]) -> bool:
    """Whether each statement that no edit touches is still a statement, in the same order: none was swallowed by a
    string, a bracket or a continued line that an edit opens."""

    def is_touched(span: Span) -> bool:
        index = bisect_left(edits, span.start, key=lambda edit: edit.end)
        return index < len(edits) and edits[index].start <= span.end

    left = iter([after.text[span.start : span.end] for span in Statements(after).spans])
    spans = (span for span in Statements(before).spans if not is_touched(span))
    return all(before.text[span.start : span.end] in left for span in spans)


def _moved(finding: Finding, edits: Sequence[Edit]) -> Finding:
    """The finding at its place in the text after the edits."""

    def moved(offset: int) -> int:
        shift = 0
        for edit in edits:
            if edit.end > offset:
                if edit.start < offset:
                    return edit.start + shift + min(offset - edit.start, len(edit.content))
                break
            shift += len(edit.content) - (edit.end - edit.start)
        return offset + shift

    start = moved(finding.span.start)
    return replace(finding, span=Span(start, max(start, moved(finding.span.end))))


def _internal_error(span: Span, message: str) -> Finding:
    return Finding("TFM000", "internal-error", Severity.ERROR, message, span)
