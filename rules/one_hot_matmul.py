from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._one_hot import MAKES, OneHot, looked_up_elsewhere, looks_up, one_hot, plain_axes

from tfmemlint.api import (
    Array,
    Call,
    Const,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    api_text,
    integer,
    nodes,
    on,
    on_call,
    replace_node,
    show_bytes,
)

SMALL = 64
MATMULS = (
    "tf.linalg.matmul", "tf.matmul", "tf.keras.ops.matmul", "tf.keras.ops.dot", "tf.keras.backend.dot", "tf.tensordot",
    "tf.keras.ops.tensordot", "tf.einsum", "tf.linalg.einsum", "tf.keras.ops.einsum",
)  # fmt: skip

TABLE = re.compile(r"vocab|embed|table|codebook|lookup|tokens|num_(items|users|codes)", re.IGNORECASE)
"""Words in the names of a table that is not seen, or of its number of rows, that say it has one for each of many."""


class OneHotMatmul(Rule):
    """
    ## What it does
    Reports a product of one-hot rows with a matrix: `tf.matmul(tf.one_hot(ids, n), table)`, `@`, `tensordot`, `einsum`.

    ## Why it costs memory
    The product picks one row of the table for each id. The one-hot matrix has ids x n numbers, nearly all zero:
    312 MiB for 4096 ids and 20 000 rows.

    ## Fix safety
    Unsafe: ids out of range give an error instead of zeros, and the gradient is sparse. Only shown where
    neither the table nor its number of rows is seen, since it may be a batch of tables.

    ## When not to use it
    For small tables, and on TPUs, where the product is fast; fewer than 64 rows are not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/gather
    """

    code = "TFM704"
    summary = "a product with one-hot rows builds a large matrix to look up rows"
    fix_safety = (Safety.UNSAFE, Safety.DISPLAY)

    @on_call(*MATMULS)
    def product(self, call: Call, file: File) -> Iterator[Finding]:
        einsum, names = call.method == "einsum", ("a", "b", "x", "y", "x1", "x2")
        operands = [a.value for a in call.node.args if a.keyword is None or a.keyword.value in names][einsum:]
        if len(operands) < 2 or (einsum and not looks_up(call.value_of(0))):
            return
        flags = {a.keyword.value for a in call.node.args if a.keyword is not None} - set(names)
        turned = [call.given(flag) != Const(False) and flag in flags for flag in ("transpose_a", "transpose_b")]
        if call.method == "tensordot" and not plain_axes(call):
            return
        left, right = operands[:2]
        if turned == [False, True] and one_hot(left, file) is None:
            left, right = right, left  # the columns of a matrix: `matmul(table, one_hot, transpose_b=True)`
        elif turned[0]:
            return
        plain = call.method in ("matmul", "dot") and len(call.node.args) == 2
        yield from self._check(call, left, right, call.node if plain else None, file)

    @on(nodes(cst.BinaryOperation), *MAKES)
    def operator(self, node: cst.BinaryOperation, file: File) -> Iterator[Finding]:
        if isinstance(node.operator, cst.MatrixMultiply):
            yield from self._check(None, node.left, node.right, node, file)

    def _check(
        self,
        call: Call | None,
        left: cst.BaseExpression,
        right: cst.BaseExpression,
        whole: cst.BaseExpression | None,
        file: File,
    ) -> Iterator[Finding]:
        made = one_hot(left, file)
        if made is None or one_hot(right, file) is not None or not _large(made, right, file):
            return
        if looked_up_elsewhere(made.call.node, file) or not made.only_for(left, file):
            return
        size = made.bytes
        cost = f": {show_bytes(size)}" if size is not None else ""
        where = call if call is not None else made.call
        related = [(made.call, "the one-hot rows")] if call is not None else []
        yield self.finding(
            where,
            file,
            f"the one-hot rows are a large matrix of zeros{cost}, made to look rows up; use tf.gather",
            fix=_gather(made, left, right, whole, file),
            bytes=size,
            related=related,
        )


def _large(made: OneHot, table: cst.BaseExpression, file: File) -> bool:
    """Whether the table has many rows, as far as can be told: one of unknown size where it is a layer's weight, or not
    seen and called a table."""
    value = file.value(table)
    shape = value.shape if isinstance(value, Array) else None
    given = (made.rows, shape[0] if shape and len(shape) == 2 else None, _default(made, file))
    rows = next((count for count in given if count is not None), None)
    if rows is not None:
        return rows >= SMALL
    if isinstance(value, Array):
        return value.variable
    depth = made.call.arg("depth", "num_classes")
    return any(bool(TABLE.search(file.text(n))) for n in (table, depth.expression if depth is not None else table))


def _default(made: OneHot, file: File) -> int | None:
    """The number of rows where it is a parameter that is usually small: its default."""
    depth = made.call.arg("depth", "num_classes")
    found = file.definitions(depth.expression) if depth is not None else ()
    defaults = [d.value.default for d in found if isinstance(d.value, cst.Param) and d.value.default is not None]
    rows = integer(file.value(defaults[0])) if len(defaults) == len(found) == 1 else None
    return rows if rows is not None and rows < SMALL else None


def _gather(
    made: OneHot, left: cst.BaseExpression, right: cst.BaseExpression, whole: cst.BaseExpression | None, file: File
) -> Fix | None:
    keras = (made.call.name or "").startswith("tf.keras.ops")
    spelled = api_text(file, "tf.keras.ops.take" if keras else "tf.gather")
    if whole is None or spelled is None or made.ids is None or file.written(left) is not made.call.node:
        return None
    drop = made.statement(left, file)
    if drop is None:
        return None
    text = f"{spelled}({file.text(right)}, {file.text(made.ids)}{', axis=0' if keras else ''})"
    # Where neither is seen it may be a batch of tables, whose rows tf.gather would count by another axis.
    seen = made.rows is not None or isinstance(file.value(right), Array)
    safety = Safety.UNSAFE if seen else Safety.DISPLAY
    return Fix("look the rows up", (*drop, replace_node(file, whole, text)), safety)
