"""Steps and estimates made by hand, so that what shows them is tested without program and engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tfmemlint.estimate.answer import Estimate, Held, LayerBytes, Life, Moment, Peak, WhatIf
from tfmemlint.estimate.step import Applied, Graph, Loss, Missing, Optimizer, Pass, Tensor, TrainingStep
from tfmemlint.report.estimates import Reported
from tfmemlint.report.estimates.reported import Budget

MIB = 1 << 20
NO_BATCH = Missing("the batch size", 41, "--batch", False)
NO_UNITS = Missing("the units of Dense 'dense'", 12)


def step(batch: int | None = 48, missing: Sequence[Missing] = (), **changed: Any) -> TrainingStep:
    """One convolution and one dense layer, trained by SGD with momentum."""
    tensors = {0: Tensor((None, 32, 32, 3)), 1: Tensor((None, 32, 32, 64)), 2: Tensor((None, 10))}
    applied = (
        Applied("Conv2D", "conv2d", 11, 1, (0,), (1,), {"filters": 64, "kernel_size": 3}),
        Applied("Dense", "dense", 12, 2, (1,), (2,), {"units": 10}),
    )
    optimizer = Optimizer("SGD", {"momentum": 0.9, "learning_rate": 0.01})
    one = Pass(Graph(tensors, applied, (0,), (2,)), (Loss("sparse_categorical_crossentropy", True),), optimizer)
    made = TrainingStep(41, "model.fit(...)", "Sequential, 2 layers", (one,), (tensors[0],), batch)
    return replace(made, missing=tuple(missing), **changed)


def estimate(of: TrainingStep | None = None, **changed: Any) -> Estimate:
    """The peak, 204 MiB with weights, slots and data, is in the backward pass of the convolution."""
    sizes = [("conv2d", "forward", 48), ("conv2d", "forward", 96), ("dense", "forward", 100), ("loss", "loss", 110),
             ("dense", "backward", 120), ("dense", "update", 124), ("conv2d", "backward", 200),
             ("conv2d", "update", 60)]  # fmt: skip
    of = of or step()
    made = Estimate(
        of=of,
        batch=of.batch or 1,
        weights=MIB,
        slots=MIB,
        data=2 * MIB,
        step=200 * MIB,
        low=204 * MIB,
        guess=244 * MIB,
        high=284 * MIB,
        peak=Peak("Conv2DBackpropFilter", "conv2d", 11, "backward"),
        held=(
            Held("conv2d", 11, 96 * MIB, "kept for backward"),
            Held("dense", 12, 80 * MIB, "gradient"),
            Held("conv2d", 11, 24 * MIB, "output"),
        ),
        layers=(
            LayerBytes("conv2d", "Conv2D", 11, (48, 32, 32, 64), 1792, 96 * MIB, 7168, 120 * MIB),
            LayerBytes("dense", "Dense", 12, (48, 10), 655370, 4 * MIB, 2621480, 80 * MIB),
        ),
        curve=tuple(Moment(layer, part, size * MIB) for layer, part, size in sizes),
        missing=of.missing,
        bounded=any(each.bounds for each in of.missing),
        lives=(
            Life("conv2d", 48 * MIB, 0, 7),
            Life("conv2d", 48 * MIB, 1, 6),
            Life("dense", 4 * MIB, 2, 6),
            Life("conv2d", 80 * MIB, 6, 6),
        ),
    )
    return replace(made, **changed)


def reported(of: Estimate | None = None, **changed: Any) -> Reported:
    """The estimate with a T4 that has room for it and a change that saves."""
    budget = Budget(16 << 30, 14 << 30, "T4", 3412)
    saves = (WhatIf("batch 24", 104 * MIB, 100 * MIB), WhatIf("mixed_bfloat16", 120 * MIB, 84 * MIB))
    made = Reported("train.py", of or estimate(), 4 * MIB, budget, saves)
    return replace(made, **changed)
