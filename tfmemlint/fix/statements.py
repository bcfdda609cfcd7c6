"""Edits that take whole statements away, move or repeat them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.finding import Edit, Span
from tfmemlint.fix.chains import unwrap_call
from tfmemlint.fix.edits import indentation, insert_after, replace_node, statement_lines
from tfmemlint.syntax.names import home_of, is_variable, variables
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def remove_statement(file: File, small: Node) -> Edit | None:
    """Take a simple statement out, with its line; None where it shares the line or has its block to itself."""
    line = file.tree.statement(small)
    lines = statement_lines(file, line)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or lines is None:
        return None
    if len(getattr(file.tree.parent(line), "body", ())) < 2:
        return None
    return Edit(lines.start, lines.end, "")


def remove_assignment(
    file: File, value: cst.BaseExpression, use: cst.BaseExpression, moved: cst.BaseExpression
) -> Edit | None:
    """Take the assignment out that gives a name this value, for a repair that writes `moved`, a part of the value,
    where `use` reads the name.

    None where it binds several names, or the variables of `moved` may stand for something else there.
    """
    assign = file.tree.parent(value)
    if not isinstance(use, cst.Name) or not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None
    line, place = file.tree.statement(assign), file.tree.statement(use)
    lines = statement_lines(file, line)
    if lines is None or file.scope_of(line) is not file.scope_of(place):
        return None
    flow = file.flow(file.scope_of(line))
    here, there = flow.at(line), flow.at(place)
    same = all(here.get(name) == there.get(name) for name in variables(file, moved))
    return Edit(lines.start, lines.end, "") if same else None


def unwrap_named(file: File, call: cst.Call, argument: cst.BaseExpression) -> tuple[Edit, ...] | None:
    """As `unwrap_call`; where that would leave no more than another name, `rows = scores`, which one place reads, that
    place is given the argument. None where a comment would go."""
    assign = file.tree.parent(call)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
    made = file.definition(target) if isinstance(target, cst.Name) and isinstance(argument, cst.Name) else None
    readers = file.readers(made) if made is not None and made.name != file.text(argument) else []
    alone = len(readers) == 1 and file.only_definition(readers[0]) is made
    dropped = remove_assignment(file, call, readers[0], argument) if alone else None
    if dropped is not None:
        return dropped, replace_node(file, readers[0], file.text(argument))
    edit = unwrap_call(file, call, argument)
    return None if edit is None else (edit,)


def repeat_below(file: File, node: Node, call: cst.Call) -> Edit | None:
    """Write a call once more below the statement in which a node stands.

    None where that shares its line with others, or where a name in the call is not seen there.
    """
    line, scope = file.tree.statement(node), file.scope_of(node)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    around = (scope, *file.scopes_around(scope))
    seen = all(home_of(file, name) in around for name in walk(call, cst.Name) if is_variable(file, name))
    return insert_after(file, line, file.text(call)) if seen else None


def move_below(file: File, block: cst.With, statements: Sequence[Node]) -> tuple[Edit, ...] | None:
    """Move some statements of a block, in source order, to the lines right below it.

    Those at its end lose their indentation, the others move as well. None where one takes several lines or shares its
    line, or nothing would be left in the block.
    """
    body: list[Node] = list(block.body.body)
    inner, outer = indentation(file, body[0]), indentation(file, block)
    if len(statements) >= len(body) or not inner.startswith(outer):
        return None
    lines = [_one_line(file, statement, inner) for statement in statements]
    first_moved = len(body)
    while body[first_moved - 1] in statements:
        first_moved -= 1
    end = file.source.line_span(file.span(body[first_moved - 1]).end).end
    edits, moved = [], ""
    for statement, line in zip(statements, lines, strict=True):
        if line is None:
            return None
        if statement in body[first_moved:]:
            edits.append(Edit(line.start, line.start + len(inner), outer))
        else:
            edits.append(Edit(line.start, line.end, ""))
            moved += "\n" + outer + file.source.text[line.start + len(inner) : line.end].rstrip("\n")
    return (*edits, Edit(end, end, moved)) if moved else tuple(edits)


def _one_line(file: File, statement: Node, lead: str) -> Span | None:
    """The line of a statement that has it to itself and begins with this white space."""
    span = statement_lines(file, statement)
    if span is None or not file.source_of(statement).text.startswith(lead, span.start):
        return None
    return span if "\n" not in file.source_of(statement).text[span.start : span.end].rstrip("\n") else None
