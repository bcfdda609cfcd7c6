"""Where branches lead: what leaves a function, what is certainly passed, what runs whenever something else did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.query.calls import calls
from tfmemlint.query.ordering.conditions import conditions
from tfmemlint.syntax.scopes import FUNCTIONS, own_nodes
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

EXITS = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})


def leaves(file: File, block: cst.BaseSuite) -> bool:
    """Whether a block certainly ends with leaving its function or the program. False where a statement before its last
    or a function that it calls does so."""
    last = block.body[-1] if block.body else None
    small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
        return file.call(small.value).name in EXITS
    return isinstance(small, (cst.Raise, cst.Return))


def is_condition(file: File, expression: cst.BaseExpression) -> bool:
    """Whether the code around certainly asks of an expression only whether it is true."""
    parent = file.tree.parent(expression)
    if isinstance(parent, (cst.If, cst.While, cst.IfExp, cst.Assert, cst.CompIf)):
        return parent.test is expression
    if isinstance(parent, cst.BooleanOperation):
        return is_condition(file, parent)
    return isinstance(parent, cst.UnaryOperation) and isinstance(parent.operator, cst.Not)


def under_condition(file: File, node: Node) -> bool:
    """Whether a condition decides if its function, or the module, gets to a place: around it (`if`, `and`, a case), or
    by a `return` or `raise` under an `if` in front of it. Loops, `try` and the main guard are no conditions."""
    home = file.contexts.function(node)
    if any(isinstance(each, (cst.If, cst.IfExp)) for each in conditions(file, node, home)):
        return True
    below: Node = node
    for above in _ancestors_within(file, node, home):
        if isinstance(above, (cst.BooleanOperation, cst.MatchCase)):
            return True
        if isinstance(above, cst.IndentedBlock) and _may_leave_before(file, above, below):
            return True
        below = above
    return False


def _may_leave_before(file: File, block: cst.IndentedBlock, statement: Node) -> bool:
    before = block.body[: file.tree.holding(block.body, statement)]
    return any(isinstance(each, cst.If) and any(walk(each, cst.Return, cst.Raise)) for each in before)


def always_follows(file: File, first: Call, then: Call) -> bool:
    """Whether `then`, or another call of its API in a handler, runs whenever `first` did and stood in front of it in
    the same function: no way out of the function lies between that no handler catches, and no condition holds `then`
    back that does not hold `first`.

    Any `if` around `first` is taken for the condition of `then`: `if step == 10` starts what `if step == 20` ends.
    False where it is not certain.
    """
    if file.tree.order(then.node) < file.tree.order(first.node):
        return False
    home = file.contexts.function(first.node)
    chosen = any(isinstance(above, cst.If) for above in _ancestors_within(file, first.node, home))
    for above in _ancestors_within(file, then.node, home):
        if isinstance(above, cst.Finally):
            return True
        if isinstance(above, cst.If) and not file.tree.contains(above, first.node) and not chosen:
            return False
        if isinstance(above, cst.ExceptHandler):
            return False
        if isinstance(above, cst.Try) and not all(_passes_on(file, each, then) for each in above.handlers):
            return False
    return not _leaves_between(file, first.node, then.node, home)


def _ancestors_within(file: File, node: Node, home: Node | None) -> list[Node]:
    """What stands around a node in its function, innermost first."""
    found: list[Node] = []
    for above in file.tree.ancestors(node):
        if above is home or isinstance(above, FUNCTIONS):
            break
        found.append(above)
    return found


def _passes_on(file: File, handler: cst.ExceptHandler, then: Call) -> bool:
    """Whether a handler makes the call too, or lets the error go on; the call may stand behind the `try`, too."""
    if file.tree.contains(handler, then.node) or any(walk(handler, cst.Raise)):
        return True
    return any(call.name == then.name for call in calls(file, handler))


def _leaves_between(file: File, first: Node, last: Node, home: Node | None) -> bool:
    """Whether the function may be left between two places; not by an error that may be caught, or stands in a
    handler."""
    if not isinstance(home, cst.FunctionDef):
        return False
    between = (file.tree.order(first), file.tree.order(last))
    ways = [n for n in own_nodes(home, cst.Return, cst.Raise) if between[0] < file.tree.order(n) < between[1]]
    return not all(isinstance(way, cst.Raise) and _is_caught(file, way, home) for way in ways)


def _is_caught(file: File, statement: Node, home: Node) -> bool:
    return any(isinstance(above, (cst.Try, cst.ExceptHandler)) for above in _ancestors_within(file, statement, home))
