"""What conditions come to that the file itself decides: `False`, `DEBUG` after `DEBUG = False`, `gpus == 2` after
`gpus = 1`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cached_property
from itertools import product
from typing import Any

import libcst as cst

from tfmemlint.syntax.literals import whole_number
from tfmemlint.syntax.program import Program
from tfmemlint.syntax.scopes import Binds, Definition, Definitions
from tfmemlint.syntax.tree import Node

MOST_NESTED = 8
"""Operators inside each other that are looked at."""

MOST_VALUES = 4
"""Values that one name is followed to."""

NAMED = {"True": True, "False": False, "None": None}

COMPARES: dict[type, Callable[[Any, Any], bool]] = {
    cst.Equal: operator.eq, cst.NotEqual: operator.ne, cst.LessThan: operator.lt, cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt, cst.GreaterThanEqual: operator.ge, cst.Is: operator.is_, cst.IsNot: operator.is_not,
}  # fmt: skip

SETS_ANY_NAME = ("exec", "globals")
"""Calls after which a name of the module can be anything: programs read their options this way."""

Values = tuple[object, ...]


class Conditions:
    """Answers about the conditions of one file.

    A name has a value where each assignment that it can come from gives it a literal; what `never_runs` says of an
    assignment's place rules that one out. A name that a function declares `global`, that `exec` may set or that is
    the field of a form (`#@param`) has none.
    """

    def __init__(self, program: Program, never_runs: Callable[[Node], bool]) -> None:
        self._program = program
        self._never_runs = never_runs

    def truth(self, test: cst.BaseExpression) -> bool | None:
        """Whether a condition always or never holds; None where the file does not tell."""
        values = self._values(test, MOST_NESTED)
        truths = {bool(value) for value in values or ()}
        return truths.pop() if len(truths) == 1 else None

    def _values(self, node: cst.BaseExpression, depth: int) -> Values | None:
        """What an expression can be, None where that is not known."""
        if depth == 0:
            return None
        if isinstance(node, cst.Name):
            return (NAMED[node.value],) if node.value in NAMED else self._named(node)
        if isinstance(node, cst.UnaryOperation):
            values = self._values(node.expression, depth - 1)
            if values is not None and isinstance(node.operator, cst.Not):
                return tuple(not value for value in values)
            return _negated(values) if isinstance(node.operator, cst.Minus) else None
        if isinstance(node, cst.Comparison):
            return self._compared(node, depth)
        if isinstance(node, cst.BooleanOperation):
            return self._both(node, depth)
        return _literal(node)

    def _compared(self, node: cst.Comparison, depth: int) -> Values | None:
        compare = COMPARES.get(node.comparisons[0].operator.__class__)
        if len(node.comparisons) > 1 or compare is None:
            return None
        left, right = self._values(node.left, depth - 1), self._values(node.comparisons[0].comparator, depth - 1)
        if left is None or right is None:
            return None
        if compare in (operator.is_, operator.is_not) and not all(value in (None, True, False) for value in right):
            return None  # whether two equal numbers are one object is the interpreter's choice
        try:
            return tuple(compare(one, other) for one, other in product(left, right))
        except TypeError:
            return None

    def _both(self, node: cst.BooleanOperation, depth: int) -> Values | None:
        left, right = self._values(node.left, depth - 1), self._values(node.right, depth - 1)
        decides = isinstance(node.operator, cst.Or)
        for side in (left, right):
            if side and all(bool(value) is decides for value in side):
                return (decides,)
        if left is None or right is None:
            return None
        return tuple(bool(value) for value in (*left, *right))

    def _named(self, name: cst.Name) -> Values | None:
        live = [each for each in self._definitions(name) if not self._is_idle(each)]
        if not live or len(live) > MOST_VALUES:
            return None
        values: list[object] = []
        for each in live:
            value = self._assigned(each)
            if value is None:
                return None
            values += value
        return tuple(values)

    def _is_idle(self, definition: object) -> bool:
        return isinstance(definition, Definition) and self._never_runs(definition.node)

    def _assigned(self, definition: object) -> Values | None:
        """The literal that an assignment gives to its name."""
        if not isinstance(definition, Definition) or definition.binds is not Binds.VALUE or definition.path:
            return None
        line, value = self._program.tree.statement(definition.node), definition.value
        comment = line.trailing_whitespace.comment if isinstance(line, cst.SimpleStatementLine) else None
        if comment is not None and comment.value.replace(" ", "").startswith("#@param"):
            return None
        if isinstance(definition.scope, cst.Module) and self._set_later(definition):
            return None
        if isinstance(value, cst.UnaryOperation) and isinstance(value.operator, cst.Minus):
            return _negated(_literal(value.expression))
        return _literal(value)

    def _definitions(self, name: cst.Name) -> Definitions:
        """The definitions that a name can come from in its scope, else all of the scope around that binds it."""
        program = self._program
        scope = program.scope_of(name)
        if name.value in program.declared:
            return ()
        if name.value in program.flow(scope).bindings:
            return program.definitions(name)
        bindings = (program.flow(around).bindings.get(name.value) for around in program.scopes_around(scope))
        return tuple(next((found for found in bindings if found), ()))

    def _set_later(self, definition: Definition) -> bool:
        """Whether the module may set any of its names behind an assignment: by `exec`, or by importing everything."""
        return self._sets_any_name or any(
            isinstance(node.names, cst.ImportStar) and self._program.tree.order(node) > place
            for place in (self._program.tree.order(definition.node),)
            for node in self._program.tree.of(cst.ImportFrom)
        )

    @cached_property
    def _sets_any_name(self) -> bool:
        return any(self._program.calls_by_word.get(word) for word in SETS_ANY_NAME)


def _literal(node: Node | None) -> Values | None:
    if isinstance(node, cst.Name) and node.value in NAMED:
        return (NAMED[node.value],)
    if isinstance(node, cst.Integer):
        number = whole_number(node)
        return None if number is None else (number,)
    return (node.evaluated_value,) if isinstance(node, (cst.Float, cst.SimpleString)) else None


def _negated(values: Values | None) -> Values | None:
    numbers = [value for value in values or () if isinstance(value, (int, float))]
    return tuple(-number for number in numbers) if numbers and len(numbers) == len(values or ()) else None
