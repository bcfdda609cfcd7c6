"""Facts that do not fit each other, or that say too little: what is known counts, and what is not is named."""

from __future__ import annotations

from itertools import product

import pytest

from tfmemlint.estimate.advise import what_if
from tfmemlint.estimate.engine import estimate, lowest
from tfmemlint.estimate.layers.known import KINDS
from tfmemlint.estimate.step import Applied, Graph, Loss, Optimizer, Pass, Tensor, TrainingStep


def between(kind: str, given: Tensor | None, made: Tensor, dtype: str = "float32", **fields: object) -> TrainingStep:
    """A layer between two dense ones, or on a constant."""
    tensors = {0: Tensor((None, 5)), 1: given or Tensor(()), 2: made, 3: Tensor((None, 2))}
    layers = (
        Applied("Dense", "first", 1, 0, (0,), (1,), {"units": 5}, dtype=dtype),
        Applied(kind, "middle", 2, 1, () if given is None else (1,), (2,), dtype=dtype, **fields),  # type: ignore[arg-type]
        Applied("Dense", "last", 3, 2, (2,), (3,), {"units": 2}, dtype=dtype),
    )
    one = Pass(Graph(tensors, layers, (0,), (3,)), (Loss("mean_squared_error"),), Optimizer("Adam"))
    return TrainingStep(
        1, "fit", "a model", (one,), (Tensor((None, 5)),), 8, "mixed_float16" if dtype == "float16" else dtype
    )


GIVEN = (None, Tensor(()), Tensor((None,)), Tensor((None, None)), Tensor((None, 6, 6, 3)))
MADE = (Tensor((None, 4)), Tensor(()))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_without_arguments_is_answered(kind: str) -> None:
    for given, made, dtype in product(GIVEN, MADE, ("float32", "float16")):
        step = between(kind, given, made, dtype)
        found = estimate(step)
        assert 0 < found.low <= found.high, (given, made, dtype)
        assert lowest(step, 8) == found.low, (given, made, dtype)


@pytest.mark.parametrize("kind", ["Embedding", "Conv2D", "GRU", "SpatialDropout2D"])
def test_a_layer_on_a_constant_is_named(kind: str) -> None:
    step = between(kind, None, Tensor((None, 4)), arguments={"input_dim": 9, "output_dim": 4, "units": 4})
    assert [each.what for each in estimate(step).missing] == [f"its input of {kind} 'middle'"]
    what_if(step)


def test_a_table_applied_to_a_constant_counts() -> None:
    """Its weights do not rest on what it is applied to."""
    found = estimate(between("Embedding", None, Tensor((None, 4)), arguments={"input_dim": 9, "output_dim": 4}))
    table = next(layer for layer in found.layers if layer.name == "middle")
    assert table.parameters == 9 * 4
    assert table.gradients == 4 * 9 * 4
    assert found.bounded


def test_gradients_go_through_a_layer_whose_weights_are_not_known() -> None:
    """The layer before it is trained all the same."""
    found = estimate(between("PReLU", Tensor((None, None)), Tensor((None, 4))))
    assert found.missing
    assert {moment.layer for moment in found.curve if moment.part == "backward"} >= {"first", "last"}
