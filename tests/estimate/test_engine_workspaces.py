"""What kernels of a card work in, which the upper bound of an estimate holds."""

from __future__ import annotations

from dataclasses import replace

from made_steps import Network

from tfmemlint.estimate.engine import estimate
from tfmemlint.estimate.step import Applied
from tfmemlint.estimate.workspaces import workspace

BATCH, STEPS, UNITS = 16, 20, 32
SEQUENCE = BATCH * STEPS * UNITS * 4


def of(network: Network, *, backward: bool = True) -> int:
    return workspace(replace(network.step(batch=BATCH).passes[0], backward=backward), BATCH)


def recurrent(kind: str) -> Network:
    network = Network()
    network.add(kind, network.given(STEPS, 6), (UNITS,), units=UNITS)
    return network


def test_the_gradient_of_a_recurrent_layer_works_in_many_times_its_output_over_all_steps() -> None:
    assert of(recurrent("LSTM")) == of(recurrent("GRU")) == 17 * SEQUENCE
    assert of(recurrent("SimpleRNN")) == 0  # which is no kernel of cuDNN


def test_both_ways_it_is_twice_that() -> None:
    network = Network()
    inner = Applied("LSTM", "inner", 0, 0, (), (), {"units": UNITS})
    network.add("Bidirectional", network.given(STEPS, 6), (2 * UNITS,), inner=inner)
    assert of(network) == 2 * 17 * SEQUENCE


def test_no_gradients_need_none() -> None:
    assert of(recurrent("LSTM"), backward=False) == 0


def test_a_transposed_convolution_works_in_copies_of_its_output() -> None:
    network = Network()
    network.add("Conv2DTranspose", network.given(8, 8, 4), (16, 16, 3), filters=3, kernel_size=3, strides=2)
    assert of(network) == 4 * BATCH * 16 * 16 * 3 * 4


def test_the_upper_bound_alone_holds_it() -> None:
    step = recurrent("LSTM").step(batch=BATCH)
    with_it, without = estimate(step), estimate(replace(step, passes=(replace(step.passes[0], backward=False),)))
    assert with_it.high - with_it.low > 17 * SEQUENCE > without.high - without.low
