"""What is read of programs in further styles: gradients that `apply` takes, lengths of None, functions as layers."""

from __future__ import annotations

import pytest
from test_facts import only, read
from test_facts_loops import DATA, LOOP, MODEL, STEP

from tfmemlint.estimate.step import Optimizer

ZIPPED = "opt.apply_gradients(zip(grads, model.trainable_variables))"
APPLIES = {
    "with weights": "opt.apply(grads, model.trainable_variables)", "alone": "opt.apply(grads)",
    "by name": "opt.apply(grads=grads, trainable_variables=model.trainable_variables)",
}  # fmt: skip


@pytest.mark.parametrize("applies", APPLIES.values(), ids=APPLIES)
@pytest.mark.parametrize("calls", [LOOP, ""], ids=["in a loop", "uncalled"])
def test_an_optimizer_applies_gradients(applies: str, calls: str) -> None:
    step = only(DATA + MODEL + STEP.replace(ZIPPED, applies) + calls)
    assert step.passes[0].optimizer == Optimizer("Adam")
    assert step.passes[0].backward


@pytest.mark.parametrize("applies", ["ds.apply(grads)", "model.apply(grads)", "frame.apply(grads)"])
def test_what_else_applies_is_no_step(applies: str) -> None:
    assert read(DATA + MODEL + STEP.replace(ZIPPED, applies) + LOOP) == []
