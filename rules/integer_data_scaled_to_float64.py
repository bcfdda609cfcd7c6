from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._integer_data_scaled_to_float64 import SCALES, Scaling, is_float32, scalings

from tfmemlint.api import (
    ITEM_BYTES,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    constant,
    fixes,
    on,
    own_nodes,
    show_halved,
    tensors,
    total_bytes,
)

EXACT = frozenset({"uint8", "int8", "uint16", "int16"})
"""Integers whose division by a float32 equals the float64 quotient rounded to float32."""


class IntegerDataScaledToFloat64(Rule):
    """
    ## What it does
    Reports whole integer arrays (bundled Keras data sets, images read with OpenCV or Pillow, arrays made with an
    integer dtype) that are divided by or multiplied with a Python number, or scaled by scikit-learn, into float64, also
    where a list gets their rows, scaled one by one.

    The operations of one statement are one finding. Not reported are one picture of unknown size or below 8 MiB, read
    from a file, up to a thousand rows of a bundled data set below 8 MiB, the smaller part of one (its tests) where the
    same expression makes float32 of what is float64 for a moment, a column of a table of unknown length that has a
    few, and the data of a program that takes nothing but a data set from Keras and computes with it itself.

    ## Why it costs memory
    NumPy gives float64 for an integer array and a Python float, and for any true division of integers. For uint8
    images that is 8 times the data; it is copied again into a float64 tensor, and cast to float32 by the model anyway.

    ## Fix safety
    Safe where 8 or 16 bit integers are divided by a number that float32 holds, and the result goes nowhere but into
    `fit`, `evaluate` and `predict`: they cast to float32 themselves, and each value is exactly what that cast of the
    float64 result gives. Unsafe where the array has other uses, above all sums, means and products in NumPy, which are
    rounded differently in float32; for wider integers, for multiplication, for a scaler of scikit-learn, and where more
    arithmetic follows. Where code compares the result's dtype, there is no fix.

    ## When not to use it
    When later NumPy code needs the digits of float64.

    ## References
    - https://numpy.org/doc/stable/reference/ufuncs.html#type-casting-rules
    """

    code = "TFM203"
    summary = "integer data scaled by a Python number becomes float64, 8 times the size of uint8"
    spared = 0.5  # the same numbers as float32
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on(scalings)
    def check(self, together: list[Scaling], file: File) -> Iterator[Finding]:
        first, *others = together
        dtype, cost = first.data.dtype or "", total_bytes(map(_bytes, together), worth=file.config.least_cost)
        weigh = f"{show_halved(cost)} as float32" if cost is not None else ""
        by = "a Python number" if first.number is not None and first.scale is not None else "NumPy's default"
        by = "scikit-learn" if first.call is not None and "sklearn" in (first.call.name or "") else by
        yield self.finding(
            first.call or file.span(first.node),
            file,
            f"{dtype} data scaled by {by} becomes float64, {8 // ITEM_BYTES[dtype]} times the size{weigh}; "
            "scale in float32",
            fix=_in_float32(file, together),
            related=[(each.call or file.span(each.node), "scaled here, too") for each in others],
            bytes=cost,
        )


def _bytes(scaling: Scaling) -> int | None:
    return scaling.data.size * ITEM_BYTES["float64"] if scaling.data.size is not None else None


def _in_float32(file: File, together: list[Scaling]) -> Fix | None:
    numpy, imports = fixes.ensure_numpy(file, together[0].node)
    function = file.contexts.function(together[0].node)
    if imports and function is not None and any(own_nodes(function, cst.Import, cst.ImportFrom)):
        return None  # it brings its own imports, and may run where the module does not
    if any(tensors.dtype_compared(file, each.node) for each in together):
        return None
    safe = all(_exact(file, each) and tensors.only_cast(file, each.node) for each in together)
    edits = [_edit(file, each, numpy) for each in together]
    return Fix.of(Safety.SAFE if safe else Safety.UNSAFE, "scale in float32", imports, *edits)


def _edit(file: File, scaling: Scaling, numpy: str) -> Edit | None:
    """A float32 number, array or `dtype` argument in the place of what makes it float64."""
    call = scaling.call
    if scaling.data.dtype not in EXACT or (call is not None and call.name in SCALES):
        plain = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)
        operand = scaling.operand
        return fixes.append_method(file, operand, f".astype({numpy}.float32)") if isinstance(operand, plain) else None
    if call is not None:
        return fixes.add_argument(file, call.node, f"dtype={numpy}.float32")
    if scaling.number is None:
        return None
    at = fixes.outer_span(file, scaling.number)
    text = file.source.text[at.start : at.end]
    return Edit(at.start, at.end, f"{numpy}.float32{text}" if text.startswith("(") else f"{numpy}.float32({text})")


def _exact(file: File, scaling: Scaling) -> bool:
    """Whether every value is what a cast of the float64 result to float32 gives."""
    if scaling.data.dtype not in EXACT or not scaling.divides:
        return False
    if isinstance(file.tree.parent(scaling.node), cst.BinaryOperation):
        return False  # more arithmetic follows, and rounds in float32 what was rounded in float64
    number = constant(file.value(scaling.number)) if scaling.number is not None else None
    normalized = scaling.call is not None and scaling.call.name in SCALES
    return not normalized and all(is_float32(n) for n in (scaling.scale, number) if isinstance(n, (int, float)))
