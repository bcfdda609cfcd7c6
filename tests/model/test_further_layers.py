"""Layers that prepare data, attend without heads or convolve along time: what Keras 3.15 gives for them."""

from __future__ import annotations

import pytest
from programs import model_of

from tfmemlint.model.layers.networks import parameters, placed

ONE_INPUT = [
    ("Normalization()", "(8,)", 17, (8,)), ("Normalization(axis=None)", "(8,)", 3, (8,)),
    ("Normalization(mean=0.0, variance=1.0)", "(8,)", 0, (8,)), ("Normalization(axis=(1, 2))", "(5, 8)", 81, (5, 8)),
    ("CategoryEncoding(num_tokens=9)", "(4,)", 0, (9,)),
    ("CategoryEncoding(num_tokens=9, output_mode='one_hot')", "(1,)", 0, (9,)),
    ("ConvLSTM2D(4, 3, padding='same', return_sequences=True)", "(5, 8, 8, 3)", 1024, (5, 8, 8, 4)),
    ("ConvLSTM2D(4, (3, 2), strides=2)", "(5, 9, 9, 3)", 688, (4, 4, 4)),
    ("ConvLSTM1D(4, 3, use_bias=False)", "(5, 8, 3)", 336, (6, 4)), ("RMSNormalization()", "(5, 8)", 8, (5, 8)),
    ("RandomCrop(4, 5)", "(8, 8, 3)", 0, (4, 5, 3)), ("TextVectorization(output_sequence_length=7)", "(1,)", 0, (7,)),
    ("StringLookup()", "(3,)", 0, (3,)),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "given", "count", "shape"), ONE_INPUT)
def test_one_input(layer: str, given: str, count: int, shape: tuple[int, ...]) -> None:
    file = model_of(f"model = keras.Sequential([keras.Input({given}), keras.layers.{layer}])\n")
    (model,) = file.calls("tf.keras.Sequential")
    (step,) = placed(model)
    assert step.effect is not None
    assert (step.effect.parameters, step.effect.shape) == (count, (None, *shape))


@pytest.mark.parametrize(
    "layer",
    ["Normalization(axis=axes)", "CategoryEncoding(output_mode='count')", "ConvLSTM2D(n, 3)",
     "TextVectorization(output_mode='count')", "ConvLSTM2D(4, 3, return_state=True)",
     "StringLookup(output_mode='one_hot')"],
)  # fmt: skip
def test_what_is_not_known_has_no_effect(layer: str) -> None:
    file = model_of(f"model = keras.Sequential([keras.Input((5, 8, 8, None)), keras.layers.{layer}])\n")
    (model,) = file.calls("tf.keras.Sequential")
    assert [step.effect for step in placed(model)] == [None]


TWO_INPUTS = [
    ("Attention()", 0, (5, 8)), ("Attention(use_scale=True)", 1, (5, 8)), ("Attention(score_mode='concat')", 1, (5, 8)),
    ("AdditiveAttention()", 8, (5, 8)), ("AdditiveAttention(use_scale=False)", 0, (5, 8)), ("Dot(axes=2)", 0, (5, 6)),
    ("Dot(axes=(2, 2))", 0, (5, 6)), ("Dot(axes=-1)", 0, (5, 6)), ("Dot(axes=n)", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "count", "shape"), TWO_INPUTS)
def test_two_inputs(layer: str, count: int | None, shape: tuple[int, ...] | None) -> None:
    file = model_of(
        "a, b = keras.Input((5, 8)), keras.Input((6, 8))\n"
        f"model = keras.Model([a, b], keras.layers.{layer}([a, b]))\n"
    )
    (model,) = file.calls("tf.keras.Model")
    outputs = model.value_of("outputs")
    assert parameters(model) == count
    assert getattr(outputs, "shape", None) == (None if shape is None else (None, *shape))
