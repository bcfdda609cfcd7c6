"""Moving a setting, with what it reads, in front of what has to come after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.finding import Edit, Fix, Span
from tfmemlint.fix.edits import statement_lines
from tfmemlint.model.values import Class, Function
from tfmemlint.query.runtime.environment import settings
from tfmemlint.query.runtime.runtime import initialises
from tfmemlint.syntax.scopes import Binds, written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


def move_before(file: File, moved: Node, anchor: Node, message: str) -> Fix | None:
    """Move the statement that holds `moved`, and the assignments it reads from, before the one that holds `anchor`,
    which starts the runtime.

    Always unsafe: what was set too late takes effect from then on, or raises no error any more. None where the two
    share no block, where a name that is read would not be bound at the new place, and where what moves may itself start
    the runtime, before `moved` or before another setting that stays behind.
    """
    blocks = _common_block(file, moved, anchor)
    if blocks is None:
        return None
    body, first, last = blocks
    indices = _with_assignments(file, body, first, last)
    if indices is None or (first in indices and file.tree.contains(body[first], anchor)):
        return None  # the latter reads what the anchor makes
    if _starts_early(file, body, (first, last), indices, moved):
        return None
    edits = _moving(file, [body[i] for i in indices], body[first])
    if edits is None:
        return None
    return Fix.unsafe(message, edits)


# -- what moves ------------------------------------------------------------------------------------------------------


def _common_block(file: File, moved: Node, anchor: Node) -> tuple[list[Node], int, int] | None:
    """The innermost block of the same function that holds both, with the first statement to move in front of and the
    last one that moves; None where the anchor comes later."""
    others = {id(node) for node in (anchor, *file.tree.ancestors(anchor))}
    for node in (moved, *file.tree.ancestors(moved)):
        if isinstance(node, (cst.Module, cst.IndentedBlock)) and id(node) in others:
            body: list[Node] = list(node.body)
            holds, anchors = file.tree.holding(body, moved), file.tree.holding(body, anchor)
            if holds is not None and anchors is not None and anchors < holds:
                passed = _at_once(file, anchor, body[anchors])
                return body, anchors if passed else _runs(body, anchors, holds), holds
            return None
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            return None
    return None


def _at_once(file: File, anchor: Node, statement: Node) -> bool:
    """Whether a place in a `def` or `class` is passed where that statement is, as a parameter's default is."""
    functions = [node for node in file.tree.ancestors(anchor) if isinstance(node, (cst.FunctionDef, cst.Lambda))]
    inside = [function for function in functions if file.tree.contains(statement, function)]
    return not any(file.tree.contains(function.body, anchor) for function in inside)


def _runs(body: list[Node], first: int, last: int) -> int:
    """The first statement from this one on that does something: what a `def` holds runs when it is called."""
    while first < last and isinstance(body[first], (cst.FunctionDef, cst.ClassDef)):
        first += 1
    return first


def _with_assignments(file: File, body: list[Node], first: int, last: int) -> list[int] | None:
    """The statements to move (indices): the last, and from `first` on those that bind what they read; None where one of
    these cannot move."""
    indices, pending = [last], [last]
    while pending:
        for name in walk(body[pending.pop()], cst.Name):
            for definition in written(file.definitions(name)):
                home = file.tree.holding(body, definition.node)
                if home is None or home < first or home in indices:
                    continue
                if definition.binds is Binds.IMPORT or not isinstance(body[home], cst.SimpleStatementLine):
                    return None
                indices.append(home)
                pending.append(home)
    return sorted(indices)


# -- whether the runtime still starts later --------------------------------------------------------------------------


def _starts_early(file: File, body: list[Node], between: tuple[int, int], indices: list[int], moved: Node) -> bool:
    """Whether what moves may start the runtime before it is configured: before `moved`, in a loop around it, or behind
    it while another setting stays where it is."""
    place, loop = file.tree.order(moved), file.contexts.loop(moved)
    starts = [call.node for i in indices for call in _calls(file, body[i]) if _may_start(file, call)]
    if any(file.tree.order(node) < place or (loop and file.contexts.loop(node) is loop) for node in starts):
        return True
    first, last = between
    staying = [body[i] for i in range(first, last) if i not in indices]
    return bool(starts) and any(_configures(file, statement) for statement in staying)


def _calls(file: File, statement: Node) -> list[Call]:
    return [file.call(node) for node in walk(statement, cst.Call)]


def _may_start(file: File, call: Call) -> bool:
    return initialises(file, call) or any(isinstance(target, (Function, Class)) for target in call.target.options)


def _configures(file: File, statement: Node) -> bool:
    """Whether a statement sets something that is read when the runtime starts."""
    if any(file.tree.contains(statement, setting.node) for setting in settings.of(file)):
        return True
    names = [name for call in _calls(file, statement) for name in call.names]
    return any(name.startswith("tf.config.") and "set_" in name for name in names)


# -- lines -----------------------------------------------------------------------------------------------------------


def _moving(file: File, statements: list[Node], target: Node) -> tuple[Edit, ...] | None:
    """The edits that write statements before another one; None where one of them shares its lines with others."""
    found, goal = [statement_lines(file, statement) for statement in statements], statement_lines(file, target)
    if goal is None or any(span is None for span in found):
        return None
    source = file.source.text
    spans = [_with_comments(source, span) for span in found if span is not None]
    at = _with_comments(source, goal).start
    text = "".join(source[s.start : s.end] for s in spans)
    gone: list[Edit] = []
    for edit in (_deletion(file, span, at) for span in spans):
        if gone and edit.start <= gone[-1].end:
            edit = Edit(gone.pop().start, edit.end, "")
        gone.append(edit)
    if gone[-1].end == len(source) and not source.endswith("\n"):
        gone[-1] = Edit(gone[-1].start - 1, gone[-1].end, "")  # a file that ended without a line end still does
    return (Edit(at, at, text if text.endswith("\n") else text + "\n"), *gone)


def _with_comments(source: str, lines: Span) -> Span:
    """The lines of a statement with the comment lines directly above it."""
    start = lines.start
    while start > 0:
        above = source.rfind("\n", 0, start - 1) + 1
        if not source[above:start].lstrip(" \t").startswith("#") or source[above:start].startswith("#!"):
            break
        start = above
    return Span(start, lines.end)


def _deletion(file: File, lines: Span, at: int) -> Edit:
    """Takes lines out, with the blank lines above them; those between two cells of a notebook are no cell's."""
    source, start = file.source.text, lines.start
    first = max(block.span.start for block in file.source.blocks if block.span.start <= start)
    while start - 1 > max(at, first) and source[source.rfind("\n", 0, start - 1) + 1 : start].strip() == "":
        start = source.rfind("\n", 0, start - 1) + 1
    return Edit(start, lines.end, "")
