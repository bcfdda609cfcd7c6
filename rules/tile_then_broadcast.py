from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Array,
    Call,
    Const,
    File,
    Finding,
    Fix,
    Node,
    Rule,
    Safety,
    Sequence,
    Value,
    integer,
    on_call,
    show_bytes,
)
from tfmemlint.fix.edits import outer_span, replace_node

ELEMENTWISE = frozenset(
    f"tf.{prefix}{name}" for prefix in ("", "math.")
    for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "pow", "equal", "greater", "less", "squared_difference")
)  # fmt: skip
OPERATORS = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


class TileThenBroadcast(Rule):
    """
    ## What it does
    Reports `tf.tile` and `tf.repeat` along axes of size 1 whose result is only an operand of an element-wise op.

    ## Why it costs memory
    Element-wise ops broadcast an axis of size 1 without copying it. The tiled tensor is a full copy of the result's
    size beside the result: 402 MB against 136 MB for 2000 x 64 x 256.

    ## Example
    ```python
    scores = tf.tile(x[:, None, :], [1, n, 1]) * weights
    ```
    Let the product broadcast:
    ```python
    scores = x[:, None, :] * weights
    ```

    ## Fix safety
    Safe where both shapes are known; unsafe otherwise, for the other operand may need the tiled axis to get its size.

    ## When not to use it
    Before ops that need equal shapes, which are not reported.

    ## References
    - https://www.tensorflow.org/guide/tensor#broadcasting
    """

    code = "TFM703"
    summary = "tiling before an element-wise op copies what broadcasting would not"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on_call("tf.tile", "tf.repeat")
    def check(self, tile: Call, file: File) -> Iterator[Finding]:
        source = tile.arg(0)
        if source is None or not self._only_ones(tile, source.expression, file):
            return
        operands = self._operands(tile, file)
        if not operands:
            return
        other = file.value(operands[0]) if operands[0] is not None else None
        known = (
            isinstance(other, Array)
            and other.shape is not None
            and isinstance(source.value, Array)
            and source.value.shape is not None
        )
        at = outer_span(file, source.expression)
        edit = replace_node(file, tile.node, file.source.text[at.start : at.end])
        size = tile.value.bytes if isinstance(tile.value, Array) else None
        cost = f": {show_bytes(size)}" if size is not None else ""
        yield self.finding(
            tile,
            file,
            f"{tile.method}() makes a full copy{cost} of what the element-wise op would broadcast for nothing",
            fix=Fix(
                "let the op broadcast",
                (edit,),
                Safety.SAFE if known and None not in (other.shape or ()) else Safety.UNSAFE,
            ),  # type: ignore[union-attr]
            bytes=size,
        )

    def _only_ones(self, tile: Call, source: cst.BaseExpression, file: File) -> bool:
        """Whether every axis that is repeated has size 1."""
        if tile.name == "tf.repeat":
            axis = integer(tile.value_of("axis"))
            return axis is not None and self._is_one(source, axis, None, file)
        multiples = tile.value_of("multiples")
        if not isinstance(multiples, Sequence) or multiples.open:
            return False
        rank = len(multiples.items)
        tiled = [i for i, item in enumerate(multiples.items) if item != Const(1)]
        return bool(tiled) and all(self._is_one(source, i, rank, file) for i in tiled)

    def _is_one(self, source: cst.BaseExpression, axis: int, rank: int | None, file: File) -> bool:
        value = file.value(source)
        if isinstance(value, Array) and value.shape is not None:
            return -len(value.shape) <= axis < len(value.shape) and value.shape[axis] == 1
        if isinstance(source, cst.Subscript):
            inserted = [
                i for i, e in enumerate(source.slice)
                if isinstance(e.slice, cst.Index) and file.value(e.slice.value) in (Const(None),)
            ]  # fmt: skip
            plain = all(isinstance(e.slice, cst.Slice) or i in inserted for i, e in enumerate(source.slice))
            return plain and axis in inserted
        if isinstance(source, cst.Call) and file.call(source).name == "tf.expand_dims":
            at = integer(file.call(source).value_of("axis"))
            if at is None:
                return False
            return at == axis or (rank is not None and at < 0 and at + rank == axis)
        return False

    def _operands(self, tile: Call, file: File) -> list[cst.BaseExpression | None]:
        """The other operand of each element-wise op that uses the result; empty if anything else uses it."""
        parent = file.tree.parent(tile.node)
        if (
            isinstance(parent, cst.Assign)
            and len(parent.targets) == 1
            and isinstance(parent.targets[0].target, cst.Name)
        ):
            target = parent.targets[0].target
            made = [d for d in file.flow(file.scope_of(target)).bindings.get(target.value, ()) if d.node is target]
            found = [self._operand(use, file) for d in made for use in file.uses_of(d)]
            return [] if not found or any(f is False for f in found) else [f for f in found if not isinstance(f, bool)]
        one = self._operand(tile.node, file)
        return [] if isinstance(one, bool) else [one]

    def _operand(self, use: Node, file: File) -> cst.BaseExpression | bool | None:
        parent = file.tree.parent(use)
        if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, OPERATORS):
            other = parent.right if parent.left is use else parent.left
            return False if _scalar(file.value(other)) else other
        if isinstance(parent, cst.Arg):
            call = file.tree.parent(parent)
            if isinstance(call, cst.Call) and file.call(call).name in ELEMENTWISE and len(call.args) >= 2:
                other = call.args[1].value if call.args[0].value is use else call.args[0].value
                return False if _scalar(file.value(other)) else other
        return False


def _scalar(value: Value) -> bool:
    """Whether the other operand has no axis that could give the tiled one its size."""
    return isinstance(value, Const) or (isinstance(value, Array) and value.shape == ())
