from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, integer, keras, on_call

LIMIT = 1 << 30
"""Bytes of the table with gradients and optimizer slots from which on it is reported."""


class OversizedEmbedding(Rule):
    """
    ## What it does
    Reports `Embedding` layers with literal sizes whose table, gradients and optimizer slots pass 1 GiB.

    ## Why it costs memory
    The table has rows x width weights. Adam keeps two more arrays of that size, and updates all rows even when a batch
    touches a few.

    ## When not to use it
    When the table is meant to be that large and fits.

    ## References
    - https://keras.io/api/layers/core_layers/embedding/
    """

    code = "TFM613"
    summary = "an embedding table with its optimizer state passes 1 GiB"
    no_fix = "it changes the model"
    in_tests = False

    @on_call("tf.keras.layers.Embedding")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        rows, width = integer(call.value_of("input_dim")), integer(call.value_of("output_dim"))
        if rows is None or width is None:
            return
        size, words = keras.trained_bytes(file, call, rows * width)
        if size >= LIMIT:
            yield self.finding(call, file, f"this table has {rows * width:,} parameters: {words}", bytes=size)
