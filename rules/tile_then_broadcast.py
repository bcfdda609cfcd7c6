from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._axes import size_one
from tfmemlint_rules._operands import operands

from tfmemlint.api import (
    Array,
    Call,
    Const,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Sequence,
    integer,
    on_call,
    outer_span,
    replace_node,
    show_bytes,
    statement_lines,
)  # fmt: skip
from tfmemlint.model.arithmetic import broadcast

TILES = ("tf.tile", "tf.keras.ops.tile", "tf.keras.backend.tile")
REPEATS = ("tf.repeat", "tf.keras.ops.repeat", "tf.keras.backend.repeat_elements")
BROADCASTS = ("tf.broadcast_to", "tf.keras.ops.broadcast_to")
WRAPS = frozenset({"tf.stack", "tf.constant", "tf.convert_to_tensor", "builtins.list", "builtins.tuple"})
OPERATIONS = (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.BooleanOperation, cst.IfExp, cst.Lambda)


class TileThenBroadcast(Rule):
    """
    ## What it does
    Reports `tf.tile`, `tf.repeat` and `tf.broadcast_to` along axes of size 1 whose result is only an operand of
    element-wise ops that broadcast.

    ## Why it costs memory
    Element-wise ops broadcast an axis of size 1 without copying it. The tiled tensor is a full copy of the result's
    size beside the result.

    ## Fix safety
    Safe where both shapes are known; unsafe otherwise, for the other operand may need the tiled axis to get its size,
    and where a name of the module then stands for the smaller tensor.

    ## When not to use it
    Before ops that need equal shapes, which are not reported.

    ## References
    - https://www.tensorflow.org/guide/tensor#broadcasting
    """

    code = "TFM703"
    summary = "tiling before an element-wise op copies what broadcasting would not"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on_call(*TILES, *REPEATS, *BROADCASTS)
    def check(self, tile: Call, file: File) -> Iterator[Finding]:
        source = tile.arg(0)
        if source is None:
            return
        repeated = _repeated(tile, file)
        if repeated is None:
            return
        axes, rank = repeated
        if tile.name not in BROADCASTS and not (
            axes and all(size_one(source.expression, axis, rank, file) for axis in axes)
        ):
            return
        others = operands(tile.node, file)
        if not others or not all(_carries(other, tile, axes, rank, file) for other in others):
            return
        safe = all(_same_result(tile, other, file) for other in others) and not _is_named(tile, others, file)
        size = tile.value.bytes if isinstance(tile.value, Array) else None
        cost = f" ({show_bytes(size)})" if size is not None else ""
        yield self.finding(
            tile,
            file,
            f"{tile.method}() makes a full copy{cost} of what the element-wise op would broadcast for nothing",
            fix=_drop(tile, source.expression, Safety.SAFE if safe else Safety.UNSAFE, file),
            bytes=size,
        )


def _repeated(tile: Call, file: File) -> tuple[list[int], int | None] | None:
    """The axes along which the call repeats, and the number of axes; None where they are not known."""
    if tile.name in REPEATS:
        axis = integer(tile.value_of("axis"))
        return None if axis is None else ([axis], None)
    given = tile.arg(1, "multiples", "repeats", "shape", "n")
    if given is None:
        return None
    expression = file.written(given.expression)
    if isinstance(expression, cst.Call) and file.call(expression).name in WRAPS and expression.args:
        expression = expression.args[0].value
    multiples = file.value(expression)
    if tile.name in BROADCASTS:
        return [], None
    if not isinstance(multiples, Sequence) or multiples.open:
        return None
    return [i for i, item in enumerate(multiples.items) if item != Const(1)], len(multiples.items)


def _carries(other: cst.BaseExpression, tile: Call, axes: list[int], rank: int | None, file: File) -> bool:
    """Whether the other operand may have the tiled axes in full: not where it is seen to have size 1 there."""
    if any(size_one(_untiled(other, file), axis, rank, file) for axis in axes):
        return False
    given, made = tile.value_of(0), tile.value
    value = file.value(other)
    if isinstance(value, Array) and value.shape is not None and isinstance(made, Array) and made.shape is not None:
        wanted = broadcast(made.shape, value.shape)
        plain = broadcast(given.shape, value.shape) if isinstance(given, Array) else None
        return plain is None or plain == wanted or None in plain or None in (wanted or ())
    return True


def _untiled(node: cst.BaseExpression, file: File) -> cst.BaseExpression:
    """What an operand is when its own tiling is taken off, too."""
    found = file.written(node)
    if isinstance(found, cst.Call) and file.call(found).name in (*TILES, *REPEATS) and found.args:
        return found.args[0].value
    return node


def _same_result(tile: Call, other: cst.BaseExpression, file: File) -> bool:
    """Whether all shapes are known, and the result has the same one without tiling."""
    given, made, value = tile.value_of(0), tile.value, file.value(other)
    if not (isinstance(given, Array) and isinstance(made, Array) and isinstance(value, Array)):
        return False
    if isinstance(file.written(other), cst.Call) and _untiled(other, file) is not other:
        return False
    plain, wanted = broadcast(given.shape, value.shape), broadcast(made.shape, value.shape)
    return plain is not None and plain == wanted and None not in plain


def _is_named(tile: Call, others: list[cst.BaseExpression], file: File) -> bool:
    """Whether the module keeps what is tiled under a name: the op that broadcasts it stands in another statement."""
    if isinstance(file.scope_of(tile.node), (cst.FunctionDef, cst.Lambda)):
        return False
    statement = file.tree.statement(tile.node)
    return not all(file.tree.contains(statement, other) for other in others)


def _drop(tile: Call, source: cst.BaseExpression, safety: Safety, file: File) -> Fix | None:
    """The source in the place of the call; `a = tf.tile(a, n)` goes as a whole."""
    at = outer_span(file, source)
    text = file.source.text[at.start : at.end]
    if "#" in file.text(tile.node).replace(text, ""):
        return None
    assign = file.tree.parent(tile.node)
    bare = isinstance(source, OPERATIONS) and not source.lpar and not isinstance(assign, (cst.Arg, cst.Assign))
    edit = replace_node(file, tile.node, f"({text})" if bare else text)
    if isinstance(assign, cst.Assign) and len(assign.targets) == 1 and file.text(assign.targets[0].target) == text:
        lines = statement_lines(file, file.tree.statement(assign))
        if lines is not None:
            edit = Edit(lines.start, lines.end, "")
    return Fix("let the op broadcast", (edit,), safety)
