"""`estimate --measure` of programs that do not come to their step: it is run alone, with what makes its model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run as Command
from programs import model_of

from tfmemlint.estimate import facts
from tfmemlint.verify import training_step
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.training import StepPlanner
from tfmemlint.verify.run.measure import Program, Step
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.run.runs import Step as Ran

HEAD = "import numpy as np\nimport keras\nfrom keras import layers\nfrom unheard_of import load\n"
NET = (
    "def net(width):\n    return keras.Sequential([keras.Input((32,)), layers.Dense(width), layers.Dense(5)])\n\n\n"
    "model = net(64)\nmodel.compile('adam', 'sparse_categorical_crossentropy')\n"
)
FIT = (
    "x, y = load('data')\nif len(x) < 9:\n    raise SystemExit('too little')\n"
    "model.fit(x, y, batch_size=16, epochs=9)\n"
)


def alone(source: str) -> Program:
    """The program that runs the one step of a script alone."""
    file = model_of(source)
    (step,) = facts.steps(file)
    assert step.batch is not None
    return StepPlanner(file, step, step.batch, Step(step.line)).program()


def test_what_makes_the_model_is_kept_and_data_is_made_up() -> None:
    program = alone(HEAD + NET + FIT)
    fit = 'model.fit(tfmemlint_array("float32", (16, 32)), tfmemlint_array("int64", (16,)), batch_size=16)'
    kept = [line for line in program.source.splitlines() if line]
    assert kept[-5:] == [line for line in NET.splitlines() if line] + [fit]
    assert "unheard_of" not in program.source
    assert program.step is not None
    assert program.source.splitlines()[program.step.line - 1] == fit


def test_a_function_that_nobody_calls_is_called() -> None:
    body = "".join(f"    {line}\n" for line in (NET.split("\n\n\n")[1] + FIT).splitlines())
    program = alone(f"{HEAD}\n\n{NET.split('model = ')[0]}\n\ndef train(path):\n{body}")
    assert "def train(path):\n" in program.source
    assert "tfmemlint_consume(train(" in program.source
    assert "load(" not in program.source


def test_labels_are_those_that_the_losses_take() -> None:
    program = alone(HEAD + NET.replace("sparse_", "") + FIT)
    assert 'tfmemlint_array("float32", (16, 5))' in program.source


@pytest.mark.parametrize(
    ("fit", "call"),
    [
        ("model.predict(load('x'), batch_size=16)\n",
         'model.predict(tfmemlint_array("float32", (16, 32)), batch_size=16)'),
        ("model.train_on_batch(np.zeros((16, 32)), load('y'))\n",
         'model.train_on_batch(tfmemlint_array("float64", (16, 32)), tfmemlint_array("int64", (16,)))'),
        ("history = model.fit_generator(\n    load('x'),\n    epochs=3)\n", None),
    ],
)  # fmt: skip
def test_other_calls(fit: str, call: str | None) -> None:
    file = model_of(HEAD + NET + fit)
    (step,) = facts.steps(file)
    source = StepPlanner(file, step, 16, Step(step.line)).program().source
    assert (call or 'history = model.fit(tfmemlint_array("float32", (16, 32))') in source


def test_a_loop_cannot_be_run_alone() -> None:
    loop = (
        "import tensorflow as tf\ndata = tf.data.Dataset.from_tensor_slices(np.zeros((64, 32))).batch(16)\n"
        "for x in data:\n    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_mean(model(x, training=True))\n"
        "    gradients = tape.gradient(loss, model.trainable_variables)\n"
        "    keras.optimizers.SGD().apply_gradients(zip(gradients, model.trainable_variables))\n"
    )
    file = model_of(HEAD + NET + loop)
    (step,) = facts.steps(file)
    with pytest.raises(PlanError, match="only calls of fit, train_on_batch and predict"):
        StepPlanner(file, step, 16, Step(step.line))


def test_another_model_is_not_the_one_that_is_meant() -> None:
    (step,) = facts.steps(model_of(HEAD + NET + FIT))
    for kinds, meant in ((("Dense", "Dense"), True), (("Small",), False), ((), False)):
        layers = tuple((kind.lower(), kind) for kind in kinds)
        run = Run(status="ok", step=Ran(1, 1, 1, 1, 1, layers))
        assert training_step._is_meant(run, step) is meant


# -- the command


def measure(run: Command, source: str) -> tuple[dict[str, Any], str]:
    Path("train.py").write_text(source)
    done = run("estimate", "--isolated", "--measure", "--no-what-if", "--output-format", "json", "train.py")
    assert done.code == 0, done.err
    (made,) = json.loads(done.out)
    return made, done.err


@pytest.mark.tensorflow
def test_a_program_that_fails_before_its_step_is_measured(here: Path, run: Command) -> None:
    made, said = measure(run, HEAD + "int('seven')\n" + NET + FIT)
    assert ": measured" in said
    truth = made["measured"]["bytes"]
    assert truth["variables"] == pytest.approx(made["bytes"]["weights"] + made["bytes"]["slots"], abs=1024)
    assert made["measured"]["made_up"][0] == "the step ran alone, with what makes its model"
    assert {"dense", "dense_1"} & {each["layer"] for each in made["measured"]["alive"]}
