"""The lines by which a program tells what the calls of a flagged function leave behind."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.syntax.scopes import OUTER
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan.programs import PlanError

WORDS = "the function was called by itself, with operands made up from their use"
RANKS = (None, 2, 3, 4, 1)
"""The ranks of arrays that are made up of their names, in the order in which they are tried; first as they are used."""
BYTES = 1 << 12
"""Bytes of the flagged tensor: no size counts for what calls leave behind."""
CALLED, LOOKED = "tfmemlint_called(", "tfmemlint_looked("
REACHED = "tfmemlint_reached()"


def kept_at(file: File, statement: Node) -> str:
    """A line that tells where a statement stores something. Raises PlanError where that is not seen."""
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    for target in _targets(small):
        if isinstance(target, cst.Attribute):
            return f"tfmemlint_kept({file.text(target.value)}, {target.attr.value!r})"
        if isinstance(target, cst.Subscript):
            return f"tfmemlint_kept({file.text(target.value)})"
        if isinstance(target, cst.Name) and OUTER in file.flow(file.scope_of(target)).uses.get(id(target), (OUTER,)):
            return f"tfmemlint_kept(None, {target.value!r})"
    call = small.value if isinstance(small, cst.Expr) else None
    if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
        return f"tfmemlint_kept({file.text(call.func.value)})"
    raise PlanError("where the flagged statement stores something is not seen")


def _targets(small: Node | None) -> Iterator[cst.BaseExpression]:
    """What a statement assigns to: attributes and items first, since names are mostly its function's own."""
    whole = [each.target for each in small.targets] if isinstance(small, cst.Assign) else []
    if isinstance(small, (cst.AugAssign, cst.AnnAssign)):
        whole = [small.target]
    found: list[cst.BaseExpression] = []
    for target in whole:
        found += [each.value for each in target.elements] if isinstance(target, (cst.Tuple, cst.List)) else [target]
    yield from sorted(found, key=lambda target: isinstance(target, cst.Name))
