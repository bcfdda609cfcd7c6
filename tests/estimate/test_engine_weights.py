"""Weights, slots and updates: what an optimizer takes, and whose weights it changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from made_steps import Network, chain, perceptron

from tfmemlint.estimate.engine import estimate
from tfmemlint.estimate.precision import under
from tfmemlint.estimate.step import Applied, Graph, Loss, Optimizer, Pass, TrainingStep

WIDTHS = (512, 512, 512)


def weights_alone(optimizer: Optimizer | str | None = "SGD", **more: Any) -> TrainingStep:
    """A model whose weights outweigh its activations."""
    return perceptron(*WIDTHS, given=512, optimizer=optimizer, batch=1, **more)


ALL = 4 * 3 * (512 * 512 + 512)
ONE = 4 * 512 * 512


@pytest.mark.parametrize(
    ("kind", "arguments", "slots"),
    [
        ("SGD", {}, 0),
        ("SGD", {"momentum": 0.9}, 1),
        ("SGD", {"momentum": 0.0}, 0),
        ("Adam", {}, 2),
        ("Adam", {"amsgrad": True}, 3),
        ("Adam", {"use_ema": True}, 3),
        ("Adam", {"gradient_accumulation_steps": 4}, 3),
        ("AdamW", {}, 2),
        ("RMSprop", {}, 1),
        ("RMSprop", {"momentum": 0.9, "centered": True}, 3),
        ("Lion", {}, 1),
        ("Adagrad", {}, 1),
    ],
)
def test_slots(kind: str, arguments: dict[str, Any], slots: int) -> None:
    found = estimate(weights_alone(Optimizer(kind, arguments)))
    assert found.weights == ALL
    assert found.slots == slots * ALL


def test_an_unknown_optimizer_bounds_the_answer() -> None:
    for optimizer in (None, "Sophia"):
        found = estimate(weights_alone(optimizer))
        assert found.bounded
        assert (found.missing[0].what, found.missing[0].option) == ("the optimizer", "--optimizer")
        assert (found.weights, found.slots) == (ALL, 0)


def step_of(kind: str, **arguments: Any) -> int:
    return estimate(weights_alone(Optimizer(kind, arguments))).step


def test_an_update_takes_arrays_of_the_weight() -> None:
    """The gradient and its square in Adam; one copy of all decayed weights besides in AdamW, of momentum * m in SGD."""
    small = 20_000
    assert ONE <= step_of("SGD") <= 2 * ONE + small
    assert 2 * ONE <= step_of("Adam") <= 2 * ONE + small
    assert 2 * ONE <= step_of("Adagrad") <= 2 * ONE + small
    assert 3 * ONE <= step_of("Nadam") <= 3 * ONE + small
    assert step_of("Lion") == pytest.approx(2 * ALL + 2 * ONE, abs=small)
    assert step_of("SGD", momentum=0.9) == pytest.approx(ALL + ONE, abs=small)
    assert step_of("RMSprop") == pytest.approx(ALL + 2 * ONE, abs=small)
    more = step_of("RMSprop", momentum=0.9, centered=True)
    assert more == pytest.approx(3 * ALL + 2 * ONE, abs=small)
    assert step_of("Adadelta") == pytest.approx(3 * ALL + ONE, abs=small)
    assert step_of("Ftrl") == pytest.approx(2 * ALL + 3 * ONE, abs=small)
    assert step_of("Adamax") == pytest.approx(ALL + 2 * ONE, abs=small)
    assert step_of("AdamW") == pytest.approx(ALL + 2 * ONE, abs=small)


def test_a_scaled_loss_waits_for_all_gradients() -> None:
    """Keras scales the loss under mixed_float16, and looks at all gradients before it applies any; not so bfloat16."""
    step = weights_alone("Adam")
    scaled, plain = (estimate(under(step, policy)).step for policy in ("mixed_float16", "mixed_bfloat16"))
    assert scaled > plain


def test_gradients_live_together_without_a_graph_or_with_a_global_norm() -> None:
    one_by_one = step_of("Adam")
    assert step_of("Adam", global_clipnorm=1.0) >= ALL > one_by_one
    assert estimate(replace(weights_alone("Adam"), mode="eager")).step >= ALL


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "RMSprop", "AdamW"])
@pytest.mark.parametrize("batch", [1, 64, 4096])
def test_eager_steps_take_no_less(optimizer: str, batch: int) -> None:
    layers = [(kind, (256,), {"units": 256, "activation": "relu"}) for kind in ("Dense",) * 3]
    step = chain((256,), *layers, ("Dropout", (256,), {"rate": 0.1}), optimizer=optimizer, batch=batch)
    # Terms that a graph computes when the step begins wait for their weight there; without one they do not.
    waits = 4 * 3 * (256 * 256 + 256) if optimizer in ("RMSprop", "AdamW") else 0
    assert estimate(replace(step, mode="eager")).step + waits >= estimate(step).step


def test_accumulated_gradients_are_applied_together() -> None:
    assert step_of("Adam", gradient_accumulation_steps=4) >= ALL


def test_a_regularizer_has_a_term_for_each_kernel_from_the_beginning() -> None:
    """Measured with three dense layers of 2048: 58.92 MB, 33.75 without it."""
    widths = [("Dense", (512,), {"units": 512, "activation": "relu", "kernel_regularizer": "l2"})] * 3
    assert estimate(chain((512,), *widths, batch=1)).step == pytest.approx(3 * ONE + ONE, abs=20_000)


def test_rows_of_a_table_are_made_dense_where_a_regularizer_adds_to_them() -> None:
    """Its term waits from the beginning, and one gradient as large as the table is added to it."""
    table = {"input_dim": 4096, "output_dim": 32}
    size, rows = 4096 * 32 * 4, 20_000

    def taken(**more: str) -> int:
        return estimate(chain((4,), ("Embedding", (4, 32), table | more), batch=8)).step

    assert taken() < rows
    assert 2 * size <= taken(embeddings_regularizer="l2") < 2 * size + rows


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_regularizer_of_a_recurrent_kernel_has_a_term_of_its_size(wrapped: bool) -> None:
    def taken(**more: str) -> int:
        arguments: dict[str, Any] = {"units": 64} | more
        made = Network()
        if wrapped:
            inner = Applied("SimpleRNN", "inner", 0, 0, (), (), arguments)
            made.add("Bidirectional", made.given(2, 3), (128,), inner=inner)
        else:
            made.add("SimpleRNN", made.given(2, 3), (64,), **arguments)
        return estimate(made.step(batch=1)).step

    assert taken(recurrent_regularizer="l2") - taken() == 4 * 64 * 64 * (2 if wrapped else 1)


def test_frozen_layers_have_no_slots_and_no_gradients() -> None:
    step = weights_alone("Adam")
    found = estimate(replace(step, passes=(replace(step.passes[0], frozen=frozenset({0, 1})),)))
    assert found.weights == ALL
    assert found.slots == 2 * ALL // 3
    assert [layer.gradients for layer in found.layers] == [0, 0, ALL // 3]


def test_a_shared_layer_counts_its_weights_once_and_its_activations_twice() -> None:
    made = Network()
    left, right = made.given(64), made.given(64)
    both = [made.add("Dense", each, (64,), layer=7, units=64, activation="relu") for each in (left, right)]
    made.add("Concatenate", both, (128,))
    found = estimate(made.step("Adam", batch=4))
    single = estimate(perceptron(64, given=64, optimizer="Adam", batch=4))
    assert (found.weights, found.slots) == (single.weights, single.slots)
    assert [layer.parameters for layer in found.layers] == [64 * 64 + 64, 0]
    # relu needs its output for the gradient, of both calls.
    assert found.layers[0].kept == 2 * 4 * 64 * 4


def test_a_shared_layer_is_updated_once() -> None:
    made = Network()
    x = made.given(64)
    for _ in range(3):
        x = made.add("Dense", x, (64,), layer=7, units=64)
    found = estimate(made.step("Adam"))
    assert sum(moment.part == "update" for moment in found.curve) == sum(
        moment.part == "update" for moment in estimate(perceptron(64, given=64, optimizer="Adam")).curve
    )


def test_two_optimizers_of_one_step_have_slots_for_their_own_layers() -> None:
    """A generator and a discriminator: each pass trains one of them, and the second goes through both."""
    made = Network()
    image = made.add("Dense", made.given(16), (64,), units=64)
    made.add("Dense", image, (1,), units=1)
    whole = made.graph()
    judged = Graph(whole.tensors, whole.applied[1:], (image,), whole.outputs)
    loss = (Loss("binary_crossentropy", True),)
    passes = (
        Pass(judged, loss, Optimizer("Adam")),
        Pass(whole, loss, Optimizer("Adam"), frozen=frozenset({1})),
    )
    found = estimate(TrainingStep(1, "train_step(...)", "two models", passes, batch=4))
    generator, discriminator = 4 * (16 * 64 + 64), 4 * 65
    assert found.weights == generator + discriminator
    assert found.slots == 2 * found.weights
    assert [layer.parameters for layer in found.layers] == [65, 16 * 64 + 64]


def test_mixed_precision_halves_activations_and_keeps_weights() -> None:
    layers = [("Dense", (256,), {"units": 256, "activation": "relu"})] * 6
    step = chain((256,), *layers, batch=4096)
    mixed = estimate(under(step, "mixed_bfloat16"))
    plain = estimate(step)
    assert mixed.weights == plain.weights
    assert mixed.of.precision == "mixed_bfloat16"
    halved = [layer.kept for layer in mixed.layers]
    assert halved[1:] == [layer.kept // 2 for layer in plain.layers[1:]]
    # The batch has a copy in bfloat16 besides.
    assert halved[0] == plain.layers[0].kept // 2 + 4096 * 256 * 2


def test_normalisations_keep_float32_in_mixed_precision() -> None:
    dense = ("Dense", (64,), {"units": 64})
    found = estimate(under(chain((64,), dense, ("BatchNormalization", (64,), {}), dense), "mixed_bfloat16"))
    n = 8 * 64 * 4
    assert found.layers[1].kept == n + n // 2


def test_layers_with_a_dtype_of_their_own_keep_it_under_another_policy() -> None:
    step = chain((64,), ("Dense", (64,), {"units": 64}), ("Activation", (64,), {"activation": "softmax"}))
    mixed = under(under(step, "mixed_bfloat16"), "mixed_float16")
    assert [applied.dtype for applied in mixed.layers()] == ["float16", "float16"]
    own = chain((64,), ("Activation", (64,), {"activation": "softmax", "dtype": "float64"}))
    assert [applied.dtype for applied in under(own, "mixed_bfloat16").layers()] == ["float64"]


def test_an_embedding_is_updated_by_rows() -> None:
    """SGD writes the rows alone; Adam makes two dense tables of them."""

    def looked_up(optimizer: str) -> int:
        made = Network()
        rows = made.add("Embedding", made.given(4, dtype="int64"), (4, 8), input_dim=100_000, output_dim=8)
        made.add("Dense", rows, (4, 2), units=2)
        return estimate(made.step(optimizer)).step

    table = 4 * 100_000 * 8
    assert looked_up("SGD") < table
    assert looked_up("Adam") == pytest.approx(2 * table, rel=0.01)


def test_a_use_on_which_no_loss_depends_does_not_keep_a_layer_from_its_update() -> None:
    made = Network()
    given = made.given(64)
    made.add("Dense", given, (64,), layer=7, units=64)
    made.add("Dense", given, (64,), layer=7, units=64)
    found = estimate(made.step("Adam"))
    assert any(moment.part == "update" for moment in found.curve)
