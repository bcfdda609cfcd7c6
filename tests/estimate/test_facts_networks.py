"""The table of the networks of `keras.applications` is what an installed Keras has."""

from __future__ import annotations

import pytest

from tfmemlint import knowledge
from tfmemlint.dev.probe import run


def test_a_network_that_was_not_probed_is_not_known() -> None:
    assert knowledge.network("tf.keras.applications.ConvNeXtTiny") is None
    assert knowledge.network("kinds") is None


def test_layers_without_the_top_are_a_beginning_of_those_with_it() -> None:
    network = knowledge.network("tf.keras.applications.VGG16")
    assert network is not None
    assert (network.side, network.body, len(network.layers)) == (224, 18, 22)
    assert network.layers[network.body].kind == "Flatten"
    assert network.layers[0].inputs == (0,)


@pytest.mark.tensorflow
def test_networks_are_as_probed() -> None:
    name = "MobileNetV3Small"
    found = run.probe("networks", name)["networks"]
    kinds, arguments, made = found["kinds"], found["arguments"], found[f"tf.keras.applications.{name}"]
    rows = [
        (kinds[kind], called, arguments[given], tuple(place - each for each in back or [1]))
        for place, (kind, called, given, *back) in enumerate(made["layers"], 1)
    ]
    network = knowledge.network(f"tf.keras.applications.{name}")
    assert network is not None
    assert network.body == made["body"]
    assert [(row.kind, row.name, row.arguments, row.inputs) for row in network.layers] == rows
