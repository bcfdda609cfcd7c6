"""Products of matrices, however they are written: `@`, `matmul`, `dot`, `tensordot`, `einsum`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Const, constant, integer
from tfmemlint.query.facts import Fact

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

OPERANDS = ("a", "b", "x", "y", "x1", "x2")
"""The names of the parameters that take the two operands."""

AXES = frozenset({
    "[[-1],[0]]", "[[1],[0]]", "[[2],[0]]", "([-1],[0])", "([1],[0])", "[1,0]", "[-1,0]", "(1,0)", "(-1,0)",
    "((1,),(0,))", "((-1,),(0,))",
})  # fmt: skip
"""The `axes` of `tensordot` that stand for the last axis of the first operand and the first one of the second."""


@dataclass(frozen=True, slots=True)
class Product:
    """A product whose sums run over the last axis of `left` and the rows of `right`.

    `node` is the whole expression, `call` its call (None for `@`). Operands that `turned` names ("left", "right")
    are transposed first. `plain` is False where flags or an equation say more than the operands.
    """

    node: cst.BaseExpression
    left: cst.BaseExpression
    right: cst.BaseExpression
    call: Call | None = None
    turned: frozenset[str] = frozenset()
    plain: bool = True


def _products(file: File) -> Iterator[Product]:
    for node in file.tree.of(cst.BinaryOperation):
        if isinstance(node.operator, cst.MatrixMultiply):
            yield Product(node, node.left, node.right)
    for call in file.calls(*knowledge.group("multiplies_matrices")):
        first = 1 if call.method == "einsum" else 0
        given = [arg.value for arg in call.node.args if arg.keyword is None or arg.keyword.value in OPERANDS][first:]
        if len(given) >= 2 and _sums_rows(call):
            plain = call.method in ("matmul", "dot") and len(call.node.args) == 2
            yield Product(call.node, given[0], given[1], call, _turned(call), plain)


products = Fact(_products, "tf.", *knowledge.group("multiplies_matrices"))
"""Each product of two matrices, or batches of them, that is summed over the last axis of the first operand and the rows
of the second. Products over other axes (`einsum`, `tensordot`) are left out."""


def _turned(call: Call) -> frozenset[str]:
    """The operands that flags transpose."""
    flags = {"left": "transpose_a", "right": "transpose_b"}
    passed = {arg.keyword.value for arg in call.node.args if arg.keyword is not None}
    return frozenset(side for side, flag in flags.items() if flag in passed and call.given(flag) != Const(False))


def _sums_rows(call: Call) -> bool:
    """Whether the sums run over the last axis of the first operand and the first of the second, and nothing else."""
    if call.method == "tensordot":
        axes = call.arg("axes")
        text = axes.evaluator.file.text(axes.expression).replace(" ", "") if axes is not None else ""
        return axes is not None and (integer(axes.value) == 1 or text in AXES)
    if call.method != "einsum":
        return True
    equation = constant(call.value_of(0))
    given, _, out = str(equation).replace(" ", "").partition("->")
    first, _, second = given.partition(",")
    if not first or not second or "," in second or not out:
        return False
    return first[-1] in second and first[-1] not in out and not any(c.isalpha() and c not in out for c in first[:-1])
