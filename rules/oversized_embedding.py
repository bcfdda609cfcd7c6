from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._models import copies_of_parameters

from tfmemlint.api import Call, File, Finding, Rule, integer, on_call, show_bytes

LIMIT = 1 << 30
"""Bytes of the table with gradients and optimizer slots from which on it is reported."""


class OversizedEmbedding(Rule):
    """
    ## What it does
    Reports `Embedding` layers with literal sizes whose table, gradients and optimizer slots pass 1 GiB.

    ## Why it costs memory
    The table has rows x width weights. Adam keeps two more arrays of that size, and updates all rows even when a batch
    touches a few.

    ## Example
    ```python
    embed = layers.Embedding(10_000_000, 128)
    ```
    Hash the ids into fewer rows:
    ```python
    embed = layers.Embedding(200_000, 128)
    ```

    ## Fix safety
    No fix: it changes the model.

    ## When not to use it
    When the table is meant to be that large and fits.

    ## References
    - https://keras.io/api/layers/core_layers/embedding/
    """

    code = "TFM613"
    summary = "an embedding table with its optimizer state passes 1 GiB"

    @on_call("tf.keras.layers.Embedding")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        rows, width = integer(call.value_of("input_dim")), integer(call.value_of("output_dim"))
        if rows is None or width is None:
            return
        copies, optimizer = copies_of_parameters(file)
        parameters = rows * width
        size = parameters * 4 * copies
        if size < LIMIT:
            return
        trained = f" with {optimizer}" if optimizer else " with an optimizer like Adam"
        yield self.finding(
            call,
            file,
            f"this table has {parameters:,} parameters: {show_bytes(parameters * 4)} of weights, {show_bytes(size)} in training{trained}",
            bytes=size,
        )
