from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, File, Finding, Instance, Rule, nodes, on, on_call, trained_bytes
from tfmemlint.model.layers.arguments import Effect
from tfmemlint.model.layers.effects import effect
from tfmemlint.model.layers.networks import placed

LIMIT = 512 * 1024 * 1024
"""Bytes of weights, gradients and optimizer slots of one layer from which on it is reported."""

DENSE = "tf.keras.layers.Dense"


class OversizedDense(Rule):
    """
    ## What it does
    Reports `Dense` layers on a large flat input (a flattened feature map, say) whose weights, gradients and optimizer
    slots together pass 512 MiB.

    ## Why it costs memory
    A dense layer has inputs x units weights. Training holds them, their gradients and, with Adam, two more arrays of
    the same size. Flattening a 128 x 128 x 64 map into 256 units takes 268 million weights, 4 GiB in training.

    ## When not to use it
    When the layer is meant to be that large.

    ## References
    - https://keras.io/api/layers/pooling_layers/global_average_pooling2d/
    """

    code = "TFM604"
    summary = "a dense layer on a flattened map has more weights than the rest of the model"
    no_fix = "it changes the model"
    in_tests = False

    @on(nodes(cst.Call), DENSE)
    def called(self, node: cst.Call, file: File) -> Iterator[Finding]:
        call = file.call(node)
        layer = call.target if node.args else None
        if isinstance(layer, Instance) and layer.type_name == DENSE:
            given = call.value_of(0)
            yield from self._layer(layer, effect(layer, given.shape if isinstance(given, Array) else None), file)

    @on_call("tf.keras.Sequential")
    def stacked(self, model: Call, file: File) -> Iterator[Finding]:
        for step in placed(model):  # a loop may place one again, smaller or larger: the first that is too large counts
            if isinstance(step.layer, Instance) and step.layer.type_name == DENSE:
                yield from self._layer(step.layer, step.effect, file)

    def _layer(self, layer: Instance, done: Effect | None, file: File) -> Iterator[Finding]:
        if done is None or done.parameters is None or layer.call is None:
            return
        size, words = trained_bytes(file, layer.call, done.parameters)
        if size >= LIMIT:
            what = f"this layer has {done.parameters:,} parameters: {words}; pool or reduce the input first"
            yield self.finding(layer.call, file, what, bytes=size)
