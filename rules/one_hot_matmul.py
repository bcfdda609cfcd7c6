from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, File, Finding, Fix, Rule, Safety, fixes, flow, knowledge, on, ordering, tensors

SMALL = 64
"""Rows up to which a product is as good as a look-up."""

LOOKUPS = frozenset({"gather", "embedding_lookup", "take", "gather_nd"})


class OneHotMatmul(Rule):
    """
    ## What it does
    Reports a product of one-hot rows with a matrix: `tf.matmul(tf.one_hot(ids, n), table)`, `@`, `tensordot`, `einsum`.

    ## Why it costs memory
    The product picks one row of the table for each id. The one-hot matrix has ids x n numbers, nearly all zero:
    312 MiB for 4096 ids and 20 000 rows.

    ## Fix safety
    Unsafe: ids out of range give an error instead of zeros, the gradient is sparse, and a table that is not seen may
    be a batch of tables.

    ## When not to use it
    For small tables, and on TPUs, where the product is fast; fewer than 64 rows are not reported, nor tables of
    which nothing tells how many rows they have, unless they are a layer's weights.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/gather
    """

    code = "TFM704"
    summary = "a product with one-hot rows builds a large matrix to look up rows"
    fix_safety = (Safety.UNSAFE,)

    @on(tensors.products, *knowledge.group("makes_one_hot"))
    def check(self, product: tensors.Product, file: File) -> Iterator[Finding]:
        left, right = product.left, product.right
        if product.turned == {"right"} and tensors.one_hot(file, left) is None:
            left, right = right, left  # the columns of a matrix: `matmul(table, one_hot, transpose_b=True)`
        made = tensors.one_hot(file, left)
        if made is None or "left" in product.turned or tensors.one_hot(file, right) is not None:
            return
        if (
            not _large(file, made, right)
            or not flow.only_reader(file, left)
            or _looked_up_elsewhere(file, made.call.node)
        ):
            return
        yield self.finding(
            product.call or made.call,
            file,
            f"the one-hot rows are {_size(made)}, made to look rows up; use tf.gather",
            fix=_gather(file, made, left, right, product.node) if product.plain else None,
            bytes=made.bytes,
            related=[(made.call, "the one-hot rows")] if product.call is not None else [],
        )


def _large(file: File, made: tensors.OneHot, table: cst.BaseExpression) -> bool:
    """Whether the table has many rows, as far as can be told: one of unknown size where it is a layer's weight, or a
    matrix of which the number of rows is computed as a product of sizes."""
    value = file.value(table)
    shape = value.shape if isinstance(value, Array) else None
    rows = made.length or (shape[0] if shape and len(shape) == 2 else None)
    if rows is not None or (made.usual_length or SMALL) < SMALL:
        return rows is not None and rows >= SMALL
    if isinstance(value, Array) and value.variable:
        return True
    depth = file.written(made.depth.expression) if made.depth is not None else None
    multiplied = isinstance(depth, cst.BinaryOperation) and isinstance(depth.operator, cst.Multiply)
    return multiplied and shape is not None and len(shape) == 2


def _size(made: tensors.OneHot) -> str:
    """What is known of the size of the one-hot rows, in words."""
    large = made.length is not None or made.bytes is not None
    return "a large matrix of zeros{cost}" if large else "a matrix of zeros with a column for each row of the table"


def _looked_up_elsewhere(file: File, rows: cst.Call) -> bool:
    """Whether the code looks rows up in the other branch of an `if`, or there and returns: the product is chosen here,
    for TPUs."""
    function = file.contexts.function(rows)
    for call in (call for word in LOOKUPS for call in file.calls_by_word.get(word, ())):
        if ordering.exclusive(file, rows, call):
            return True
        leaves = isinstance(file.tree.parent(call), cst.Return) and file.contexts.function(call) is function
        if leaves and function is not None and file.contexts.conditional(call, function):
            return True
    return False


def _gather(
    file: File, made: tensors.OneHot, rows: cst.BaseExpression, table: cst.BaseExpression, product: cst.BaseExpression
) -> Fix | None:
    keras = (made.call.name or "").startswith("tf.keras.ops")
    spelled = fixes.api_text(file, "tf.keras.ops.take" if keras else "tf.gather")
    if spelled is None or made.ids is None or file.written(rows) is not made.call.node:
        return None
    drop = () if rows is made.call.node else fixes.remove_assignment(file, made.call.node, rows, made.ids)
    text = f"{spelled}({file.text(table)}, {file.text(made.ids)}{', axis=0' if keras else ''})"
    return Fix.unsafe("look the rows up", drop, fixes.replace_node(file, product, text))
