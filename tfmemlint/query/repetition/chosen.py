"""How many items of a loop its body is for: `if name not in ("a", "b"): continue`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Const, Mapping, Sequence
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def let_through(file: File, loop: cst.For, inside: Node) -> int | None:
    """How many of the loop's items come to some code in its body, where conditions let through only those that are in a
    known list; it is taken for granted that the items differ. None where no condition asks that."""
    names = {name.value for name in walk(loop.target, cst.Name)}
    found = [_choices(file, test, negated=negated, names=names) for test, negated in _asked_before(file, loop, inside)]
    return min((count for count in found if count is not None), default=None)


def _asked_before(file: File, loop: cst.For, inside: Node) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """The conditions that hold wherever the code is reached, each with whether it is its opposite that holds."""
    tree = file.tree
    for statement in _left_by(file, loop):
        if tree.order(statement) >= tree.order(inside) or tree.contains(statement, inside):
            break
        yield statement.test, True
    inner = inside
    for above in tree.ancestors(inside):
        if above is loop:
            break
        if isinstance(above, cst.If) and inner is not above.test:
            yield above.test, inner is not above.body
        inner = above


@once_per_file
def _left_by(file: File, loop: cst.For) -> list[cst.If]:
    """The statements of a loop's body that leave an iteration under a condition and do nothing else without it."""
    return [each for each in loop.body.body if isinstance(each, cst.If) and each.orelse is None and _leaves(each)]


def _leaves(branch: cst.If) -> bool:
    last = branch.body.body[-1] if branch.body.body else None
    small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    return isinstance(small, (cst.Continue, cst.Break, cst.Return, cst.Raise))


def _choices(file: File, test: cst.BaseExpression, *, negated: bool, names: set[str]) -> int | None:
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
        return None
    asked = test.comparisons[0]
    if test.left.value not in names or not isinstance(asked.operator, cst.NotIn if negated else cst.In):
        return None
    value = file.value(asked.comparator)
    if isinstance(value, Mapping) and not value.open:
        return len(value.items)
    if not isinstance(value, Sequence) or value.open or not all(isinstance(item, Const) for item in value.items):
        return None
    return len(set(value.items))
