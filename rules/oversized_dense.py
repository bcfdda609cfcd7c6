from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import File, Finding, Rule, Shows, integer, keras, on

LIMIT = 512 * 1024 * 1024
"""Bytes of weights, gradients and optimizer slots of one layer from which on it is reported."""

SMALLER_INPUT = "pool or reduce the input first"
SMALLER_OUTPUT = "most of them are for its own output: make that smaller"

PUBLISHED = frozenset({37_752_832, 102_764_544})
"""Parameters of the first dense layers of AlexNet (6 x 6 x 256 values into 4096 units) and VGG (7 x 7 x 512)."""


class OversizedDense(Rule):
    """
    ## What it does
    Reports `Dense` layers on a large flat input (a flattened feature map, say) whose weights, gradients and optimizer
    slots together pass 512 MiB. Of a model that the program is seen only to look at or to ask for results, the weights
    alone count.

    ## Why it costs memory
    A dense layer has inputs x units weights. Training holds them, their gradients and, with Adam, two more arrays of
    the same size. Flattening a 128 x 128 x 64 map into 256 units takes 268 million weights, 4 GiB in training.

    ## When not to use it
    When the layer is meant to be that large. Not reported are the first dense layers of AlexNet and VGG as they were
    published, and layers of a model that is given weights from a file before anything trains it: these fit no other
    size.

    ## References
    - https://keras.io/api/layers/pooling_layers/global_average_pooling2d/
    """

    code = "TFM604"
    summary = "a dense layer on a flattened map has more weights than the rest of the model"
    no_fix = "it changes the model"
    in_tests = False

    @on(keras.layers_applied("tf.keras.layers.Dense"))
    def check(self, layer: keras.Applied, file: File) -> Iterator[Finding]:
        if layer.parameters is None:
            return
        size, words = keras.trained_bytes(file, layer.made, layer.parameters)
        if size >= LIMIT and layer.parameters not in PUBLISHED and not keras.takes_given_weights(file, layer.made):
            units = integer(layer.made.value_of("units")) or 0
            advice = SMALLER_INPUT if units * units < layer.parameters else SMALLER_OUTPUT
            what = f"this layer has {layer.parameters:,} parameters: {words}; {advice}"
            shows = Shows(metric="parameters", count=layer.parameters)
            yield self.finding(layer.made, file, what, bytes=size, shows=shows)
