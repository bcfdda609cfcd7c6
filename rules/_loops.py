"""What loops bind, and moving statements out of them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Edit, File, Fix, Node, Safety, free_names, walk
from tfmemlint.fix.edits import indentation, statement_lines


def assigned_names(loop: cst.For | cst.While, file: File) -> Iterator[str]:
    """Names that a loop binds: its target and what its body assigns."""
    for scope_definitions in file.flow(file.scope_of(loop)).bindings.values():
        for d in scope_definitions:
            if file.tree.contains(loop, d.node):
                yield d.name


def guarded_in(within: Node, node: Node, file: File) -> bool:
    """Whether an `if` keeps a node of a loop or function from running each time: any but a plain flag from outside."""
    scope = file.flow(file.scope_of(node))
    for above in file.tree.ancestors(node):
        if above is within:
            return False
        if isinstance(above, cst.If):
            test = above.test.expression if isinstance(above.test, cst.UnaryOperation) else above.test
            bound = scope.bindings.get(test.value, ()) if isinstance(test, cst.Name) else ()
            if not isinstance(test, cst.Name) or any(file.tree.contains(within, d.node) for d in bound):
                return True
    return False


def hoist(file: File, made: Node, message: str) -> Fix | None:
    """Move the statement that holds `made` before the outermost loop on which it does not depend; unsafe.

    None where it stands in the loop's body with a condition, reads what the loop binds, or holds a string of several
    lines.
    """
    statement = made if isinstance(made, cst.FunctionDef) else file.tree.statement(made)
    lines = statement_lines(file, statement)
    block = file.tree.parent(statement)
    if lines is None or not isinstance(block, cst.IndentedBlock) or len(block.body) < 2:
        return None
    own = _bound_names(statement)
    reads = {name.value for name in free_names(statement, file)} - own
    target = None
    for loop in file.contexts.loops(statement):
        free = loop.body is block or (target is not None and file.tree.parent(target) is loop.body)
        if not free or reads & set(assigned_names(loop, file)) or _rebound(own, statement, loop, file):
            break
        target = loop
    if target is None:
        return None
    for node in walk(statement):
        if isinstance(node, (cst.SimpleString, cst.FormattedString)) and "\n" in file.text(node):
            return None
    text, inner, outer = (
        file.source.text[lines.start : lines.end],
        indentation(file, statement),
        indentation(file, target),
    )
    moved = "".join(
        outer + line.removeprefix(inner) if line.strip() else line for line in text.splitlines(keepends=True)
    )
    place = file.source.line_span(file.span(target).start).start
    end = lines.end
    if statement is block.body[0]:  # the blank lines below it would open the block
        end = lines.end + _blank(file.source.text[lines.end :])
    return Fix(message, (Edit(place, place, moved), Edit(lines.start, end, "")), Safety.UNSAFE)


def _blank(text: str) -> int:
    """The length of the blank lines at the start of a text."""
    rest = text.lstrip()
    return text.rfind("\n", 0, len(text) - len(rest)) + 1


def _bound_names(statement: Node) -> set[str]:
    """The names that a `def` or an assignment statement binds."""
    if isinstance(statement, cst.FunctionDef):
        return {statement.name.value}
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    targets = small.targets if isinstance(small, cst.Assign) else ()
    return {t.target.value for t in targets if isinstance(t.target, cst.Name)}


def _rebound(names: set[str], statement: Node, loop: cst.For | cst.While, file: File) -> bool:
    """Whether the loop also binds one of the names elsewhere, or the statement binds none."""
    others = [d for name in names for d in file.flow(file.scope_of(loop)).bindings.get(name, ())]
    return not names or any(
        file.tree.contains(loop, d.node) and not file.tree.contains(statement, d.node) for d in others
    )
