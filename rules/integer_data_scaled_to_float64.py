from __future__ import annotations

import struct
from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, File, Finding, Fix, Rule, Safety, constant, on_file, show_bytes
from tfmemlint.fix.edits import ensure_numpy, outer_span
from tfmemlint.finding import Edit

SCALES = (cst.Divide, cst.Multiply)
EXACT = frozenset({"uint8", "int8", "uint16", "int16"})
"""Integers whose division by a float32 equals the float64 quotient rounded to float32."""

FACTOR = {"uint8": 8, "int8": 8, "uint16": 4, "int16": 4, "int32": 2, "uint32": 2}


class IntegerDataScaledToFloat64(Rule):
    """
    ## What it does
    Reports whole integer arrays (bundled Keras data sets, images read with OpenCV or Pillow, arrays made with an
    integer dtype) that are divided by or multiplied with a Python number into float64.

    ## Why it costs memory
    NumPy gives float64 for an integer array and a Python float, and for any true division of integers. For uint8
    images that is 8 times the data; it is copied again into a float64 tensor, and cast to float32 by the model anyway.

    ## Example
    ```python
    (x_train, y_train), _ = tf.keras.datasets.cifar10.load_data()
    x_train = x_train / 255.0
    ```
    Divide by a float32 number:
    ```python
    x_train = x_train / np.float32(255.0)
    ```

    ## Fix safety
    Safe for division of 8 and 16 bit integers: each value is exactly what a cast of the float64 result to float32
    gives. Unsafe for wider integers and for multiplication, where the last bit may differ.

    ## When not to use it
    When later NumPy code needs the digits of float64.

    ## References
    - https://numpy.org/doc/stable/reference/ufuncs.html#type-casting-rules
    """

    code = "TFM203"
    summary = "integer data scaled by a Python number becomes float64, 8 times the size of uint8"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on_file("load_data", "uint8", "int8", "uint16", "int16", "imread", "Image")
    def check(self, file: File) -> Iterator[Finding]:
        for node in file.tree.of(cst.BinaryOperation):
            if not isinstance(node.operator, SCALES):
                continue
            left, right = file.value(node.left), None
            if isinstance(left, Array):
                right = file.value(node.right)
                number, data = node.right, left
            elif isinstance(node.operator, cst.Multiply):
                right, data_value = left, file.value(node.right)
                if not isinstance(data_value, Array):
                    continue
                number, data = node.left, data_value
            else:
                continue
            scale = constant(right)
            if not isinstance(scale, (int, float)) or not self._whole_integers(data, file, node):
                continue
            if isinstance(node.operator, cst.Multiply) and not isinstance(scale, float):
                continue
            yield self._report(node, number, data, float(scale), file)

    def _whole_integers(self, data: Array, file: File, node: cst.BinaryOperation) -> bool:
        """Whether the array is integer data kept as a whole, not one item inside a generator, loop or mapped function."""
        if data.library != "np" or data.dtype not in FACTOR or data.origin is None:
            return False
        return not file.contexts.traced(node) and not file.contexts.per_item(node)

    def _report(self, node: cst.BinaryOperation, number: cst.BaseExpression, data: Array, scale: float, file: File) -> Finding:
        dtype = data.dtype or ""
        size = data.size
        cost = size * 8 if size is not None else None
        weigh = f": {show_bytes(cost)} instead of {show_bytes(cost // 2)} as float32" if cost is not None else ""
        exact = dtype in EXACT and isinstance(node.operator, cst.Divide) and _is_float32(scale)
        numpy, imports = ensure_numpy(file)
        at = outer_span(file, number)
        written = file.source.text[at.start : at.end]
        text = f"{numpy}.float32{written}" if written.startswith("(") else f"{numpy}.float32({written})"
        edits = (*imports, Edit(at.start, at.end, text))
        return self.finding(
            file.span(node),
            file,
            f"{dtype} data scaled by a Python number becomes float64, {FACTOR[dtype]} times the size{weigh}; "
            "scale by a float32 number",
            fix=Fix("scale in float32", edits, Safety.SAFE if exact else Safety.UNSAFE),
            bytes=cost,
        )


def _is_float32(number: float) -> bool:
    """Whether float32 holds the number exactly."""
    try:
        return bool(struct.unpack("f", struct.pack("f", number))[0] == number)
    except OverflowError:
        return False
