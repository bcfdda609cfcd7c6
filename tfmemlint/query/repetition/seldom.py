"""How often code runs: in a loop where a condition lets it run in every n-th iteration, and in the whole program."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import integer
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.repetition.counts import count
from tfmemlint.query.repetition.repeats import repetitions
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def runs_at_most(file: File, node: Node, loop: Node) -> int | None:
    """The most times that some code in a loop runs while the loop does: in each iteration, or with `if i % 100 == 0`
    around it in every hundredth. None where the number of iterations is not known."""
    most = count(file, loop)
    return -(-most // (once_in(file, node, loop) or 1)) if most is not None else None


def once_in(file: File, node: Node, loop: Node) -> int | None:
    """Among how many iterations of a loop conditions let some code in it run once: 100 of `if i % 100 == 0`, 1 where
    none is seen, None where the number is not known (`if i % period == 0`)."""
    below, found = node, 1
    for above in file.tree.ancestors(node):
        if above is loop:
            break
        if isinstance(above, cst.If) and below is above.body:
            for among in (_every(file, each) for each in _parts(above.test)):
                if among is None:
                    return None
                found = max(found, among)
        below = above
    return found


def seen_runs(file: File, node: Node) -> int | None:
    """The most times that all loops which are seen around some code, and around the calls of its function, run it
    together. None where a number is not known; other code may run it as well."""
    counts = [each.count for each in repetitions(file, node)]
    return None if None in counts else prod(each for each in counts if each is not None)


def runs_in_all(file: File, node: Node, *, left: int = FOLLOWED_CALLS) -> int | None:
    """The most times that some code runs while the program does: loops around it, around the calls of its function and
    so on are multiplied, several calls added up. None where a number is not known, or not all that runs it is seen."""
    around = list(repetitions(file, node, calls=0))
    counts = [each.count if not each.handler else None for each in around]
    if None in counts:
        return None
    inside = prod(each for each in counts if each is not None)
    function = file.contexts.function(node)
    if function is None:
        return inside
    callers = file.call_graph.callers(function) if left else None
    if not callers or file.call_graph.callers_elsewhere(function) != ():
        return None
    outside = [runs_in_all(file, caller.node, left=left - 1) for caller in callers]
    return None if None in outside else inside * sum(each for each in outside if each is not None)


def _parts(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What must hold for `a and b` to hold."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return [*_parts(test.left), *_parts(test.right)]
    return [test]


def _every(file: File, test: cst.BaseExpression) -> int | None:
    """The number of which a condition asks a multiple, with or without a rest: 100 of `(i + 1) % 100 == 0`; None where
    that is not known, 1 for any other condition."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        asked = test.expression
    elif isinstance(test, cst.Comparison) and isinstance(test.comparisons[0].operator, cst.Equal):
        asked = test.left
    else:
        return 1
    if not isinstance(asked, cst.BinaryOperation) or not isinstance(asked.operator, cst.Modulo):
        return 1
    number = integer(file.value(asked.right))
    return max(1, number) if number is not None else None
