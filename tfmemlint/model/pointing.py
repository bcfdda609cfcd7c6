"""Where findings point, in their own file and in others."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import libcst as cst

from tfmemlint.finding import Elsewhere, Span
from tfmemlint.model.calls import Call
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.project.siblings import Sibling

STATEMENTS = (cst.BaseCompoundStatement, cst.SimpleStatementLine, cst.BaseSmallStatement)


def place(file: File, where: Call | Node | Span) -> Span:
    """Where a finding about something points: a call's method name, a statement's first token, else the node."""
    if isinstance(where, Span):
        return where
    if isinstance(where, Call):
        return file.span(where.name_node)
    span = file.span(where)
    if not isinstance(where, STATEMENTS):
        return span
    text = file.source_of(where).text
    end = span.start
    while end < span.end and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return Span(span.start, max(end, span.start + 1))


def elsewhere(file: File, where: Call | Node | Span) -> Elsewhere | None:
    """The place of something in another module; None for what stands in this file."""
    node = where.node if isinstance(where, Call) else where
    home = file if isinstance(node, Span) else file.home(node)
    if home is file:
        return None
    span = place(file, where)
    file.took_elsewhere()
    start, end = home.source.position(span.start), home.source.position(span.end)
    return Elsewhere(cast("Sibling", home).path, start.row, start.column, end.row, end.column)
