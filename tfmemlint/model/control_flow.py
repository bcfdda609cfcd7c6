"""What runs, and in which order, in the statements that hold others: for the walk that follows a program's effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint.model.happened import join
from tfmemlint.syntax.reaching import always, exhaustive, is_main_guard
from tfmemlint.syntax.scopes import parameters
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.effects import Order
    from tfmemlint.model.functions import Frame


def passed(order: Order, statement: Node, frame: Frame | None) -> None:
    """Go through a statement that holds others."""
    go_through = _COMPOUND.get(statement.__class__)
    if go_through is not None:
        go_through(order, statement, frame)


def _function(order: Order, node: cst.FunctionDef, frame: Frame | None) -> None:
    """What runs where a function is defined: its decorators, and the defaults of its parameters."""
    _defined(order, node, frame)


def _class(order: Order, node: cst.ClassDef, frame: Frame | None) -> None:
    if order.stack:
        order.record(node)
    for outer in (*node.decorators, *node.bases, *node.keywords):
        order.expression(outer, frame)
    for statement in node.body.body:
        if isinstance(statement, cst.FunctionDef):
            _defined(order, statement, frame)
        else:
            order.block([statement], frame)


def _defined(order: Order, function: cst.FunctionDef, frame: Frame | None) -> None:
    if order.stack or order.guarded:  # whoever calls it has passed this place
        order.record(function)
    for decorator in function.decorators:
        order.expression(decorator.decorator, frame)
    for parameter in parameters(function):
        order.expression(parameter.default, frame)


def _with(order: Order, node: cst.With, frame: Frame | None) -> None:
    for item in node.items:
        order.expression(item.item, frame)
    order.block(node.body.body, frame)


def _if(order: Order, node: cst.If, frame: Frame | None) -> None:
    order.expression(node.test, frame)
    before = order.state
    if is_main_guard(node.test) and order.others.importing:
        return
    if is_main_guard(node.test) and not order.stack:
        order.imported = before  # what follows does not happen to those who import the module
    never_runs = order.file.contexts.never_runs
    order.state = None if never_runs(node.body) else before
    outside, order.guarded = order.guarded, order.guarded or is_main_guard(node.test)
    order.block(node.body.body, frame)
    order.guarded = outside
    if always(node.test):
        return
    taken, order.state = order.state, before
    if node.orelse is not None and never_runs(node.orelse):
        order.state = None
    elif isinstance(node.orelse, cst.If):
        _if(order, node.orelse, frame)
    elif node.orelse is not None:
        order.block(node.orelse.body.body, frame)
    order.state = join([taken, order.state])


def _loop(order: Order, node: cst.For | cst.While, frame: Frame | None) -> None:
    order.expression(node.iter if isinstance(node, cst.For) else node.test, frame)
    before = order.state
    order.loops.append([])
    order.block(node.body.body, frame)
    left = order.loops.pop()
    entered = always(node.test) if isinstance(node, cst.While) else order.file.contexts.turns(node.iter)
    order.state = join([*([] if entered else [before]), order.state, *left])
    if node.orelse is not None:
        order.block(node.orelse.body.body, frame)


def _try(order: Order, node: cst.Try | cst.TryStar, frame: Frame | None) -> None:
    before = order.state
    order.block(node.body.body, frame)
    raised = join([before, order.state])
    if node.orelse is not None:
        order.block(node.orelse.body.body, frame)
    ends = [order.state]
    for handler in node.handlers:
        order.state = raised
        order.block(handler.body.body, frame)
        ends.append(order.state)
    order.state = join(ends)
    if node.finalbody is not None:
        dead = order.state is None
        order.state = raised if dead else order.state
        order.block(node.finalbody.body.body, frame)
        order.state = None if dead else order.state


def _match(order: Order, node: cst.Match, frame: Frame | None) -> None:
    before, ends = order.state, []
    for case in node.cases:
        order.state = before
        order.block(case.body.body, frame)
        ends.append(order.state)
    order.state = join(ends if exhaustive(node) else [before, *ends])


_COMPOUND: dict[type, Callable[[Order, Any, Frame | None], None]] = {
    cst.FunctionDef: _function, cst.ClassDef: _class, cst.If: _if, cst.For: _loop, cst.While: _loop, cst.Try: _try,
    cst.TryStar: _try, cst.With: _with, cst.Match: _match,
}  # fmt: skip
