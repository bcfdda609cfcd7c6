"""What a loss takes: measured with 16 channels of images, where it is the peak."""

from __future__ import annotations

import pytest
from made_steps import Network

from tfmemlint.estimate.engine import estimate
from tfmemlint.estimate.step import Loss

N = 32 * 96 * 96 * 16 * 4


def images(loss: Loss, activation: str | None) -> int:
    """Bytes of a step of two convolutions."""
    made = Network()
    same = {"kernel_size": 3, "padding": "same"}
    x = made.add("Conv2D", made.given(96, 96, 3), (96, 96, 8), filters=8, activation="relu", **same)
    made.add("Conv2D", x, (96, 96, 16), filters=16, activation=activation, **same)
    return estimate(made.step(losses=(loss,), batch=32)).step


def test_a_squared_difference() -> None:
    """84 934 656 bytes in the allocator's trace: the output, the difference, the mean's gradient, their product, and
    half as much that the first convolution keeps."""
    assert images(Loss("mse"), "sigmoid") == 4 * N + N // 2 == 84_934_656


@pytest.mark.parametrize(
    ("loss", "activation"), [(Loss("binary_crossentropy", True), None), (Loss("huber"), "sigmoid")]
)
def test_losses_with_a_choice_for_each_item(loss: Loss, activation: str | None) -> None:
    """127 401 984 bytes in the trace of either: six tensors and a mask of a byte an item."""
    assert images(loss, activation) == 6 * N + N // 4 + N // 2 == 127_401_984


def test_a_crossentropy_of_classes() -> None:
    """37 753 344 bytes in the trace: the loss is in place on what goes into the softmax, and the peak comes later."""
    assert images(Loss("categorical_crossentropy"), "softmax") == pytest.approx(2 * N, rel=0.001)


@pytest.mark.parametrize(
    ("kind", "activation"),
    [
        ("categorical_crossentropy", "softmax"),
        ("sparse_categorical_crossentropy", "softmax"),
        ("binary_crossentropy", "sigmoid"),
    ],
)
def test_a_crossentropy_takes_what_goes_into_the_activation(kind: str, activation: str) -> None:
    assert images(Loss(kind), activation) == images(Loss(kind, True), None)


def test_a_crossentropy_of_another_activation_takes_probabilities() -> None:
    assert images(Loss("categorical_crossentropy"), "relu") > images(Loss("categorical_crossentropy"), "softmax")


def test_the_loss_is_a_part_of_its_own() -> None:
    made = Network()
    made.add("Dense", made.given(8), (4,), units=4)
    found = estimate(made.step(losses=(Loss("mse"),)))
    assert {moment.layer for moment in found.curve if moment.part == "loss"} == {"loss"}


def test_each_output_has_its_loss_or_all_the_only_one() -> None:
    made = Network()
    x = made.add("Dense", made.given(8), (64,), units=64)
    made.add("Dense", x, (4,), units=4)
    one = made.step(losses=(Loss("mse"),))
    assert not estimate(one).bounded
