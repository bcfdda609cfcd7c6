"""What each kind of layer keeps for the backward pass, and its weights.

The numbers are those of traces of TensorFlow 2.21's allocator on a CPU, one step in a graph. Before each layer is
a dense or convolutional one, whose output nobody else needs; behind it one that needs its own input.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from made_steps import Network, chain

from tfmemlint.estimate.engine import estimate
from tfmemlint.estimate.layers.known import KINDS
from tfmemlint.estimate.step import Applied, Graph, Optimizer, Pass, TrainingStep

BATCH = 8


def kept(step: TrainingStep) -> int:
    return sum(layer.kept for layer in estimate(step).layers)


def between_dense(kind: str, width: int = 64, **arguments: Any) -> TrainingStep:
    layers = [("Dense", (64,), {"units": 64}), (kind, (width,), arguments), ("Dense", (2,), {"units": 2})]
    return chain((32,), *layers, batch=BATCH)


N = BATCH * 64 * 4


@pytest.mark.parametrize(
    ("name", "tensors"),
    [
        ("relu", 1), ("sigmoid", 1), ("tanh", 1), ("elu", 1), ("softmax", 1),
        ("leaky_relu", 2), ("softplus", 2), ("silu", 2), ("hard_sigmoid", 2),
        ("log_softmax", 2), ("gelu", 4), ("mish", 4), ("hard_silu", 4), ("linear", 1),
    ],
)  # fmt: skip
def test_activations_keep(name: str, tensors: int) -> None:
    """relu works in place and keeps its output, which the next layer needs anyway; gelu keeps three tensors more."""
    assert kept(between_dense("Activation", activation=name)) == tensors * N
    fused = [("Dense", (64,), {"units": 64, "activation": name}), ("Dense", (2,), {"units": 2})]
    assert kept(chain((32,), *fused, batch=BATCH)) == tensors * N


@pytest.mark.parametrize(
    ("kind", "bytes_kept", "arguments"),
    [
        ("ReLU", N, {}),
        ("LeakyReLU", 2 * N, {}),
        ("Dropout", N + N // 4, {"rate": 0.5}),
        ("Dropout", N, {"rate": 0}),
        ("Dropout", N, {"rate": 0.5, "training": False}),
        ("GaussianNoise", N, {"stddev": 0.1}),
        ("GaussianDropout", 2 * N, {"rate": 0.1}),
        ("AlphaDropout", 2 * N, {"rate": 0.1}),
        ("AlphaDropout", N, {"rate": 0.1, "training": False}),
        ("BatchNormalization", 2 * N, {}),
        ("BatchNormalization", N, {"trainable": False}),
        ("BatchNormalization", N, {"training": False}),
        ("LayerNormalization", 3 * N, {}),
        ("Flatten", N, {}),
        ("Reshape", N, {"target_shape": (64,)}),
        ("Rescaling", N, {"scale": 0.5}),
    ],
)
def test_layers_between_dense_ones_keep(kind: str, bytes_kept: int, arguments: dict[str, Any]) -> None:
    assert kept(between_dense(kind, **arguments)) == bytes_kept


IMAGE = BATCH * 16 * 16 * 4 * 4
"""A convolution's output: 16 x 16 with 4 channels."""


def between_convolutions(kind: str, shape: tuple[int, ...], **arguments: Any) -> TrainingStep:
    first = ("Conv2D", (16, 16, 4), {"filters": 4, "kernel_size": 3, "padding": "same"})
    last = ("Conv2D", (*shape[:2], 1), {"filters": 1, "kernel_size": 1})
    layers = [first, (kind, shape, arguments)] + ([last] if len(shape) == 3 else [("Dense", (2,), {"units": 2})])
    return chain((16, 16, 3), *layers, batch=BATCH)


@pytest.mark.parametrize(
    ("kind", "shape", "bytes_kept", "arguments"),
    [
        ("Conv2D", (16, 16, 8), IMAGE + 2 * IMAGE, {"filters": 8, "kernel_size": 3, "padding": "same"}),
        ("DepthwiseConv2D", (16, 16, 4), 2 * IMAGE, {"kernel_size": 3, "padding": "same"}),
        # x, the depthwise output and its own.
        ("SeparableConv2D", (16, 16, 8), 4 * IMAGE, {"filters": 8, "kernel_size": 3, "padding": "same"}),
        ("Conv2DTranspose", (32, 32, 4), 5 * IMAGE, {"filters": 4, "kernel_size": 2, "strides": 2}),
        # A copy with two zeros on each side, cut into four, instead of x.
        ("Conv2D", (16, 16, 4), IMAGE * 400 // 256 + IMAGE,
         {"filters": 4, "kernel_size": 3, "padding": "same", "dilation_rate": 2}),
        # x, y, and an index of one byte an item.
        ("MaxPooling2D", (8, 8, 4), IMAGE + IMAGE // 4 + IMAGE // 16, {}),
        ("AveragePooling2D", (8, 8, 4), IMAGE // 4, {}),
        ("GlobalAveragePooling2D", (4,), IMAGE // 256, {}),
        ("GlobalMaxPooling2D", (4,), IMAGE + IMAGE // 256, {}),
        ("UpSampling2D", (32, 32, 4), 4 * IMAGE, {"size": 2}),
        ("UpSampling2D", (32, 32, 4), 4 * IMAGE, {"size": 2, "interpolation": "bilinear"}),
        ("ZeroPadding2D", (18, 18, 4), IMAGE * 324 // 256, {}),
        ("Cropping2D", (14, 14, 4), IMAGE * 196 // 256, {}),
        ("Permute", (16, 16, 4), IMAGE, {"dims": (2, 1, 3)}),
        # One mask value for each channel of each image.
        ("Dropout", (16, 16, 4), IMAGE + BATCH, {"rate": 0.5, "noise_shape": (None, 1, 1, 1)}),
        ("Dropout", (16, 16, 4), IMAGE + BATCH * 64, {"rate": 0.5, "noise_shape": (None, 16, 1, None)}),
        ("GroupNormalization", (16, 16, 4), 2 * IMAGE, {"groups": 2}),
        ("GroupNormalization", (16, 16, 4), 2 * IMAGE, {"groups": 2, "training": False}),
        ("SpatialDropout2D", (16, 16, 4), IMAGE + BATCH * 4, {"rate": 0.5}),
    ],
)  # fmt: skip
def test_layers_between_convolutions_keep(
    kind: str, shape: tuple[int, ...], bytes_kept: int, arguments: dict[str, Any]
) -> None:
    assert kept(between_convolutions(kind, shape, **arguments)) == bytes_kept


@pytest.mark.parametrize(
    ("kind", "tensors"),
    [("Add", 1), ("Subtract", 1), ("Average", 1), ("Multiply", 3), ("Maximum", 3), ("Concatenate", 2), ("Dot", 3)],
)
def test_merging_keeps(kind: str, tensors: int) -> None:
    """Sums are in place and keep nothing; a product needs both factors, and what follows needs the product."""
    network = Network()
    given = network.given(32)
    both = [network.add("Dense", given, (64,), units=64) for _ in range(2)]
    merged = network.add(kind, both, (128,) if kind == "Concatenate" else (64,))
    network.add("Dense", merged, (2,), units=2)
    assert kept(network.step(batch=BATCH)) == tensors * N


@pytest.mark.parametrize(("kind", "steps"), [("LSTM", 7), ("GRU", 6), ("SimpleRNN", 1)])
@pytest.mark.parametrize("sequences", [False, True])
def test_recurrent_layers_keep_tensors_of_each_time_step(kind: str, steps: int, sequences: bool) -> None:
    network = Network()
    given = network.given(10, 6)
    arguments = {"units": 16, "return_sequences": sequences}
    after = network.add(kind, given, (10, 16) if sequences else (16,), **arguments)
    network.add("Dense", after, (10, 2) if sequences else (2,), units=2)
    state = BATCH * 16 * 4
    assert kept(network.step(batch=BATCH)) == 10 * steps * state + BATCH * 10 * 6 * 4 + state * (10 if sequences else 1)


def test_zeros_for_the_gradients_of_both_directions_are_there_before_the_loss() -> None:
    """Measured with a GRU of 64 units on 96 steps of 192 numbers, batch 64: 191 zeros of a step at once."""
    network = Network()
    inner = Applied("GRU", "inner", 0, 0, (), (), {"units": 16})
    hidden = network.add("Dense", network.given(20, 6), (20, 32), units=32)
    network.add("Bidirectional", hidden, (32,), inner=inner)
    step = network.step(batch=BATCH)
    found = estimate(step)
    loss = next(moment for moment in found.curve if moment.part == "loss")
    zeros = 2 * (BATCH * 20 * 32 * 4 + 4 * (32 * 48 + 16 * 48))
    waiting = sum(layer.kept for layer in found.layers)
    assert loss.bytes >= waiting + zeros
    forward = estimate(replace(step, passes=(replace(step.passes[0], frozen=frozenset({0, 1})),)))
    assert forward.step < found.step - zeros


@pytest.mark.parametrize(("kind", "states"), [("LSTM", 2), ("GRU", 1), ("SimpleRNN", 1)])
def test_a_stateful_layer_has_variables_for_its_state(kind: str, states: int) -> None:
    def weights(**more: Any) -> int:
        return estimate(chain((7, 3), (kind, (16,), {"units": 16} | more), batch=BATCH)).weights

    assert weights(stateful=True) - weights() == states * BATCH * 16 * 4
    assert weights(stateful=False) == weights()


@pytest.mark.parametrize(("batch", "is_added_early"), [(BATCH, False), (4096, True)])
def test_time_distributed_layers_have_a_gradient_of_the_whole_input_for_each_step(
    batch: int, is_added_early: bool
) -> None:
    """All are alive at once, up to 128 MiB: where more wait, some may be added before all are there."""
    network = Network()
    hidden = network.add("Dense", network.given(20, 6), (20, 32), units=32)
    inner = Applied("Dense", "inner", 0, 0, (), (), {"units": 16})
    network.add("TimeDistributed", hidden, (20, 16), inner=inner)
    found = estimate(network.step(batch=batch))
    whole = batch * 20 * 32 * 4
    assert (20 * whole > 128 << 20) is is_added_early
    waiting = min(20, (128 << 20) // whole + 1) * whole
    assert waiting <= found.step < waiting + 5 * whole
    assert found.high >= 20 * whole
    assert found.peak.layer == "TimeDistributed_1"
    assert [layer.parameters for layer in found.layers] == [6 * 32 + 32, 32 * 16 + 16]


@pytest.mark.parametrize(
    ("arguments", "tensors", "mask"),
    [({}, 6, 0), ({"use_causal_mask": True}, 5, 0), ({"dropout": 0.1}, 6, 1), ({"dropout": 0.0}, 6, 0)],
)
def test_attention_keeps(arguments: dict[str, Any], tensors: int, mask: int) -> None:
    """Queries, keys, values, context and the scores twice; with dropout a mask of a byte for each score."""
    network = Network()
    hidden = network.add("Dense", network.given(16, 4), (16, 16), units=16)
    attended = network.add(
        "MultiHeadAttention", [hidden, hidden], (16, 16), num_heads=4, key_dim=16, value_dim=16, **arguments
    )
    network.add("Dense", attended, (16, 2), units=2)
    projected = BATCH * 16 * 64 * 4
    x = BATCH * 16 * 16 * 4
    heads = BATCH * 4 * 16 * 16 * 4
    expected = 4 * projected + (tensors - 4) * heads + mask * heads // 4 + 2 * x
    assert kept(network.step(batch=BATCH)) == expected


def test_an_embedding_keeps_its_numbers_as_int32() -> None:
    network = Network()
    given = network.given(10, dtype="int64")
    rows = network.add("Embedding", given, (10, 16), input_dim=100, output_dim=16)
    network.add("Dense", rows, (10, 2), units=2)
    assert kept(network.step(batch=BATCH)) == BATCH * 10 * 4 + BATCH * 10 * 16 * 4


@pytest.mark.parametrize(
    ("kind", "given", "shape", "arguments", "parameters"),
    [
        ("Dense", (6,), (5,), {"units": 5}, 35),
        ("Dense", (6,), (5,), {"units": 5, "use_bias": False}, 30),
        ("Conv2D", (8, 8, 3), (8, 8, 4), {"filters": 4, "kernel_size": (3, 3), "padding": "same"}, 112),
        ("Conv2D", (8, 8, 4), (8, 8, 8), {"filters": 8, "kernel_size": 3, "groups": 2}, 152),
        ("Conv1D", (9, 3), (7, 4), {"filters": 4, "kernel_size": 3}, 40),
        ("Conv3D", (4, 4, 4, 2), (2, 2, 2, 3), {"filters": 3, "kernel_size": 3}, 165),
        ("Conv2DTranspose", (4, 4, 3), (8, 8, 5), {"filters": 5, "kernel_size": 2, "strides": 2}, 65),
        ("DepthwiseConv2D", (8, 8, 3), (6, 6, 6), {"kernel_size": 3, "depth_multiplier": 2}, 60),
        ("SeparableConv2D", (8, 8, 3), (6, 6, 4), {"filters": 4, "kernel_size": 3}, 43),
        ("BatchNormalization", (8, 8, 3), (8, 8, 3), {}, 12),
        ("LayerNormalization", (8, 8, 3), (8, 8, 3), {}, 6),
        ("Embedding", (7,), (7, 4), {"input_dim": 10, "output_dim": 4}, 40),
        ("LSTM", (7, 3), (4,), {"units": 4}, 128),
        ("GRU", (7, 3), (4,), {"units": 4}, 108),
        ("GRU", (7, 3), (4,), {"units": 4, "reset_after": False}, 96),
        ("SimpleRNN", (7, 3), (4,), {"units": 4}, 32),
        ("ConvLSTM2D", (5, 8, 8, 3), (6, 6, 4), {"filters": 4, "kernel_size": 3}, 1024),
        ("MultiHeadAttention", (7, 8), (7, 8), {"num_heads": 2, "key_dim": 4}, 288),
        ("PReLU", (4, 4, 3), (4, 4, 3), {"shared_axes": (1, 2)}, 3),
        ("Normalization", (5,), (5,), {}, 10),
    ],
)
def test_parameters(
    kind: str, given: tuple[int, ...], shape: tuple[int, ...], arguments: dict[str, Any], parameters: int
) -> None:
    """As Keras' `count_params` has them."""
    found = estimate(chain(given, (kind, shape, arguments)))
    assert not found.bounded
    assert found.layers[0].parameters == parameters
    assert found.weights == 4 * parameters


def test_bidirectional_layers_have_the_weights_twice() -> None:
    network = Network()
    inner = Applied("LSTM", "inner", 0, 0, (), (), {"units": 4})
    network.add("Bidirectional", network.given(7, 3), (8,), inner=inner)
    assert estimate(network.step()).layers[0].parameters == 2 * 128


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_kinds_are_named_as_in_keras(kind: str) -> None:
    assert kind.isidentifier()


def test_an_unknown_kind_takes_nothing_and_bounds_the_answer() -> None:
    known = estimate(between_dense("Activation", activation="relu"))
    unknown = estimate(between_dense("MyLayer"))
    assert not known.bounded
    assert unknown.bounded
    assert [each.what for each in unknown.missing] == ["what it does of MyLayer 'MyLayer_1'"]
    assert unknown.missing[0].line == 2
    assert 0 < unknown.low < known.low


def test_an_unknown_activation_bounds_the_answer() -> None:
    found = estimate(between_dense("Activation", activation="squareplus"))
    assert [each.what for each in found.missing] == ["the activation squareplus of Activation 'Activation_1'"]


def test_a_number_that_is_not_known_bounds_the_answer() -> None:
    found = estimate(chain((32,), ("Dense", (64,), {}), ("Dense", (2,), {"units": 2})))
    assert found.bounded
    assert found.missing[0].what == "the units of Dense 'Dense_0'"


@pytest.mark.parametrize(
    ("kind", "tensors"),
    [("square", 2), ("exp", 1), ("sqrt", 1), ("log", 2), ("negative", 1), ("clip_by_value", 2), ("expand_dims", 1),
     ("l2_normalize", 2)],
)  # fmt: skip
def test_plain_operations_between_dense_layers_keep(kind: str, tensors: int) -> None:
    assert kept(between_dense(kind)) == tensors * N


def test_no_gradient_goes_through_what_stops_it() -> None:
    parts = [each.part for each in estimate(between_dense("stop_gradient")).curve]
    assert parts.count("backward") < [each.part for each in estimate(between_dense("negative")).curve].count("backward")


def test_a_tensor_that_nothing_makes_is_there_from_the_start() -> None:
    network = Network()
    lone = network.given(8)
    network.inputs.clear()
    network.add("Dense", lone, (4,), units=4)
    step = network.step()
    assert estimate(step).step > 0
    assert not estimate(step).missing


def test_a_pass_may_give_back_what_it_is_given() -> None:
    network = Network()
    lone = network.given(8)
    one = Pass(Graph(network.tensors, (), (), (lone,)), optimizer=Optimizer("SGD"))
    assert estimate(TrainingStep(1, "fit", "a model", (one,), batch=4)).step > 0


def test_a_layer_without_inputs_bounds_the_answer() -> None:
    network = Network()
    network.add("Dense", (), (4,), units=4)
    assert [each.what for each in estimate(network.step()).missing] == ["its input of Dense 'Dense_0'"]


def test_arguments_that_do_not_fit_bound_the_answer() -> None:
    found = estimate(chain((8, 8), ("Conv2D", (8, 4), {"filters": 4, "kernel_size": 3, "dilation_rate": 2})))
    assert found.bounded
