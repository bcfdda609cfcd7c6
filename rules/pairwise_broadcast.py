from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, Const, File, Finding, Rule, integer, on_call, show_bytes

REDUCES = (
    "tf.math.reduce_sum", "tf.math.reduce_mean", "tf.reduce_sum", "tf.reduce_mean", "tf.norm", "tf.linalg.norm",
    "tf.math.reduce_euclidean_norm",
)  # fmt: skip
WRAPS = frozenset({"tf.square", "tf.math.square", "tf.abs", "tf.math.abs", "tf.pow", "tf.math.pow"})


class PairwiseBroadcast(Rule):
    """
    ## What it does
    Reports distances of all pairs that are computed as a reduction of a broadcast difference:
    `reduce_sum((x[:, None, :] - y[None, :, :]) ** 2, -1)`.

    ## Why it costs memory
    The difference has rows x rows x features numbers before it is reduced: 512 MB against 8 MB for 1024 x 1024 x 64.

    ## Example
    ```python
    d = tf.reduce_sum(tf.square(x[:, None, :] - y[None, :, :]), -1)
    ```
    Use a matrix product:
    ```python
    d = tf.reduce_sum(x * x, 1)[:, None] - 2 * tf.matmul(x, y, transpose_b=True) + tf.reduce_sum(y * y, 1)
    ```

    ## Fix safety
    No fix: the last digits differ, and small negative numbers need a maximum with zero.

    ## When not to use it
    For small sets; sizes known to be small are not reported.

    ## References
    - https://www.tensorflow.org/guide/tensor#broadcasting
    """

    code = "TFM705"
    summary = "a broadcast difference of all pairs is far larger than the distances"

    @on_call(*REDUCES)
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        given, axis = call.arg(0), integer(call.value_of("axis"))
        if given is None or axis not in (-1, 2):
            return
        difference = self._difference(given.expression, file)
        if difference is None or not self._crossed(difference, file):
            return
        value = file.value(difference)
        size = value.bytes if isinstance(value, Array) else None
        if size is not None and size < file.config.min_bytes:
            return
        cost = f": {show_bytes(size)}" if size is not None else ""
        yield self.finding(
            call, file, f"the difference of all pairs exists in full before it is reduced{cost}; a matrix product needs only the distances",
            bytes=size,
        )  # fmt: skip

    def _difference(self, node: cst.BaseExpression, file: File) -> cst.BinaryOperation | None:
        """The subtraction under squares and absolute values."""
        if isinstance(node, cst.Call) and file.call(node).name in WRAPS and node.args:
            return self._difference(node.args[0].value, file)
        if isinstance(node, cst.BinaryOperation):
            if isinstance(node.operator, cst.Power):
                return self._difference(node.left, file)
            if isinstance(node.operator, cst.Subtract):
                return node
        if isinstance(node, cst.Name):
            definitions = file.flow(file.scope_of(node)).uses.get(id(node), ())
            values = [d.value for d in definitions if not d.path]
            if len(values) == 1 and isinstance(values[0], cst.BaseExpression) and not isinstance(values[0], cst.Name):
                return self._difference(values[0], file)
        return None

    def _crossed(self, node: cst.BinaryOperation, file: File) -> bool:
        """Whether the two sides are expanded along different axes, of the first two."""
        left, right = self._expanded(node.left, file), self._expanded(node.right, file)
        return (left == 1 and right in (0, None)) or (right == 1 and left in (0, None)) if 1 in (left, right) else False

    def _expanded(self, node: cst.BaseExpression, file: File) -> int | None:
        """The axis that an operand inserts, or None."""
        if isinstance(node, cst.Name):
            definitions = file.flow(file.scope_of(node)).uses.get(id(node), ())
            values = [d.value for d in definitions if not d.path]
            return (
                self._expanded(values[0], file)
                if len(values) == 1 and isinstance(values[0], (cst.Call, cst.Subscript))
                else None
            )
        if isinstance(node, cst.Subscript):
            for i, element in enumerate(node.slice):
                if isinstance(element.slice, cst.Index) and file.value(element.slice.value) == Const(None):
                    return i
        if isinstance(node, cst.Call) and file.call(node).name == "tf.expand_dims":
            return integer(file.call(node).value_of("axis"))
        return None
