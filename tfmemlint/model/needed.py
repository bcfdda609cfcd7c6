"""The conditions on which it depends whether code of a function runs, and which names may decide them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from tfmemlint.syntax.names import variables
from tfmemlint.syntax.scopes import parameters

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.syntax.scopes import ScopeNode
    from tfmemlint.syntax.tree import Node


class Condition(NamedTuple):
    """A condition, what it must be, and the names of which one must be a parameter for `decided.certain` to tell it by
    what is passed."""

    test: cst.BaseExpression
    holds: bool
    deciding: frozenset[str]


MOST_LEAVING = 20
"""Conditions in front of a statement that are asked: a function may have thousands of them."""

_ENDS = frozenset((cst.FunctionDef, cst.Lambda, cst.Module))
_BRANCHES = frozenset((cst.If, cst.IfExp))


class Needed:
    """The conditions of one file's code, each found once."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._of_statements: dict[int, tuple[Condition, ...]] = {}
        self._deciding_statements: dict[int, frozenset[str]] = {}
        self._leaving: dict[int, list[cst.If]] = {}
        self._named: dict[int, frozenset[str]] = {}
        self._parameters: dict[int, frozenset[str]] = {}

    def of(self, node: Node) -> tuple[Condition, ...]:
        """The conditions in a node's function on which it depends whether it runs, each with what it must be: those of
        the `if`s around it, and of those before it that leave the function or the turn of a loop."""
        found, statement, block = self._within_statement(node)
        return (*found, *self._of_statement(statement, block)) if block is not None else found

    def deciding(self, node: Node) -> frozenset[str]:
        """The names of which one must be a parameter for `decided.certain` to tell one of these conditions by what is
        passed."""
        found, statement, block = self._within_statement(node)
        names = frozenset(name for each in found for name in each.deciding)
        if block is None:
            return names
        outer = self._deciding_statements.get(id(statement))
        if outer is None:
            outer = frozenset(name for each in self._of_statement(statement, block) for name in each.deciding)
            self._deciding_statements[id(statement)] = outer
        return names | outer if names else outer

    def decidable(self, node: Node, function: ScopeNode) -> Iterator[Condition]:
        """Those of these conditions that an activation of a function may decide."""
        given = self.parameters(function)
        return (each for each in self.of(node) if not given.isdisjoint(each.deciding))

    def parameters(self, function: ScopeNode) -> frozenset[str]:
        """The names of the parameters of a function; none of a module or a class."""
        names = self._parameters.get(id(function))
        if names is None:
            found = parameters(function) if isinstance(function, (cst.FunctionDef, cst.Lambda)) else ()
            names = self._parameters[id(function)] = frozenset(each.name.value for each in found)
        return names

    def _within_statement(self, node: Node) -> tuple[tuple[Condition, ...], Node, cst.IndentedBlock | None]:
        """The conditions between a node and the block around it, and its statement there; no block where it stands in
        none."""
        parent = self._file.tree.parent
        found: tuple[Condition, ...] = ()
        inner, outer = node, parent(node)
        while outer is not None and (kind := outer.__class__) not in _ENDS:
            if kind is cst.IndentedBlock and isinstance(outer, cst.IndentedBlock):
                return found, inner, outer
            if kind in _BRANCHES and isinstance(outer, (cst.If, cst.IfExp)) and inner is not outer.test:
                found = (*found, _condition(outer.test, inner is outer.body))
            inner, outer = outer, parent(outer)
        return found, inner, None

    def _of_statement(self, statement: Node, block: cst.IndentedBlock) -> tuple[Condition, ...]:
        found = self._of_statements.get(id(statement))
        if found is None:
            order = self._file.tree.order
            here = order(statement)
            before = (_condition(each.test, False) for each in self._leaving_block(block) if order(each) < here)
            found = self._of_statements[id(statement)] = (*before, *self.of(block))
        return found

    def _leaving_block(self, block: cst.IndentedBlock) -> list[cst.If]:
        """The first statements of a block that leave it under a condition and do nothing else without it."""
        found = self._leaving.get(id(block))
        if found is None:
            branches = (each for each in block.body if isinstance(each, cst.If) and each.orelse is None)
            leaving = (each for each in branches if _leaves(each.body))
            found = self._leaving[id(block)] = list(islice(leaving, MOST_LEAVING))
        return found

    def named(self, test: cst.BaseExpression) -> frozenset[str]:
        """The variables that a condition reads."""
        names = self._named.get(id(test))
        if names is None:
            names = self._named[id(test)] = frozenset(variables(self._file, test))
        return names


def _condition(test: cst.BaseExpression, holds: bool) -> Condition:
    return Condition(test, holds, frozenset(_operands(test)))


def _leaves(suite: cst.BaseSuite) -> bool:
    last = suite.body[-1] if suite.body else None
    small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    return isinstance(small, (cst.Return, cst.Raise, cst.Continue, cst.Break))


def _operands(test: cst.BaseExpression) -> Iterator[str]:
    if isinstance(test, cst.Name):
        yield test.value
    elif isinstance(test, cst.Attribute) and isinstance(test.value, cst.Name):  # of the object of a method
        yield test.value.value
    elif isinstance(test, cst.UnaryOperation):
        yield from _operands(test.expression)
    elif isinstance(test, cst.BooleanOperation):
        yield from _operands(test.left)
        yield from _operands(test.right)
    elif isinstance(test, cst.Comparison):
        yield from _operands(test.left)
    elif isinstance(test, cst.Call) and len(test.args) == 2:  # of `isinstance`
        yield from _operands(test.args[0].value)
