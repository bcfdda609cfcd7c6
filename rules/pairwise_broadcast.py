from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._pairs import pairs

from tfmemlint.api import Array, Call, Const, File, Finding, Rule, integer, on_call, show_bytes, written

REDUCES = (
    *(f"tf.{module}reduce_{name}" for module in ("", "math.") for name in ("sum", "mean", "max", "min", "all", "any")),
    "tf.norm", "tf.linalg.norm", "tf.math.reduce_euclidean_norm", "tf.reduce_euclidean_norm",
    *(f"tf.keras.{module}.{name}" for module in ("ops", "backend") for name in ("sum", "mean", "max", "min")),
    "tf.keras.ops.norm", "tf.keras.ops.linalg.norm",
)  # fmt: skip
FEW = 32
"""Rows or columns up to which all pairs are not many more numbers than the operands."""


class PairwiseBroadcast(Rule):
    """
    ## What it does
    Reports distances and products of all pairs that are computed as a reduction of a broadcast operation:
    `reduce_sum((x[:, None, :] - y[None, :, :]) ** 2, -1)`.

    ## Why it costs memory
    The difference has rows x rows x features numbers before it is reduced, and its square as many: 256 MiB each for
    1024 x 1024 x 64.

    ## When not to use it
    For small sets; sizes known to be small are not reported.

    ## References
    - https://www.tensorflow.org/guide/tensor#broadcasting
    """

    code = "TFM705"
    summary = "a broadcast difference of all pairs is far larger than the distances"
    no_fix = "the last digits differ, and small negative numbers need a maximum with zero"

    @on_call(*REDUCES)
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        given, axis = call.arg(0), integer(call.value_of("axis"))
        if given is None or axis is None or axis not in (-1, 2, 3):
            return
        found = pairs(given.expression, axis, file, squared=_euclidean(call))
        if found is None or _in_parts(found.node, file):
            return
        value = file.value(found.node)
        size = value.bytes if isinstance(value, Array) else None
        shape = value.shape if isinstance(value, Array) and value.shape is not None else ()
        if (size is not None and size < file.config.min_bytes) or any(n is not None and n < FEW for n in shape[-3:-1]):
            return
        cost = f": {show_bytes(size)}" if size is not None else ""
        sums = found.product and not (call.method or "").endswith(("max", "min"))
        instead = "a matrix product needs only the result" if sums else "take the rows in parts"
        yield self.finding(call, file, f"all pairs exist in full before they are reduced{cost}; {instead}", bytes=size)


def _euclidean(call: Call) -> bool:
    """Whether a norm sums squares; others, such as that of absolute differences, are no matrix product."""
    order = call.arg("ord")
    usual = order is None or order.value in (Const("euclidean"), Const(None), Const(2))
    return (call.method or "").endswith("norm") and usual


def _in_parts(node: cst.BaseExpression, file: File) -> bool:
    """Whether an operand is a slice of rows that a loop moves on, or one row that a function is mapped over."""
    loops = list(file.contexts.loops(node))
    for name in (n for n in _names(node)):
        for definition in written(file.definitions(name)):
            value = definition.value
            if isinstance(value, cst.Subscript) and any(file.tree.contains(loop, definition.node) for loop in loops):
                first = value.slice[0].slice
                if isinstance(first, cst.Slice) and (first.lower is not None or first.upper is not None):
                    return True
    return False


def _names(node: cst.CSTNode) -> Iterator[cst.Name]:
    if isinstance(node, cst.Name):
        yield node
    for child in node.children:
        yield from _names(child)
