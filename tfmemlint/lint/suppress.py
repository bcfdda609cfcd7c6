"""Which findings a file's comments silence, which comments silence nothing, and the writing of such comments."""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from tfmemlint.config.selectors import FAILURES, UNUSED
from tfmemlint.finding import Edit, Finding, Fix, Safety, Severity, Span
from tfmemlint.lint.directives import ENGINE_CODES, HINT, Codes, Directive, Item, read_directives, removal
from tfmemlint.lint.reaches import Reaches, Switches
from tfmemlint.text.source import Source
from tfmemlint.text.statements import Statements

_BLANK_LINE = re.compile(r"\n(?=[ \t]*\n)")

SWITCHES = ("disable", "enable")


class Suppressed(NamedTuple):
    """The findings of one file, sorted into those that stand, those that comments silence, and the TFM003 findings."""

    kept: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    unused: tuple[Finding, ...]


def may_suppress(text: str) -> bool:
    """Whether the text has any comment that could be meant for us; cheap, and never wrongly False."""
    return HINT.search(text) is not None


def apply_suppressions(
    source: Source,
    findings: Iterable[Finding],
    known_codes: Mapping[str, str] | Collection[str],
    enabled_codes: Collection[str],
) -> Suppressed:
    """Sort the findings of one file by its comments.

    `known_codes` gives the name of every rule that is installed, by code, selected or not: an entry of a comment that
    is neither is reported as unknown. Codes without names will do; comments cannot name rules then. `enabled_codes` are
    those that ran on this file: only an entry all of whose codes ran can be called unused. A file that was not checked
    to the end has no unused entries. No failure (TFM000 to TFM002) is ever silenced.
    """
    findings = tuple(findings)
    if not may_suppress(source.text):
        return Suppressed(findings, (), ())
    comments = _Comments(source, known_codes)
    if not comments.directives:
        return Suppressed(findings, (), ())
    kept: list[Finding] = []
    silenced: list[Finding] = []
    failed = False
    for finding in findings:
        failed = failed or finding.code in FAILURES
        (silenced if comments.silence(finding) else kept).append(finding)
    ran = frozenset() if failed else frozenset(enabled_codes)
    return Suppressed(tuple(kept), tuple(silenced), tuple(comments.unused(ran)))


def add_ignores(source: Source, findings: Iterable[Finding], reason: str = "") -> list[Edit]:
    """The edits that write a `# tfmemlint: ignore[...]` comment, with the reason, for each statement with findings.

    A comment of ours that the statement has already takes the codes up. Failures and TFM003 are left out.
    """
    comments = _Comments(source, {})
    groups: dict[Span, list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        if finding.code not in ENGINE_CODES:
            groups.setdefault(comments.statement_of(finding.span.start), []).append(finding)
    words = f" -- {' '.join(reason.split())}" if reason.strip() else ""
    return sorted(edit for group in groups.values() for edit in comments.ignoring(group, words))


class _Comments:
    """The directives of one source and the text that each of them reaches."""

    def __init__(self, source: Source, known: Mapping[str, str] | Collection[str]) -> None:
        self.source = source
        self.silencing: set[tuple[Span, str]] = set()
        """The stretches of text for which comments have silenced findings of a code."""
        self.codes = Codes(known)
        self.statements = Statements(source)
        self.directives = read_directives(self.statements)
        self.covered = {id(each): self.codes.covered(each) for each in self.directives}
        self._last_blank_lines: dict[int, int] = {}
        self._hiding: dict[tuple[Span, str], bool] = {}
        switches = [each for each in self.directives if each.verb in SWITCHES]
        self.switches = Switches([(self._switch_point(each), each) for each in switches], self.covered)
        reaches = [(self._reach(each), each) for each in self.directives if each.verb not in SWITCHES]
        self.reaches = Reaches(reaches, self._whole, self.covered)

    @property
    def _whole(self) -> Span:
        return Span(0, len(self.statements.text))

    def _reach(self, directive: Directive) -> Span:
        """Where an `ignore`, `noqa` or `file-ignore` holds."""
        comment = directive.comment
        if directive.verb == "file-ignore":
            return self._whole
        index = self.statements.at(comment.start)
        if index is not None:
            return self.statements.with_decorators(index)
        below = None if directive.is_noqa else self.statements.after(comment.end)
        if below is not None:
            start = self.statements.spans[below].start
            same = self.statements.block_of(start) == self.statements.block_of(comment.start)
            if same and self._last_blank_line(below) < comment.end:
                return self.statements.with_decorators(below)
        return self.source.line_span(comment.start)

    def _last_blank_line(self, index: int) -> int:
        """The offset of the last blank line between a logical line and the one before it; -1 if there is none."""
        if index not in self._last_blank_lines:
            spans = self.statements.spans
            before = spans[index - 1].end if index else 0
            found = [match.start() for match in _BLANK_LINE.finditer(self.statements.text, before, spans[index].start)]
            self._last_blank_lines[index] = found[-1] if found else -1
        return self._last_blank_lines[index]

    def _switch_point(self, directive: Directive) -> int:
        """A `disable` holds from the start of its own line, an `enable` from its comment on."""
        start = directive.comment.start
        return self.source.line_span(start).start if directive.verb == "disable" else start

    def silence(self, finding: Finding) -> bool:
        """Whether a comment silences the finding; notes with each that does that it is of use."""
        if finding.code in FAILURES:
            return False
        place, code = finding.span.start, finding.code
        spans = [span for span in self.reaches.around(place) if self.reaches.speaking(span, code)]
        self.silencing.update((span, code) for span in spans)
        off = self.switches.disabling(place, code)
        if off is not None:
            off.used.add(code)
        return bool(spans) or off is not None

    def note_uses(self) -> None:
        """Tell the directives of which codes they have silenced findings."""
        for span, code in self.silencing:
            for directive in self.reaches.speaking(span, code):
                directive.used.add(code)
        self.silencing.clear()

    def unused(self, ran: frozenset[str]) -> Iterator[Finding]:
        """A TFM003 for each directive with entries that silence nothing, unless that is silenced too."""
        self.note_uses()
        for directive in self.directives:
            finding = self._report(directive, ran)
            if finding and not self._is_hidden(finding):
                yield finding

    def _is_hidden(self, finding: Finding) -> bool:
        place, code = finding.span.start, finding.code
        for span in self.reaches.around(place):
            if (span, code) not in self._hiding:
                self._hiding[span, code] = any(map(self._hides, self.reaches.speaking(span, code)))
            if self._hiding[span, code]:
                return True
        off = self.switches.disabling(place, code)
        return off is not None and self._hides(off)

    def _hides(self, directive: Directive) -> bool:
        """Only a comment that says so hides a TFM003: one that names it, or a bare `noqa`."""
        if directive.items is None:
            return directive.is_noqa
        return any(self.codes.meant(item.text) == {UNUSED} for item in directive.items)

    def _report(self, directive: Directive, ran: frozenset[str]) -> Finding | None:
        if directive.fault:
            return _finding(directive, f"this comment silences nothing: {directive.fault}", None)
        if not directive.items:
            if directive.items is None and not self._is_idle(directive, self.codes.all, ran):
                return None
            why = "it names no code" if directive.items is not None else "no rule reports anything here"
            return _finding(directive, f"this comment silences nothing: {why}", self._removal(directive, ()))
        ours = [item for item in directive.items if self.codes.is_ours(directive, item)]
        unknown = [item for item in ours if not self.codes.meant(item.text)]
        idle = [item for item in ours if self._is_idle(directive, self.codes.meant(item.text), ran)]
        if not unknown and not idle:
            return None
        parts = [f"{_listed(idle)} not reported here"] if idle else []
        parts += [f"{_listed(unknown)} no known code or rule name"] if unknown else []
        fix = self._removal(directive, unknown + idle)
        return _finding(directive, f"this suppression is unused: {', '.join(parts)}", fix)

    def _is_idle(self, directive: Directive, meant: frozenset[str], ran: frozenset[str]) -> bool:
        rules = meant - frozenset(ENGINE_CODES)
        if directive.verb == "enable" or (directive.is_noqa and directive.items is None):
            return False
        return bool(rules) and rules <= ran and not meant & directive.used

    def _removal(self, directive: Directive, dropped: Collection[Item]) -> Fix:
        """Takes the entries out, those of the `enable` that ends an unused `disable` included."""
        edits = [removal(self.statements, directive, dropped)]
        gone = {item.text.upper() for item in dropped}
        if directive.verb == "disable" and (gone or directive.items is None):
            # A last line without a line end is taken out with the one before it, which may be gone already.
            closing = self._closing(directive, gone)
            edits += [Edit(max(edit.start, edits[0].end), edit.end, edit.content) for edit in closing]
        whole = len(dropped) == len(directive.items or ())
        return Fix("remove the unused comment" if whole else "remove the unused codes", tuple(edits), Safety.SAFE)

    def _closing(self, directive: Directive, gone: set[str]) -> Iterator[Edit]:
        for each, texts in self.switches.closing(directive, gone):
            dropped = [item for item in each.items or () if item.text.upper() in texts]
            yield removal(self.statements, each, dropped)

    def statement_of(self, offset: int) -> Span:
        """The logical line, decorators included, that a comment about this place stands on."""
        index = self.statements.at(offset)
        return self.source.line_span(offset) if index is None else self.statements.with_decorators(index)

    def ignoring(self, group: list[Finding], words: str) -> Iterator[Edit]:
        """The edit that silences findings of one statement."""
        first = group[0].span.start
        codes = sorted({finding.code for finding in group})
        directive = self._ignoring(first)
        if directive is not None and directive.items:
            new = [code for code in codes if code not in self.covered_texts(directive)]
            if new:
                end = directive.items[-1].end
                yield Edit(end, end, "".join(f", {code}" for code in new))
            return
        comment = f"# tfmemlint: ignore[{', '.join(codes)}]{words}"
        yield self._placed(first, self.statement_of(first), comment)

    def _ignoring(self, place: int) -> Directive | None:
        """The first comment that may take up more codes for a place."""
        held = (each for span in self.reaches.around(place) for each in self.reaches.directives(span))
        fitting = (each for each in held if each.verb == "ignore" and each.items and not each.fault)
        return min(fitting, key=lambda directive: directive.start, default=None)

    @staticmethod
    def covered_texts(directive: Directive) -> set[str]:
        """The entries of a directive as they are written, in capitals."""
        return {item.text.upper() for item in directive.items or ()}

    def _placed(self, first: int, statement: Span, comment: str) -> Edit:
        """At the end of the finding's line, or the next of the statement where a comment may stand, or above it."""
        text, ends = self.statements.text, self.statements.line_ends
        at = bisect.bisect_left(ends, first)
        if at < len(ends) and ends[at] <= statement.end:
            line = self.source.line_span(ends[at])
            bare = max(line.start + len(text[line.start : line.end].rstrip()), first)
            return Edit(bare, line.end, f"  {comment}")
        line = self.source.line_span(statement.start)
        return Edit(line.start, line.start, f"{text[line.start : statement.start]}{comment}\n")


def _listed(items: list[Item]) -> str:
    names = [item.text for item in items]
    verb = "is" if len(names) == 1 else "are"
    return f"{', '.join(names)} {verb}"


def _finding(directive: Directive, message: str, fix: Fix | None) -> Finding:
    span = Span(directive.start, directive.end)
    return Finding(UNUSED, ENGINE_CODES[UNUSED], Severity.WARNING, message, span, fix=fix)
