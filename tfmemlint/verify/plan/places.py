"""The statements in which a finding, its related places and the edits of its repair stand."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from tfmemlint.finding import Edit, Elsewhere, Finding, Span
from tfmemlint.model.file import File
from tfmemlint.syntax.program import Program
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan.slicing import Home


class Places:
    """The statements of a file, and of the modules of its project, by the places that a finding names."""

    def __init__(self, file: File) -> None:
        self.file = file
        self._units: dict[int, list[tuple[Span, Node]]] = {}

    def statement(self, span: Span, home: Home | None = None) -> Node | None:
        """The innermost statement around the beginning of a stretch of a module, of the file where none is named."""
        units = self._of(home or self.file)
        around = [(inner, unit) for inner, unit in units if inner.start <= span.start <= inner.end]
        return min(around, key=lambda pair: pair[0].end - pair[0].start)[1] if around else None

    def others(self, finding: Finding) -> list[Node]:
        """The statements of a finding's related places and of its repair's edits."""
        found: dict[int, Node] = {}
        for related in finding.related:
            other = related.elsewhere
            unit = self.statement(related.span) if other is None else self._elsewhere(other)
            if unit is not None:
                found[id(unit)] = unit
        for edit in finding.compared:
            for span, unit in self._of(self.file):
                inside = span.start < edit.start < span.end if edit.start == edit.end else _overlap(span, edit)
                if inside and (isinstance(unit, cst.SimpleStatementLine) or self._in_header(unit, edit.start)):
                    found[id(unit)] = unit
        return list(found.values())

    def _of(self, home: Home) -> list[tuple[Span, Node]]:
        known = self._units.get(id(home))
        if known is None:
            units = (*home.tree.of(cst.SimpleStatementLine), *_compound(home))
            known = self._units[id(home)] = [(home.span(unit), unit) for unit in units]
        return known

    def _elsewhere(self, place: Elsewhere) -> Node | None:
        home = self.file.link(place.path)
        if home is None or not isinstance(home, Home) or place.row > len(home.source.line_starts):
            return None
        start = home.source.line_starts[place.row - 1] + place.column - 1
        return self.statement(Span(start, start), home)

    def _in_header(self, unit: Node, offset: int) -> bool:
        body = getattr(unit, "body", None)
        if not isinstance(body, cst.IndentedBlock):
            return True
        return offset < self.file.span(body.body[0]).start


def _compound(program: Program) -> Sequence[Node]:
    kinds = (cst.If, cst.For, cst.While, cst.With, cst.Try, cst.TryStar, cst.FunctionDef, cst.ClassDef, cst.Match)
    return [node for kind in kinds for node in program.tree.of(kind)]


def _overlap(span: Span, edit: Edit) -> bool:
    return span.start < edit.end and edit.start < span.end
