from __future__ import annotations

import struct
from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._cast_inputs import only_cast
from tfmemlint_rules._scaling import Scaling, scalings

from tfmemlint.api import (
    ITEM_BYTES,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    append_method,
    constant,
    ensure_numpy,
    on_file,
    outer_span,
    own_nodes,
    show_bytes,
)

EXACT = frozenset({"uint8", "int8", "uint16", "int16"})
"""Integers whose division by a float32 equals the float64 quotient rounded to float32."""


class IntegerDataScaledToFloat64(Rule):
    """
    ## What it does
    Reports whole integer arrays (bundled Keras data sets, images read with OpenCV or Pillow, arrays made with an
    integer dtype) that are divided by or multiplied with a Python number into float64.

    ## Why it costs memory
    NumPy gives float64 for an integer array and a Python float, and for any true division of integers. For uint8
    images that is 8 times the data; it is copied again into a float64 tensor, and cast to float32 by the model anyway.

    ## Fix safety
    Safe where 8 or 16 bit integers are divided by a number that float32 holds, and the result goes nowhere but into
    `fit`, `evaluate` and `predict`: they cast to float32 themselves, and each value is exactly what that cast of the
    float64 result gives. Unsafe where the array has other uses, for wider integers, for multiplication and where more
    arithmetic follows.

    ## When not to use it
    When later NumPy code needs the digits of float64.

    ## References
    - https://numpy.org/doc/stable/reference/ufuncs.html#type-casting-rules
    """

    code = "TFM203"
    summary = "integer data scaled by a Python number becomes float64, 8 times the size of uint8"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on_file("load_data", "uint8", "int8", "uint16", "int16", "uint32", "int32", "imread", "Image", "load_img")
    def check(self, file: File) -> Iterator[Finding]:
        for scaling in scalings(file):
            yield self._report(scaling, file)

    def _report(self, scaling: Scaling, file: File) -> Finding:
        dtype = scaling.data.dtype or ""
        size = scaling.data.size
        cost = size * 8 if size is not None else None
        weigh = f": {show_bytes(cost)} instead of {show_bytes(cost // 2)} as float32" if cost is not None else ""
        by = "a Python number" if scaling.number is not None and scaling.scale is not None else "NumPy's default"
        return self.finding(
            scaling.call or file.span(scaling.node),
            file,
            f"{dtype} data scaled by {by} becomes float64, {8 // ITEM_BYTES[dtype]} times the size{weigh}; "
            "scale in float32",
            fix=self._in_float32(scaling, file),
            bytes=cost,
        )

    def _in_float32(self, scaling: Scaling, file: File) -> Fix | None:
        numpy, imports = ensure_numpy(file)
        function = file.contexts.function(scaling.node)
        if imports and function is not None and any(own_nodes(function, cst.Import, cst.ImportFrom)):
            return None  # it brings its own imports, and may run where the module does not
        if scaling.data.dtype not in EXACT:
            if not isinstance(scaling.operand, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
                return None
            edit = append_method(file, scaling.operand, f".astype({numpy}.float32)")
        elif scaling.number is not None:
            at = outer_span(file, scaling.number)
            written = file.source.text[at.start : at.end]
            text = f"{numpy}.float32{written}" if written.startswith("(") else f"{numpy}.float32({written})"
            edit = Edit(at.start, at.end, text)
        else:
            assert scaling.call is not None
            first = scaling.call.node.args[0].value
            if scaling.call.name == "tf.keras.utils.normalize":
                edit = append_method(file, first, f".astype({numpy}.float32)")
            else:
                end = outer_span(file, scaling.call.node.args[-1].value).end
                edit = Edit(end, end, f", dtype={numpy}.float32")
        safe = self._exact(scaling, file) and only_cast(scaling.node, file)
        return Fix("scale in float32", (*imports, edit), Safety.SAFE if safe else Safety.UNSAFE)

    def _exact(self, scaling: Scaling, file: File) -> bool:
        """Whether every value is what a cast of the float64 result to float32 gives."""
        if scaling.data.dtype not in EXACT or scaling.operator != "Divide":
            return False
        if isinstance(file.tree.parent(scaling.node), cst.BinaryOperation):
            return False  # more arithmetic follows, and rounds in float32 what was rounded in float64
        if scaling.call is not None and scaling.call.name == "tf.keras.utils.normalize":
            return False
        number = constant(file.value(scaling.number)) if scaling.number is not None else None
        return all(_is_float32(n) for n in (scaling.scale, number) if isinstance(n, (int, float)))


def _is_float32(number: float) -> bool:
    """Whether float32 holds the number exactly."""
    try:
        return bool(struct.unpack("f", struct.pack("f", number))[0] == number)
    except OverflowError:
        return False
