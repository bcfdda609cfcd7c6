"""What an editor offers at a finding: repairs, silence, the rule's page; and all safe repairs of a file.

Edits are made when an action is chosen, by the repairs of `check --fix`: tried, linted again and taken back where they
do not do what they say. So an action that is offered may come back with no edit, and a line that says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lsprotocol import types

from tfmemlint.config.selectors import FAILURES, UNUSED
from tfmemlint.finding import Safety, Span
from tfmemlint.lint.suppress import add_ignores
from tfmemlint.report.rawedits import difference
from tfmemlint.server.documents import Document, FileDocument, Text, cells_of
from tfmemlint.server.positions import touches
from tfmemlint.server.questions import Lint, Repair
from tfmemlint.server.session import State
from tfmemlint.server.shown import Marked
from tfmemlint.text.decoding import SourceError, decode_python, decode_utf8

FIX_ALL = "source.fixAll.tfmemlint"
NOTEBOOK_FIX_ALL = "notebook.source.fixAll.tfmemlint"
QUICK_FIX = types.CodeActionKind.QuickFix
KINDS = (QUICK_FIX, FIX_ALL, NOTEBOOK_FIX_ALL)
OPEN_PAGE = "tfmemlint.openRulePage"

Edits: TypeAlias = dict[str, list[types.TextEdit]]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What an action is to do, as it goes to the editor and back: `due` is the state of the document that it was made
    for, `what` one of "fix", "rule", "all" and "silence"."""

    uri: str
    due: int
    what: str
    code: str = ""
    start: int = 0
    end: int = 0
    unsafe: bool = False

    def to_json(self) -> dict[str, Any]:
        """It as numbers and words, which come back from all editors as they were; Emacs knows no false."""
        words = {name: getattr(self, name) for name in _KINDS}
        return {**words, "unsafe": int(self.unsafe)}

    @classmethod
    def from_json(cls, data: Any) -> Chosen | None:
        """What was written by `to_json`; None for anything else."""
        if not isinstance(data, dict) or set(data) != set(_KINDS):
            return None
        if not all(isinstance(data[name], int if kind is bool else kind) for name, kind in _KINDS.items()):
            return None
        made = cls(**{name: kind(data[name]) for name, kind in _KINDS.items()})
        return made if 0 <= made.start <= made.end else None


_KINDS = {"uri": str, "due": int, "what": str, "code": str, "start": int, "end": int, "unsafe": bool}


def actions(state: State, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """What is offered at a range of a document, all of it without edits."""
    only, uri = params.context.only, params.text_document.uri
    standing = [each for each in state.marks if not each.kept]
    here = [each for each in standing if each.uri == uri and touches(each.diagnostic.range, params.range)]
    if _is_asked(QUICK_FIX, only):
        for each in sorted(here, key=lambda mark: mark.diagnostic.range.start.line):
            yield from _for_finding(state, each)
    kind = NOTEBOOK_FIX_ALL if only and any(each.startswith("notebook") for each in only) else FIX_ALL
    safe = any(_safety(each) is Safety.SAFE for each in standing)
    if safe and _is_asked(kind, only):
        yield _action(state, "Make all safe repairs of tfmemlint", kind, "all")


def _is_asked(kind: str, only: Sequence[str] | None) -> bool:
    return not only or any(kind == each or kind.startswith(f"{each}.") for each in only)


def _safety(mark: Marked) -> Safety | None:
    fix = mark.finding.fix
    return fix.safety if fix is not None and fix.safety is not Safety.DISPLAY else None


def _for_finding(state: State, mark: Marked) -> Iterator[types.CodeAction]:
    finding, code = mark.finding, mark.finding.code
    safety = _safety(mark)
    if safety is not None and finding.fix is not None:
        unsafe = safety is Safety.UNSAFE
        mode = "Unsafe: " if unsafe else ""
        words = finding.fix.message if unsafe else finding.fix.message[:1].upper() + finding.fix.message[1:]
        action = _action(state, f"{mode}{words} ({code})", QUICK_FIX, "fix", mark, unsafe)
        action.is_preferred = not unsafe
        yield action
        count = Counter((each.finding.code, _safety(each)) for each in state.marks)[code, safety]
        if count > 1:
            verb = "fix" if unsafe else "Fix"
            title = f"{mode}{verb} all {count} of {code} ({finding.name}) in this file"
            yield _action(state, title, QUICK_FIX, "rule", mark, unsafe)
    if code not in FAILURES and code != UNUSED:
        yield _action(state, f"Silence {code} ({finding.name}) here", QUICK_FIX, "silence", mark)
    title = f"Open the page of {code} ({finding.name})"
    command = types.Command(title, OPEN_PAGE, arguments=[code])
    yield types.CodeAction(title, QUICK_FIX, [mark.diagnostic], command=command)


def _action(
    state: State, title: str, kind: str, what: str, mark: Marked | None = None, unsafe: bool = False
) -> types.CodeAction:
    span = mark.finding.span if mark else Span(0, 0)
    code = mark.finding.code if mark else ""
    chosen = Chosen(state.document.uri, state.due, what, code, span.start, span.end, unsafe)
    return types.CodeAction(title, kind, [mark.diagnostic] if mark else None, data=chosen.to_json())


def repair_for(chosen: Chosen, question: Lint) -> Repair:
    """The question that a chosen repair asks."""
    span = Span(chosen.start, chosen.end) if chosen.what == "fix" else None
    return Repair(question, chosen.code, span, chosen.unsafe)


def silenced(state: State, chosen: Chosen) -> bytes | None:
    """The bytes of the document with the comment that silences a finding; None where it cannot be written."""
    source = state.result.source if state.result is not None else None
    wanted = (chosen.code, Span(chosen.start, chosen.end))
    finding = next((each.finding for each in state.marks if (each.finding.code, each.finding.span) == wanted), None)
    if source is None or finding is None:
        return None
    try:
        return source.rewrite(add_ignores(source, [finding]))
    except ValueError:
        return None


def edits(document: Document, before: bytes, after: bytes) -> Edits:
    """The edits of the document's texts that make what `before` became."""
    if before == after:
        return {}
    if not isinstance(document, FileDocument):
        old, new = cells_of(before), cells_of(after)
        pairs = ((document.text_at(cell), *texts) for cell, texts in enumerate(zip(old, new, strict=True), start=1))
        found = {text.uri: text_edits(text, one, other) for text, one, other in pairs if text is not None}
        return {uri: made for uri, made in found.items() if made}
    decode = decode_utf8 if document.is_markup else decode_python
    try:
        return {document.text.uri: text_edits(document.text, decode(before).raw, decode(after).raw)}
    except SourceError:
        return {}


def text_edits(text: Text, old: str, new: str) -> list[types.TextEdit]:
    """The edits that make `new` of a text that holds `old`, or what its encoding made of that: characters that it lacks
    are other ones there, and all lines are as long."""
    shift = 1 if text.text.startswith("\ufeff") and not old.startswith("\ufeff") else 0
    return [
        types.TextEdit(text.lines.range(each.start + shift, each.end + shift), each.content)
        for each in difference(old, new)
    ]
