"""Where the nodes of a tree stand in the text, by the places of `ast`: only such as `syntax.spans` finds, too."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import libcst as cst

from tfmemlint.syntax.first_pass import nodes
from tfmemlint.syntax.first_pass.expressions import ParseExpression
from tfmemlint.syntax.first_pass.layout import Layout
from tfmemlint.syntax.first_pass.statements import Statements

Place = tuple[int, int]

_DEFINED = re.compile(rb"(?:async[ \t]+)?(?:def|class)[ \t]+")
_BLOCKS = ("finalbody", "orelse", "handlers", "body")
"""Fields that hold statements, those of what stands last first."""
_BLANKS = b" \t\n\f"


class Recorder(Statements):
    """Makes the tree once more and keeps the places of its nodes, in bytes."""

    def __init__(self, layout: Layout, parse: ParseExpression) -> None:
        super().__init__(layout, parse)
        self.places: dict[int, Place] = {}

    def expression(self, node: ast.expr) -> Any:
        made = super().expression(node)
        start, end = self.layout.start(node), self.layout.end(node)
        if isinstance(node, ast.Tuple):
            self._inside(made, node, start, end, node.elts[-1] if node.elts else None)
        elif isinstance(node, ast.GeneratorExp):
            last = node.generators[-1]
            self._inside(made, node, start, end, last.ifs[-1] if last.ifs else last.iter)
        else:
            self.places[id(made)] = start, end
            if node.__class__ is ast.Attribute:
                self.places[id(made.attr)] = end - len(made.attr.value.encode()), end
        return made

    def _inside(self, made: Any, node: ast.expr, start: int, end: int, last: ast.expr | None) -> None:
        """The place of what may stand in parentheses that `ast` counts as its own."""
        if isinstance(node, ast.Tuple) and self.layout.is_bare(node):
            self.places[id(made)] = start, end
            return
        data = self.layout.data
        if last is None or b"#" in data[self.layout.end(last) : end] or b"\\" in data[self.layout.end(last) : end]:
            return
        first = start + 1
        while data[first : first + 1] in (b" ", b"\t", b"\n", b"\f") and first < end:
            first += 1
        if data[first : first + 1] in (b"#", b"\\"):
            return
        inside = data[first : end - 1].rstrip(_BLANKS)
        self.places[id(made)] = first, first + len(inside)

    def keyword(self, node: ast.keyword) -> Any:
        made = super().keyword(node)
        start = self.layout.start(node)
        self.places[id(made)] = start, self.layout.end(node)
        if made.keyword is not None:
            self.places[id(made.keyword)] = start, start + len(made.keyword.value.encode())
        return made

    def block(self, statements: Sequence[ast.stmt]) -> list[Any]:
        made = super().block(statements)
        for line in made:
            if line.__class__ is cst.SimpleStatementLine:
                self._from_to(line, line.body[0], line.body[-1])
        return made

    def suite(self, statements: Sequence[ast.stmt]) -> Any:
        made = super().suite(statements)
        self._from_to(made, made.body[0], made.body[-1])
        return made

    def _from_to(self, made: Any, first: Any, last: Any) -> None:
        self.places[id(made)] = self.places[id(first)][0], self.places[id(last)][1]

    def simple(self, statement: ast.stmt) -> Any:
        made = super().simple(statement)
        self.places[id(made)] = self.layout.start(statement), self.layout.end(statement)
        return made

    def compound(self, statement: ast.stmt) -> Any:
        made = super().compound(statement)
        if made.__class__ is cst.If:
            return made
        start = self.layout.start(statement)
        self.places[id(made)] = start, self._behind(statement)
        if made.__class__ is cst.FunctionDef or made.__class__ is cst.ClassDef:
            self._defined(made.name, start)
        return made

    def _behind(self, node: ast.stmt | ast.ExceptHandler) -> int:
        """The offset behind the last statement in one; `ast` counts a semicolon behind that as well."""
        part: Any = node
        while part is not None:
            node = part
            part = next((held[-1] for field in _BLOCKS if (held := getattr(node, field, None))), None)
        return self.layout.end(node)

    def _defined(self, name: Any, start: int) -> None:
        defined = _DEFINED.match(self.layout.data, start)
        word = name.value.encode()
        if defined is not None and self.layout.data.startswith(word, defined.end()):
            self.places[id(name)] = defined.end(), defined.end() + len(word)

    def branch(self, node: ast.If, otherwise: Any) -> Any:
        made = super().branch(node, otherwise)
        self.places[id(made)] = self.layout.start(node), self._behind(node)
        return made

    def handler(self, node: ast.ExceptHandler, make: nodes.Make) -> Any:
        made = super().handler(node, make)
        self.places[id(made)] = self.layout.start(node), self._behind(node)
        return made

    def alias(self, node: ast.alias) -> Any:
        made = super().alias(node)
        start = self.layout.start(node)
        self.places[id(made)] = start, self.layout.end(node)
        word = node.name.encode()
        if made.name.__class__ is cst.Name and self.layout.data.startswith(word, start):
            self.places[id(made.name)] = start, start + len(word)
        return made

    def parameter(self, of: ast.arg, default: ast.expr | None, star: str) -> Any:
        made = super().parameter(of, default, star)
        start = self.layout.start(of)
        self.places[id(made.name)] = start, start + len(of.arg.encode())
        if of.annotation is None and default is None and not star:
            self.places[id(made)] = start, self.layout.end(of)
        return made
