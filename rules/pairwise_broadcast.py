from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Array,
    Call,
    Const,
    Edit,
    File,
    Finding,
    Rule,
    fixes,
    integer,
    knowledge,
    on_call,
    tensors,
    walk,
    written,
)

FEW = 32
"""Rows or columns up to which all pairs are not many more numbers than the operands."""

FEW_FEATURES = 4
"""Features up to which the broadcast operation is not much larger than the distances, which exist anyway: points of
two or three coordinates, boxes."""


class PairwiseBroadcast(Rule):
    """
    ## What it does
    Reports distances and products of all pairs that are computed as a reduction of a broadcast operation:
    `reduce_sum((x[:, None, :] - y[None, :, :]) ** 2, -1)`.

    ## Why it costs memory
    The difference has rows x rows x features numbers before it is reduced, and its square as many: 256 MiB each for
    1024 x 1024 x 64.

    ## When not to use it
    For small sets; sizes known to be small are not reported, nor up to 32 rows on one side: all pairs are not many more
    numbers than the operands then. Nor are sets of which the calls of the function show no size, or rows of up to 4
    numbers, as points and boxes are: the operation takes no more than 4 times the distances. Nor differences that are
    needed besides, as their parts, or the attribute that keeps them, are read or a layer is given them, nor those of
    two placeholders that leave their rows open.

    ## References
    - https://www.tensorflow.org/guide/tensor#broadcasting
    """

    code = "TFM705"
    summary = "a broadcast difference of all pairs is far larger than the distances"
    no_fix = "the last digits differ, and small negative numbers need a maximum with zero"
    in_tests = False

    @on_call(*knowledge.group("reduces"))
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        given, axis = call.arg(0), integer(call.value_of("axis"))
        if given is None or axis not in (-1, 2, 3):
            return
        found = tensors.all_pairs(file, given.expression, axis, squared=_euclidean(call))
        if found is None or _in_parts(file, found.node) or tensors.needed_pairs(file, call, found):
            return
        if tensors.are_fed(file, found):
            return
        value = file.value(found.node)
        size, shape = (value.bytes, value.shape or ()) if isinstance(value, Array) else (None, ())
        if (size is not None and size < file.config.min_bytes) or any(n is not None and n <= FEW for n in shape[-3:-1]):
            return
        rows = tensors.paired_rows(file, found)
        if rows is not None and rows <= FEW:
            return
        if size is None and rows is None and tensors.is_unsized(file, call.node, value):
            return
        features = (shape[-1] if shape else None) or tensors.cut_features(file, found)
        if features is not None and features <= FEW_FEATURES:
            return
        sums = found.product and not (call.method or "").endswith(("max", "min"))
        instead = "a matrix product needs only the result" if sums else "take the rows in parts"
        yield self.finding(
            call,
            file,
            f"all pairs exist in full before they are reduced{{cost}}; {instead}",
            bytes=size,
            contrast=_products(file, call, found),
        )


def _products(file: File, call: Call, found: tensors.Pairs) -> list[Edit] | None:
    """One number for each pair without the pair itself, whatever the number is."""
    sides, spelled = tensors.operands(found), fixes.api_text(file, f"{(call.name or '').partition('.')[0]}.einsum")
    if len(sides) != 2 or spelled is None:
        return None
    left, right = map(file.text, sides)
    reduced = fixes.replace_node(file, call.node, f'{spelled}("...i,...i->...", {left}, {right})')
    if file.tree.contains(call.node, found.node):
        return [reduced]
    return [fixes.replace_node(file, found.node, left), reduced]


def _euclidean(call: Call) -> bool:
    """Whether a norm sums squares; others, such as that of absolute differences, are no matrix product."""
    order = call.arg("ord")
    usual = order is None or order.value in (Const("euclidean"), Const(None), Const(2))
    return (call.method or "").endswith("norm") and usual


def _in_parts(file: File, node: cst.BaseExpression) -> bool:
    """Whether an operand is a slice of rows that a loop moves on."""
    loops = list(file.contexts.loops(node))
    made = [d for name in walk(node, cst.Name) for d in written(file.definitions(name))]
    in_loop = [d.value for d in made if any(file.tree.contains(loop, d.node) for loop in loops)]
    firsts = [value.slice[0].slice for value in in_loop if isinstance(value, cst.Subscript)]
    return any(isinstance(part, cst.Slice) and (part.lower is not None or part.upper is not None) for part in firsts)
