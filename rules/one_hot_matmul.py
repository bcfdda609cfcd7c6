from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, File, Finding, Fix, Rule, Safety, integer, on_call, on_file, show_bytes
from tfmemlint.fix.edits import api_text, replace_node

SMALL = 64
ONE_HOT = ("tf.one_hot", "tf.keras.ops.one_hot")


class OneHotMatmul(Rule):
    """
    ## What it does
    Reports a product of one-hot rows with a matrix: `tf.matmul(tf.one_hot(ids, n), table)`, `@`, `tensordot`, `einsum`.

    ## Why it costs memory
    The product picks one row of the table for each id. The one-hot matrix has ids x n numbers, nearly all zero: 313 MB
    against 1 MB for 4096 ids and 20 000 rows.

    ## Example
    ```python
    rows = tf.matmul(tf.one_hot(ids, 20_000), table)
    ```
    Look the rows up:
    ```python
    rows = tf.gather(table, ids)
    ```

    ## Fix safety
    Unsafe: ids out of range give an error instead of zeros, and the gradient is sparse.

    ## When not to use it
    For small tables, and on TPUs, where the product is fast; fewer than 64 rows are not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/gather
    """

    code = "TFM704"
    summary = "a product with one-hot rows builds a large matrix to look up rows"
    fix_safety = (Safety.UNSAFE,)

    @on_call("tf.linalg.matmul", "tf.matmul", "tf.tensordot", "tf.einsum")
    def product(self, call: Call, file: File) -> Iterator[Finding]:
        operands = [a.value for a in call.node.args if a.keyword is None or a.keyword.value in ("a", "b")]
        operands = operands[1:] if call.method == "einsum" else operands
        if len(operands) < 2:
            return
        plain = call.method == "matmul" and len(call.node.args) == 2
        yield from self._check(call, operands[0], operands[1], call.node if plain else None, file)

    @on_file("one_hot")
    def operator(self, file: File) -> Iterator[Finding]:
        for node in file.tree.of(cst.BinaryOperation):
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
        made = self._one_hot(left, file)
        if made is None:
            return
        rows = integer(made.value_of("depth", "num_classes"))
        if (rows is None and not isinstance(file.value(right), Array)) or (rows is not None and rows < SMALL):
            return
        size = made.value.bytes if isinstance(made.value, Array) else None
        cost = f": {show_bytes(size)}" if size is not None else ""
        where = call if call is not None else made
        yield self.finding(
            where, file, f"the one-hot rows are a large matrix of zeros{cost}, made to look rows up; use tf.gather",
            fix=self._gather(made, left, right, whole, file), bytes=size, related=[(made, "the one-hot rows")] if call is not None else [],
        )  # fmt: skip

    def _one_hot(self, node: cst.BaseExpression, file: File) -> Call | None:
        value = file.value(node)
        if isinstance(value, Array) and value.origin is not None and value.origin.name in ONE_HOT:
            return value.origin
        return None

    def _gather(
        self,
        made: Call,
        left: cst.BaseExpression,
        right: cst.BaseExpression,
        whole: cst.BaseExpression | None,
        file: File,
    ) -> Fix | None:
        spelled, ids = api_text(file, "tf.gather"), made.arg("indices", "x")
        if whole is None or spelled is None or ids is None or made.node is not left:
            return None
        if (
            any(a.keyword is not None and a.keyword.value in ("on_value", "off_value", "axis") for a in made.node.args)
            or len(made.node.args) > 3
        ):
            return None
        text = f"{spelled}({file.text(right)}, {file.text(ids.expression)})"
        return Fix("look the rows up", (replace_node(file, whole, text),), Safety.UNSAFE)
