"""Estimates from source alone against what training scripts were measured to take, without TensorFlow.

`truth.tsv` has bytes of one step each, in graph mode on a CPU (TensorFlow 2.21, Keras 3.15): of variables with their
slots, of one batch of data, and at the peak as the ops ask for them (`requested`) and as the allocator hands them out
(`chunks`), with as many threads between ops as TensorFlow takes by itself on two processors, or one (`inter_op`).
`on_a_gpu.tsv` has the same scripts on an NVIDIA H200, in graph mode and compiled by XLA (`probe-estimate --gpu --jit`):
`in_use` is all that the card's allocator has handed out at the peak. There the batch is part of the step.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest

from tfmemlint.config.settings import Config
from tfmemlint.dev.probe.steps import measured
from tfmemlint.estimate.answer import Estimate
from tfmemlint.estimate.engine import estimate
from tfmemlint.estimate.facts import steps
from tfmemlint.estimate.step import TrainingStep
from tfmemlint.lint.parsing import parse
from tfmemlint.model.file import File
from tfmemlint.text.read import read_source

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "scripts").glob("*.py"))


class Measured(NamedTuple):
    """One run: bytes of variables, of a batch of data, and of all on the device at the peak of a step."""

    script: str
    batch: int
    variables: int
    data: int
    requested: int
    chunks: int


def _measured() -> list[Measured]:
    with (HERE / "truth.tsv").open(newline="", encoding="utf-8") as stream:
        return [
            Measured(
                row["script"],
                int(row["batch"]),
                int(row["variables"]),
                int(row["input_batch"]),
                int(row["device_requested"]),
                int(row["device_chunks"]),
            )
            for row in csv.DictReader(stream, delimiter="\t")
        ]


RUNS = _measured()

ELSEWHERE_ON_A_CARD = ("m13_lstm_text.py", "m16_conv_lstm1d.py", "m21_conv_autoencoder.py", "m22_vae.py")
"""Scripts with layers for which cuDNN needs more: recurrent ones and transposed convolutions."""


class OnCard(NamedTuple):
    """One run on an NVIDIA H200: bytes of variables, and of all that the card's allocator has in use at the peak."""

    script: str
    batch: int
    mode: str
    variables: int
    in_use: int


def _measured_on_card() -> list[OnCard]:
    with (HERE / "on_a_gpu.tsv").open(newline="", encoding="utf-8") as stream:
        return [
            OnCard(row["script"], int(row["batch"]), row["mode"], int(row["variables"]), int(row["in_use"]))
            for row in csv.DictReader(stream, delimiter="\t")
        ]


ON_CARD = _measured_on_card()


@cache
def _step(script: str) -> TrainingStep:
    path = HERE / "scripts" / script
    source = read_source(path.read_bytes(), str(path))
    module, readable, _ = parse(source)
    assert module is not None
    trained = [step for step in steps(File(readable, module, Config())) if any(one.backward for one in step.passes)]
    assert len(trained) == 1
    return trained[0]


def _estimated(run: Measured | OnCard) -> Estimate:
    return estimate(_step(run.script), batch=run.batch)


def _errors() -> list[float]:
    return sorted(abs(_estimated(run).low / run.requested - 1) for run in RUNS)


@pytest.mark.parametrize("script", [path.name for path in SCRIPTS])
def test_every_script_is_answered(script: str) -> None:
    assert any(run.script == script for run in RUNS)
    step = _step(script)
    assert step.batch is not None
    assert {each.option for each in estimate(step).missing} <= {None}


def test_on_a_card_the_bounds_are_nearly_those_of_a_cpu() -> None:
    runs = [run for run in ON_CARD if run.mode == "graph" and run.script not in ELSEWHERE_ON_A_CARD]
    assert len(runs) == 28
    parts = [(run.in_use, _estimated(run)) for run in runs]
    assert all(0.86 * found.low <= in_use <= 1.07 * found.high for in_use, found in parts)
    assert sum(in_use > found.high for in_use, found in parts) <= 3
    assert sum(in_use < found.low for in_use, found in parts) <= 2
    assert median(abs(found.guess / in_use - 1) for in_use, found in parts) <= 0.13


def test_on_a_card_the_upper_bound_holds_what_large_kernels_work_in() -> None:
    runs = [(run.in_use, _estimated(run).high) for run in ON_CARD if run.mode == "graph"]
    assert len(runs) == 36
    assert sum(in_use > high for in_use, high in runs) <= 3


@pytest.mark.parametrize("run", ON_CARD, ids=lambda run: f"{run.script}-{run.batch}-{run.mode}")
def test_variables_lie_on_the_card_but_for_counters(run: OnCard) -> None:
    found = _estimated(run)
    assert abs(found.weights + found.slots - run.variables) <= 4096


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.script}-{run.batch}")
def test_variables_are_known_but_for_counters_and_metrics(run: Measured) -> None:
    found = _estimated(run)
    assert abs(found.weights + found.slots - run.variables) <= 4096


def test_the_error_of_the_lower_bound() -> None:
    errors = _errors()
    assert median(errors) <= 0.05
    assert errors[int(0.9 * len(errors))] <= 0.15


def test_the_lower_bound_is_one() -> None:
    over = [run for run in RUNS if _estimated(run).low > 1.02 * run.requested]
    assert len(over) * 20 <= len(RUNS)


def test_the_upper_bound_is_seldom_exceeded() -> None:
    over = [run for run in RUNS if run.chunks > _estimated(run).high]
    assert len(over) * 20 <= len(RUNS)


@pytest.mark.tensorflow
@pytest.mark.parametrize("script", ["m01_mnist_mlp.py", "m21_conv_autoencoder.py", "m29_wide_deep.py"])
def test_what_is_measured_now_lies_in_what_was_estimated(script: str) -> None:
    """Scripts whose ops leave little to the order of the moment, measured again with the TensorFlow that is here."""
    row = measured(HERE / "scripts" / script).row
    found = estimate(_step(script))
    assert row["batch"] == found.batch
    assert abs(found.weights + found.slots - row["variables"]) <= 4096
    assert found.low == pytest.approx(row["device_requested"], rel=0.15)
    assert row["device_chunks"] <= found.high
