from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, File, Finding, Fix, Rule, Safety, fixes, flow, knowledge, on_call, tensors

TILES = knowledge.group("tiles") | knowledge.group("repeats_rows")
BROADCASTS = knowledge.group("broadcasts_to")

MEANT = re.compile(r"#.*\bbroadcast", re.IGNORECASE)
"""A comment beside the call that says why the op is not left to broadcast."""


class TileThenBroadcast(Rule):
    """
    ## What it does
    Reports `tf.tile`, `tf.repeat` and `tf.broadcast_to` along axes of size 1 whose result is only an operand of
    element-wise ops, where the other operand has the tiled sizes anyway: its shape is known, or the sizes are read off
    it. Of several that meet in one op, the first.

    ## Why it costs memory
    Element-wise ops broadcast an axis of size 1 without copying it. The tiled tensor is a full copy of the result's
    size beside the result.

    ## Fix safety
    Safe where both shapes are known; unsafe otherwise, as the other operand may have fewer axes than it seems,
    and where a name of the module then stands for the smaller tensor.

    ## When not to use it
    Before ops that need equal shapes, which are not reported: `tf.where` of TensorFlow 1 is one of them. Nor are
    tensors of which neither the function nor its calls show a size: masks of a batch, boxes. A comment
    at the call that speaks of broadcasting is taken as the reason for the copy.

    ## References
    - https://www.tensorflow.org/guide/tensor#broadcasting
    """

    code = "TFM703"
    summary = "tiling before an element-wise op copies what broadcasting would not"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on_call(*TILES, *BROADCASTS)
    def check(self, tile: Call, file: File) -> Iterator[Finding]:
        others = None if tensors.is_unsized(file, tile.node, tile.value) else _partners(file, tile)
        met = (_tiled(file, other) for other in others or ())
        beside = {call.node: call for call in met if call is not None and _partners(file, call)}
        together = sorted({**beside, tile.node: tile}.values(), key=lambda call: file.tree.order(call.node))
        if not others or together[0] is not tile:
            return
        safe = all(_same_result(file, tile, other) for other in others) and not _is_named(file, tile, others)
        edits = [fixes.unwrap_named(file, call.node, call.node.args[0].value) for call in together]
        yield self.finding(
            tile,
            file,
            f"{tile.method}() makes a full copy{{cost}} of what the element-wise op would broadcast for nothing",
            fix=(Fix.safe if safe else Fix.unsafe)("let the op broadcast", *edits),
            bytes=tile.value.bytes if isinstance(tile.value, Array) else None,
            related=[(call, "copied likewise") for call in together[1:]],
        )


def _partners(file: File, tile: Call) -> list[cst.BaseExpression] | None:
    """What a tiled tensor meets in element-wise ops; None where one of them may not have the tiled sizes itself, or the
    tensor goes anywhere else."""
    found = tensors.tiling(file, tile)
    if found is None or MEANT.search(flow.comments_at(file, tile)):
        return None
    others = tensors.partners(file, tile.node)
    same = others and all(tensors.brings(file, other, found) and _fits(file, tile, other) for other in others)
    return others if same else None


def _tiled(file: File, node: cst.BaseExpression) -> Call | None:
    """The call that tiles an operand, if one does."""
    made = file.written(node)
    call = file.call(made) if isinstance(made, cst.Call) else None
    return call if call is not None and (call.name in TILES or call.name in BROADCASTS) else None


def _fits(file: File, tile: Call, other: cst.BaseExpression) -> bool:
    """Whether nothing that is known of the shapes says that the result would have another one without tiling."""
    call = _tiled(file, other)
    partner = call.value_of(0) if call is not None else file.value(other)
    plain = tensors.result_shape(tile.value_of(0), partner)
    wanted = tensors.result_shape(tile.value, file.value(other))
    return plain is None or wanted is None or plain == wanted or None in (*plain, *wanted)


def _same_result(file: File, tile: Call, other: cst.BaseExpression) -> bool:
    """Whether all shapes are known, and the result has the same one without tiling."""
    plain = tensors.result_shape(tile.value_of(0), file.value(other))
    wanted = tensors.result_shape(tile.value, file.value(other))
    return plain is not None and plain == wanted and None not in plain and _tiled(file, other) is None


def _is_named(file: File, tile: Call, others: list[cst.BaseExpression]) -> bool:
    """Whether the module keeps what is tiled under a name: the op that broadcasts it stands in another statement."""
    statement = file.tree.statement(tile.node)
    together = all(file.tree.contains(statement, other) for other in others)
    return file.contexts.function(tile.node) is None and not together
