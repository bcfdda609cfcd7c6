"""The text of a program from the kept statements of a file, before and after a repair."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from tfmemlint.finding import Edit
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan.examples import Example
from tfmemlint.verify.plan.rounds import limit
from tfmemlint.verify.plan.slicing import Slice
from tfmemlint.verify.plan.trimming import trimmed_imports
from tfmemlint.verify.verdicts import INCONCLUSIVE


class PlanError(Exception):
    """No programs are made of a finding; the text says why and, where possible, what to do. `kind` is the verdict that
    this comes to."""

    def __init__(self, reason: str, kind: str = INCONCLUSIVE) -> None:
        super().__init__(reason)
        self.kind = kind


FUTURE = "from __future__ import "
"""A statement that Python takes at the beginning of a program alone."""


def program_text(text: str, edits: Sequence[Edit]) -> str:
    """The text with the edits made, runs of blank lines shortened. Raises PlanError where two edits meet."""
    parts: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < position:
            raise PlanError("the repair and the slice change the same code")
        parts += (text[position : edit.start], edit.content)
        position = edit.end
    lines: list[str] = []
    for line in "".join((*parts, text[position:])).split("\n"):
        if line.strip() or (lines and lines[-1].strip()):
            lines.append(line.rstrip())
    first = [line for line in lines if line.startswith(FUTURE)]  # a cell of a notebook may have one, too
    whole = "\n".join((*first, *(line for line in lines if not line.startswith(FUTURE)))).strip("\n")
    return f"{whole}\n\n" if whole.endswith("\\") else f"{whole}\n"  # a backslash wants a line behind it, if empty


def merged(base: Sequence[Edit], repair: Sequence[Edit]) -> list[Edit]:
    """Both lists of edits as one; the repair wins over small changes of the slice inside what it replaces."""
    kept: list[Edit] = []
    for edit in base:
        pieces = [edit]
        for fix in repair:
            pieces = [piece for each in pieces for piece in _apart(each, fix)]
        kept += pieces
    return [*kept, *repair]


def _apart(edit: Edit, fix: Edit) -> Iterator[Edit]:
    if fix.end <= edit.start or edit.end <= fix.start:
        yield edit
    elif fix.start == fix.end:
        if edit.content or edit.start == edit.end:
            yield edit
        else:  # an insertion into lines that are left out
            yield Edit(edit.start, fix.start, "")
            yield Edit(fix.end, edit.end, "")
    elif not (fix.start <= edit.start and edit.end <= fix.end):
        raise PlanError("the repair reaches into code that the slice leaves out")


class Assembly:
    """The edits that turn a module into its slice. `name` is what notes call it, empty for the one that runs."""

    def __init__(self, part: Slice, examples: Mapping[str, Example], around: Node | None, name: str = "") -> None:
        self.file, self.slice, self.examples = part.home, part, examples
        self.around = around
        self.name = name
        self.replaced: list[str] = []
        self._text = part.home.source.text
        self._lines: set[int] = set()
        self._inserted: list[Edit] = []
        self._openings: list[Edit] = []
        self._gone: list[tuple[Node, str]] = []

    def edits(self) -> list[Edit]:
        """All edits."""
        self._suite(self.file.module.body, "pass", None)
        rows = len(self.file.source.line_starts)
        beside = {row + step for row in self._lines for step in (-1, 1) if 0 <= row + step < rows}
        self._lines |= {row for row in beside if not self._line(row).strip()}
        imports = trimmed_imports(self.slice, self._is_kept)
        # What a loop goes through may be wrapped itself: its closing comes first, its opening last.
        loops = (*self._loops(), *self._openings)
        gone = [(self.file.span(node), code) for node, code in self._gone if self._is_kept(node)]
        replaced = [Edit(span.start, span.end, code) for span, code in gone]
        return [*self._removals(), *self._inserted, *loops, *self._stand_ins(), *imports, *replaced]

    def insert_after(self, statement: Node, line: str) -> None:
        """Put a line behind a simple statement, at its indentation."""
        first = self._line(self._first_row(statement))
        indent = first[: len(first) - len(first.lstrip())]
        starts = self.file.source.line_starts
        row = self._last_row(statement) + 1
        at = starts[row] if row < len(starts) else len(self._text)
        self._inserted.append(Edit(at, at, f"{indent}{line}\n"))

    def insert_before(self, statement: Node, line: str) -> None:
        """Put a line before a statement, at its indentation."""
        row = self._first_row(statement)
        indent = self._line(row)[: len(self._line(row)) - len(self._line(row).lstrip())]
        at = self.file.source.line_starts[row]
        self._inserted.append(Edit(at, at, f"{indent}{line}\n"))

    def wrap(self, node: Node, before: str, after: str) -> None:
        """Put text around an expression."""
        span = self.file.span(node)
        self._openings.append(Edit(span.start, span.start, before))
        self._inserted.append(Edit(span.end, span.end, after))

    def replace(self, node: Node, code: str) -> None:
        """Put code in the place of what is in a statement, if that is there."""
        self._gone.append((node, code))

    # -- lines -------------------------------------------------------------------------------------------------------

    def _row(self, offset: int) -> int:
        return self.file.source.line_index(offset)

    def _first_row(self, node: Node) -> int:
        start = self.file.span(node).start
        decorators = getattr(node, "decorators", ())
        return self._row(min([start, *(self.file.span(each).start for each in decorators)]))

    def _last_row(self, node: Node) -> int:
        span = self.file.span(node)
        return self._row(max(span.start, span.end - 1))

    def _keep_rows(self, first: int, last: int) -> None:
        self._lines.update(range(first, last + 1))

    def _is_code(self, row: int) -> bool:
        stripped = self._line(row).strip()
        return bool(stripped) and not stripped.startswith("#")

    def _line(self, row: int) -> str:
        starts = self.file.source.line_starts
        return self._text[starts[row] : starts[row + 1] if row + 1 < len(starts) else len(self._text)]

    def _suite(self, statements: Sequence[Node], empty: str, head: int | None) -> None:
        """Keep the lines of the kept statements of a suite; an empty one gets the statement `empty`."""
        found = False
        for statement in statements:
            if id(statement) in self.slice.kept:
                found = True
                self._statement(statement)
        if not found and head is not None:
            first = self._line(self._first_row(statements[0]))
            indent = first[: len(first) - len(first.lstrip())]
            at = self.file.source.line_starts[head + 1]
            self._inserted.append(Edit(at, at, f"{indent}{empty}\n"))

    def _statement(self, statement: Node) -> None:
        whole = isinstance(statement, (cst.FunctionDef, cst.ClassDef)) and id(statement) not in self.slice.sliced
        if whole or not isinstance(statement, cst.BaseCompoundStatement):
            self._keep_rows(self._first_row(statement), self._last_row(statement))
            return
        self._part(statement, "pass")
        if isinstance(statement, (cst.Try, cst.TryStar)):
            self._handlers(statement)
        elif isinstance(statement, cst.Match):
            for case in statement.cases:
                self._part(case, "pass")
        else:
            self._otherwise(getattr(statement, "orelse", None))

    def _part(self, node: Node, empty: str) -> None:
        """Keep a header and what is kept of its suite."""
        body = getattr(node, "body", None)
        first = self._first_row(node)
        if isinstance(node, cst.Match):
            self._keep_rows(first, first)
        elif isinstance(body, cst.IndentedBlock):
            last = self._first_row(body.body[0]) - 1
            while last > first and not self._is_code(last):
                last -= 1
            self._keep_rows(first, last)
            self._suite(body.body, empty, last)
        else:
            self._keep_rows(first, self._last_row(node if body is None else body))

    def _otherwise(self, orelse: Node | None) -> None:
        if isinstance(orelse, cst.If):
            self._part(orelse, "pass")
            self._otherwise(orelse.orelse)
        elif orelse is not None and self._holds_kept(orelse):
            self._part(orelse, "pass")

    def _holds_kept(self, node: Node) -> bool:
        body = getattr(node, "body", None)
        return not isinstance(body, cst.IndentedBlock) or any(id(each) in self.slice.kept for each in body.body)

    def _handlers(self, statement: cst.Try | cst.TryStar) -> None:
        for handler in statement.handlers:
            if self.slice.slices.settings_only:
                self._part(handler, "pass")  # errors count that are caught
                continue
            if not self._holds_kept(handler):
                row = self._first_row(handler)
                where = f"{row + 1} of {self.name}" if self.name else f"{row + 1}"
                self.replaced.append(f"the exception handler at line {where} raises again what it catches")
            self._part(handler, "raise")
        self._otherwise(statement.orelse)
        final = statement.finalbody
        if final is not None and (self._holds_kept(final) or not statement.handlers):
            self._part(final, "pass")

    def _removals(self) -> Iterator[Edit]:
        starts = [*self.file.source.line_starts, len(self._text)]
        row, count = 0, len(starts) - 1
        while row < count:
            end = row
            while end < count and end not in self._lines:
                end += 1
            if end > row:
                yield from self._cut(starts[row], starts[end])
            row = max(end, row + 1)

    def _cut(self, start: int, end: int) -> Iterator[Edit]:
        """Remove a stretch, but for the places where something is inserted."""
        places = sorted({edit.start for edit in self._inserted if start < edit.start < end})
        for first, last in zip([start, *places], [*places, end], strict=True):
            if last > first:
                yield Edit(first, last, "")

    # -- loops and inputs --------------------------------------------------------------------------------------------

    def _is_kept(self, node: Node) -> bool:
        return self._row(self.file.span(node).start) in self._lines

    def _loops(self) -> Iterator[Edit]:
        loops: list[cst.For | cst.While] = [*self.file.tree.of(cst.For), *self.file.tree.of(cst.While)]
        for loop in loops:
            if not self._is_kept(loop) or (isinstance(loop, cst.For) and loop.asynchronous is not None):
                continue
            row = self._shown_row(loop)
            most = limit(self.file, loop, self.around)
            marked = ", marked=True" if loop is self.around else ""
            if isinstance(loop, cst.For):
                span = self.file.span(loop.iter)
                opening, closing = ("((", ")") if isinstance(loop.iter, cst.Tuple) else ("(", "")  # its own lie outside
                yield Edit(span.start, span.start, f"tfmemlint_some{opening}")
                yield Edit(span.end, span.end, f"{closing}, {most}, {row}{marked})")
            else:
                if loop is not self.around:
                    yield from self._entered(loop, row)
                span = self.file.span(loop.test)
                yield Edit(span.start, span.start, f"tfmemlint_more({most}, {row}{marked}) and (")
                yield Edit(span.end, span.end, ")")

    def _entered(self, loop: cst.While, row: str) -> Iterator[Edit]:
        """A line in front of a loop, with which its rounds are counted anew: a function may come to it many times."""
        start = self.file.span(loop).start
        begin = self.file.source.line_starts[self._row(start)]
        if not (indent := self._text[begin:start]).strip():
            yield Edit(begin, begin, f"{indent}tfmemlint_enter({row})\n")

    def _shown_row(self, node: Node) -> str:
        """Code for the row of a node as notes say it."""
        row = str(self._first_row(node) + 1)
        return json.dumps(f"{row} of {self.name}") if self.name else row

    def _stand_ins(self) -> Iterator[Edit]:
        """Values of example comments in place of what is assigned to their names, and what is made up."""
        for unit in self.slice.kept.values():
            if id(unit) in self.slice.slices.made:
                value, code = self.slice.slices.made[id(unit)]
                span = self.file.span(value)
                self.replaced.append(f"{code} stands in for {self._text[span.start : span.end]}")
                yield Edit(span.start, span.end, code)
        for assign in self.file.tree.of(cst.Assign):
            target = assign.targets[0].target
            if id(self.file.tree.statement(assign)) in self.slice.slices.made:
                continue
            if len(assign.targets) != 1 or not isinstance(target, cst.Name) or target.value not in self.examples:
                continue
            if self._is_kept(assign):
                span = self.file.span(assign.value)
                example = self.examples[target.value]
                where = f" in {self.name}" if self.name else ""
                self.replaced.append(f"{example.words} stands in for {self._text[span.start : span.end]}{where}")
                yield Edit(span.start, span.end, example.code)
