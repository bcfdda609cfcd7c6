from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, File, Finding, Fix, Rule, Safety, fixes, knowledge, on_call, tensors

TILES = knowledge.group("tiles") | knowledge.group("repeats_rows")
BROADCASTS = knowledge.group("broadcasts_to")


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

    @on_call(*TILES, *BROADCASTS)
    def check(self, tile: Call, file: File) -> Iterator[Finding]:
        source, copied = tile.arg(0), tensors.copied_axes(file, tile)
        if source is None or copied is None:
            return
        axes, rank = copied
        if tile.name not in BROADCASTS and not all(
            tensors.size_one(file, source.expression, axis, rank) for axis in axes
        ):
            return
        others = tensors.partners(file, tile.node)
        if not others or not all(_brings(file, other, tile, axes, rank) for other in others):
            return
        safe = all(_same_result(file, tile, other) for other in others) and not _is_named(file, tile, others)
        edit = fixes.unwrap_call(file, tile.node, source.expression)
        yield self.finding(
            tile,
            file,
            f"{tile.method}() makes a full copy{{cost}} of what the element-wise op would broadcast for nothing",
            fix=(Fix.safe if safe else Fix.unsafe)("let the op broadcast", edit),
            bytes=tile.value.bytes if isinstance(tile.value, Array) else None,
        )


def _brings(file: File, other: cst.BaseExpression, tile: Call, axes: list[int], rank: int | None) -> bool:
    """Whether the other operand may have the tiled axes in full: not where it is seen to have size 1 there."""
    if any(tensors.size_one(file, _untiled(file, other), axis, rank) for axis in axes):
        return False
    partner = file.value(other)
    plain, wanted = tensors.result_shape(tile.value_of(0), partner), tensors.result_shape(tile.value, partner)
    return plain is None or wanted is None or plain == wanted or None in (*plain, *wanted)


def _same_result(file: File, tile: Call, other: cst.BaseExpression) -> bool:
    """Whether all shapes are known, and the result has the same one without tiling."""
    plain = tensors.result_shape(tile.value_of(0), file.value(other))
    return (
        plain is not None
        and plain == tensors.result_shape(tile.value, file.value(other))
        and None not in plain
        and _untiled(file, other) is other
    )


def _untiled(file: File, node: cst.BaseExpression) -> cst.BaseExpression:
    """What an operand is when its own tiling is taken off, too."""
    found = file.written(node)
    inner = file.call(found).arg(0) if isinstance(found, cst.Call) and file.call(found).name in TILES else None
    return inner.expression if inner is not None else node


def _is_named(file: File, tile: Call, others: list[cst.BaseExpression]) -> bool:
    """Whether the module keeps what is tiled under a name: the op that broadcasts it stands in another statement."""
    statement = file.tree.statement(tile.node)
    together = all(file.tree.contains(statement, other) for other in others)
    return file.contexts.function(tile.node) is None and not together
