"""Moving statements out of loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.finding import Edit, Fix, Safety
from tfmemlint.fix.edits import indentation, statement_lines
from tfmemlint.syntax.names import Loop, assigned_names, free_names
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def hoist(file: File, statements: Sequence[Node], message: str) -> Fix | None:
    """Move statements that follow each other in a loop's body in front of the outermost loop around on which they do
    not depend; unsafe, as they then run once, and also where the loop runs not at all.

    None where they are no plain assignments or `def`s, stand in a condition, share a line with other code, are all
    that the loop does, hold a string of several lines, or read what the loop binds.
    """
    block = file.tree.parent(statements[0])
    spans = [span for span in (statement_lines(file, each) for each in statements) if span is not None]
    if not isinstance(block, cst.IndentedBlock) or len(block.body) <= len(statements) or len(spans) < len(statements):
        return None
    first = next(i for i, each in enumerate(block.body) if each is statements[0])
    if list(block.body[first : first + len(statements)]) != list(statements):
        return None
    if not all(_bound_names(each) for each in statements) or any(_string_of_lines(file, each) for each in statements):
        return None
    target = None if _carries(file, statements) else _outermost(file, statements, block)
    if target is None:
        return None
    text = file.source.text
    moved = _reindent(text[spans[0].start : spans[-1].end], indentation(file, statements[0]), indentation(file, target))
    place = file.source.line_span(file.span(target).start).start
    # Blank lines below the first statements of a block would open it.
    end = spans[-1].end + (_blank(text[spans[-1].end :]) if first == 0 else 0)
    return Fix(message, (Edit(place, place, moved), Edit(spans[0].start, end, "")), Safety.UNSAFE)


def loops_left(file: File, fix: Fix | None, node: Node) -> list[Loop]:
    """The loops around a node in which it still runs after this `hoist`, the innermost first; none without one."""
    if fix is None:
        return []
    return [loop for loop in file.contexts.loops(node) if file.span(loop).start < fix.edits[0].start]


def _outermost(file: File, statements: Sequence[Node], block: cst.IndentedBlock) -> Loop | None:
    """The outermost of the loops directly around that bind nothing which these statements read, and bind nowhere else
    what they bind."""
    own = {name for each in statements for name in _bound_names(each)}
    reads = {name.value for each in statements for name in free_names(file, each)} - own
    found: Loop | None = None
    for loop in file.contexts.loops(statements[0]):
        inside = loop.body is block if found is None else file.tree.parent(found) is loop.body
        if not inside or reads & assigned_names(file, loop) or _bound_elsewhere(file, own, statements, loop):
            break
        found = loop
    return found


def _carries(file: File, statements: Sequence[Node]) -> bool:
    """Whether a statement reads what it, or one behind it, bound in the last iteration: `x = step(x)`."""
    own = {name for each in statements for name in _bound_names(each)}
    bound: set[str] = set()
    for each in statements:
        small = each.body[0] if isinstance(each, cst.SimpleStatementLine) else None
        read = {n.value for n in free_names(file, small.value)} if isinstance(small, cst.Assign) else set()
        if read & (own - bound):
            return True
        bound |= _bound_names(each)
    return False


def _bound_names(statement: Node) -> set[str]:
    """The names that a `def` or an assignment to plain names binds; none for other statements."""
    if isinstance(statement, cst.FunctionDef):
        return {statement.name.value}
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    targets = [t.target for t in small.targets] if isinstance(small, cst.Assign) else []
    names = {t.value for t in targets if isinstance(t, cst.Name)}
    return names if len(names) == len(targets) else set()


def _bound_elsewhere(file: File, names: set[str], statements: Sequence[Node], loop: Loop) -> bool:
    definitions = [d for name in names for d in file.flow(file.scope_of(loop)).bindings.get(name, ())]
    return any(
        file.tree.contains(loop, d.node) and not any(file.tree.contains(each, d.node) for each in statements)
        for d in definitions
    )


def _string_of_lines(file: File, statement: Node) -> bool:
    """Whether a string runs over several lines, whose text another indentation would change."""
    strings = walk(statement, cst.SimpleString, cst.FormattedString)
    return any("\n" in file.text(n) for n in strings)


def _reindent(text: str, inner: str, outer: str) -> str:
    lines = text.splitlines(keepends=True)
    moved = "".join(outer + line.removeprefix(inner) if line.strip() else line for line in lines)
    return moved if moved.endswith("\n") else moved + "\n"


def _blank(text: str) -> int:
    """The length of the blank lines at the start of a text."""
    rest = text.lstrip()
    return text.rfind("\n", 0, len(text) - len(rest)) + 1
