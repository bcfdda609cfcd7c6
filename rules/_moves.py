"""Moving statements to an earlier place in their block."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._environment import settings

from tfmemlint.api import (
    Api,
    Binds,
    Call,
    Class,
    Edit,
    File,
    Fix,
    Function,
    Node,
    Safety,
    Span,
    statement_lines,
    walk,
    written,
)
from tfmemlint.query.runtime import initialises


def move_before(file: File, moved: Node, anchor: Node) -> Fix | None:
    """Move the statement that holds `moved`, and the assignments it reads from, before the one that holds `anchor`.

    None where the two share no block, where a name that is read would not be bound at the new place, and where what
    moves may itself start the runtime, before `moved` or before another setting that stays behind.
    """
    blocks = _common_block(file, moved, anchor)
    if blocks is None:
        return None
    body, first, last = blocks
    wanted = _with_assignments(file, body, first, last)
    if wanted is None:
        return None
    indices, constant = wanted
    if first in indices and file.tree.contains(body[first], anchor):
        return None  # it reads what the anchor makes
    if _starts_early(file, body, (first, last), indices, moved):
        return None
    found = [statement_lines(file, body[i]) for i in indices]
    target = statement_lines(file, body[first])
    if target is None or any(span is None for span in found):
        return None
    source = file.source.text
    spans = [_with_comments(source, span) for span in found if span is not None]
    at = _with_comments(source, target).start
    text = "".join(source[s.start : s.end] for s in spans)
    text = text if text.endswith("\n") else text + "\n"
    gone: list[Edit] = []
    for edit in (_deletion(file, span, at) for span in spans):
        if gone and edit.start <= gone[-1].end:
            edit = Edit(gone.pop().start, edit.end, "")
        gone.append(edit)
    if gone[-1].end == len(source) and not source.endswith("\n"):
        gone[-1] = Edit(gone[-1].start - 1, gone[-1].end, "")  # a file that ended without a line end still does
    edits = [Edit(at, at, text), *gone]
    return Fix("configure devices before the runtime starts", tuple(edits), Safety.SAFE if constant else Safety.UNSAFE)


def _starts_early(file: File, body: list[Node], between: tuple[int, int], indices: list[int], moved: Node) -> bool:
    """Whether what moves may start the runtime before it is configured: before `moved`, in a loop around it, or behind
    it while another setting stays where it is."""
    place, loop = file.tree.order(moved), file.contexts.loop(moved)
    starts = [call.node for i in indices for call in _calls(body[i], file) if _may_start(call)]
    if any(file.tree.order(node) < place or (loop and file.contexts.loop(node) is loop) for node in starts):
        return True
    first, last = between
    staying = [body[i] for i in range(first, last) if i not in indices]
    return bool(starts) and any(_configures(statement, file) for statement in staying)


def _calls(statement: Node, file: File) -> Iterator[Call]:
    return (file.call(node) for node in walk(statement, cst.Call))


def _may_start(call: Call) -> bool:
    return initialises(call) or any(isinstance(target, (Function, Class)) for target in call.target.options)


def _configures(statement: Node, file: File) -> bool:
    """Whether a statement sets something that is read when the runtime starts."""
    if any(file.tree.contains(statement, setting.place) for setting in settings(file)):
        return True
    names = (name for call in _calls(statement, file) for name in call.names)
    return any(name.startswith("tf.config.") and "set_" in name for name in names)


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


def _common_block(file: File, moved: Node, anchor: Node) -> tuple[list[Node], int, int] | None:
    above = [moved, *file.tree.ancestors(moved)]
    others = {id(node) for node in (anchor, *file.tree.ancestors(anchor))}
    for node in above:
        if isinstance(node, (cst.Module, cst.IndentedBlock)) and id(node) in others:
            body: list[Node] = list(node.body)
            holds, anchors = file.tree.holding(body, moved), file.tree.holding(body, anchor)
            if holds is not None and anchors is not None and anchors < holds:
                return body, _runs(body, anchors, holds), holds
            return None
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            return None
    return None


def _runs(body: list[Node], first: int, last: int) -> int:
    """The first statement from this one on that does something: what a `def` holds runs when it is called."""
    while first < last and isinstance(body[first], (cst.FunctionDef, cst.ClassDef)):
        first += 1
    return first


def _with_assignments(file: File, body: list[Node], first: int, last: int) -> tuple[list[int], bool] | None:
    """The statements to move (indices), and whether they read nothing but imports, constants and each other."""
    indices, pending, constant = [last], [last], True
    while pending:
        for name in _reads(body[pending.pop()]):
            for definition in written(file.definitions(name)):
                home = file.tree.holding(body, definition.node)
                if home is None or home < first or home in indices:
                    continue
                if definition.binds is Binds.IMPORT or not isinstance(body[home], cst.SimpleStatementLine):
                    return None
                indices.append(home)
                pending.append(home)
    inside = [body[i] for i in indices]
    for statement in inside:
        for name in _reads(statement):
            value = file.value(name)
            local = any(file.tree.contains(s, d.node) for s in inside
                        for d in written(file.definitions(name)))  # fmt: skip
            constant = constant and (local or isinstance(value, Api))
    made = [definition for statement in inside for definition in file.bound_within(statement)]
    using = (file.tree.holding(body, use) for definition in made for use in file.uses_of(definition))
    used_between = any(place is not None and first <= place < last and place not in indices for place in using)
    return sorted(indices), constant and not used_between


def _reads(statement: Node) -> list[cst.Name]:
    return list(walk(statement, cst.Name))
