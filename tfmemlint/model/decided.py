"""Which branches of a function a call decides: `if size is not None`, where the call passes a size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Class, Const, Function, Value
from tfmemlint.syntax.scopes import Binds, Definition, written

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.model.functions import Frame
    from tfmemlint.syntax.tree import Node


def certain(evaluator: Evaluator, test: cst.BaseExpression, frame: Frame) -> bool | None:
    """What a condition is in one activation of a function, by the parameters that it asks; None where they leave it
    open."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = certain(evaluator, test.expression, frame)
        return None if inner is None else not inner
    if isinstance(test, cst.BooleanOperation):
        sides = certain(evaluator, test.left, frame), certain(evaluator, test.right, frame)
        ends = isinstance(test.operator, cst.Or)
        return ends if ends in sides else None if None in sides else not ends
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        return _compared(evaluator, test.left, test.comparisons[0], frame)
    passed = _passed(evaluator, test, frame)
    return _is_true(passed) if passed is not None else None


def _compared(evaluator: Evaluator, left: cst.BaseExpression, right: cst.ComparisonTarget, frame: Frame) -> bool | None:
    passed = _passed(evaluator, left, frame)
    with_ = evaluator.value(right.comparator, None)
    if passed is None or not isinstance(with_, Const):
        return None
    if with_.value is not None and not isinstance(passed, Const):
        return None
    same = passed == with_
    if isinstance(right.operator, (cst.Is, cst.Equal)):
        return same
    return not same if isinstance(right.operator, (cst.IsNot, cst.NotEqual)) else None


def _passed(evaluator: Evaluator, asked: cst.BaseExpression, frame: Frame) -> Value | None:
    """The one value that a parameter has in an activation, if an expression is one that nothing binds anew."""
    if not isinstance(asked, cst.Name):
        return None
    found = written(evaluator.file.flow(frame.function).uses.get(id(asked)) or ())
    if len(found) != 1 or found[0].binds is not Binds.PARAMETER:
        return None
    value = evaluator.definition(found[0], frame)
    return value if value.known and len(value.options) == 1 else None


def _is_true(value: Value) -> bool | None:
    if isinstance(value, Const):
        return bool(value.value)
    return True if isinstance(value, (Class, Function)) else None


def runs(evaluator: Evaluator, node: Node, frame: Frame) -> bool:
    """Whether an activation of a function may come to code of it: False where what is passed decides otherwise."""
    return all(
        certain(evaluator, branch.test, frame) is not (not first) for branch, first in _branches(evaluator, node)
    )


def reaching(evaluator: Evaluator, use: Node, found: Sequence[Definition], frame: Frame) -> list[Definition]:
    """Those of some definitions of a name that reach a use of it in one activation: neither in branches that it does
    not take, nor before one that it certainly takes and that binds the name anew."""
    tree = evaluator.file.tree
    kept = [each for each in found if runs(evaluator, each.node, frame)]
    for each in kept:
        around = _taken_before(evaluator, each, use, frame)
        if around is not None:
            kept = [other for other in kept if other is each or tree.order(other.node) > tree.order(around)]
    return kept or list(found)


def _taken_before(evaluator: Evaluator, d: Definition, use: Node, frame: Frame) -> cst.If | None:
    """The outermost `if` around a definition that every way to a use passes before, into the branch that binds it."""
    tree = evaluator.file.tree
    statement: Node = tree.statement(d.node)
    for branch, first in _branches(evaluator, d.node):
        other = branch.orelse.body if isinstance(branch.orelse, cst.Else) else None
        if tree.parent(statement) not in (branch.body, other) and statement is not branch.orelse:
            return None
        if certain(evaluator, branch.test, frame) is not first:
            return None
        statement, block = branch, tree.parent(branch)
        if block is not None and not isinstance(block, cst.If) and tree.contains(block, use):
            return branch if tree.order(use) > tree.last(branch) else None
    return None


def _branches(evaluator: Evaluator, node: Node) -> Iterator[tuple[cst.If, bool]]:
    """The `if` statements of a function around a node, innermost first, each with whether it stands in what runs where
    the condition is true."""
    tree = evaluator.file.tree
    inner, outer = node, tree.parent(node)
    while outer is not None and not isinstance(outer, (cst.FunctionDef, cst.Lambda, cst.Module)):
        if isinstance(outer, cst.If) and inner is not outer.test:
            yield outer, inner is outer.body
        inner, outer = outer, tree.parent(outer)
