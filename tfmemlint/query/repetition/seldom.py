"""How often code in a loop runs that a condition lets run in every n-th iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import integer
from tfmemlint.query.repetition.counts import count
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def runs_at_most(file: File, node: Node, loop: Node) -> int | None:
    """The most times that some code in a loop runs while the loop does: in each iteration, or with `if i % 100 == 0`
    around it in every hundredth. None where the number of iterations is not known."""
    most = count(file, loop)
    if most is None:
        return None
    below, every = node, 1
    for above in file.tree.ancestors(node):
        if above is loop:
            break
        if isinstance(above, cst.If) and below is above.body:
            every = max(every, *(_every(file, each) for each in _parts(above.test)))
        below = above
    return -(-most // every)


def _parts(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What must hold for `a and b` to hold."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return [*_parts(test.left), *_parts(test.right)]
    return [test]


def _every(file: File, test: cst.BaseExpression) -> int:
    """The number of which a condition asks a multiple, with or without a rest: 100 of `(i + 1) % 100 == 0`; else 1."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        asked = test.expression
    elif isinstance(test, cst.Comparison) and isinstance(test.comparisons[0].operator, cst.Equal):
        asked = test.left
    else:
        return 1
    if not isinstance(asked, cst.BinaryOperation) or not isinstance(asked.operator, cst.Modulo):
        return 1
    return max(1, integer(file.value(asked.right)) or 1)
