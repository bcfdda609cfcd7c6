"""`estimate --measure`: what a run shows beside the estimate, and what is said where there is no figure."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Run as Command
from made import MIB, estimate, reported

from tfmemlint.cli.verify import shown
from tfmemlint.estimate.measured import MeasuredHeld, MeasuredStep, Pair, compared, difference
from tfmemlint.report.estimates import Options, Reported, render
from tfmemlint.verify import training_step
from tfmemlint.verify.child import memory_events, step_loops
from tfmemlint.verify.run import runs
from tfmemlint.verify.run.interpreters import MeasureError
from tfmemlint.verify.run.measure import Program, Settings, Step
from tfmemlint.verify.run.runs import Failure, Run
from tfmemlint.verify.training_step import measure_step, measured

CONV, DENSE = ("conv2d_7", "Conv2D"), ("dense_3", "Dense")
"""Layers as Keras names them in a process that has made others before."""
LAYERS = (CONV, ("activation", "Activation"), DENSE)


def held(op: str, mib: float, *layers: tuple[str, str]) -> MeasuredHeld:
    return MeasuredHeld(op, int(mib * MIB), layers)


def ran(*alive: MeasuredHeld, **changed: Any) -> MeasuredStep:
    """A run of the step that `made.estimate` is of."""
    return replace(MeasuredStep(2 * MIB, 2 * MIB, 160 * MIB, 190 * MIB, 48, alive, LAYERS), **changed)


def with_run(measured: MeasuredStep, **changed: Any) -> Reported:
    return replace(reported(), measured=measured, **changed)


def text(found: Reported) -> str:
    return render("text", [found], Options(44))


# -- the comparison --------------------------------------------------------------------------------------------------


def test_layers_are_the_same_by_class_and_order_whatever_keras_calls_them() -> None:
    block = ("block", "Block")
    run = ran(held("block_1/conv2d_7_1/Conv2D", 100, block, CONV), held("grad/dense_3/MatMul", 40, DENSE))
    assert compared(estimate(), run) == [
        Pair("conv2d", 11, 120 * MIB, 100 * MIB),
        Pair("dense", 12, 80 * MIB, 40 * MIB),
    ]


def test_what_one_list_has_alone_has_no_bytes_in_the_other() -> None:
    pairs = compared(estimate(), ran(held("conv2d_7/Conv2D", 120, CONV), held("zeros", 70)))
    assert [each for each in pairs if each.name != "conv2d"] == [
        Pair("dense", 12, 80 * MIB, None),
        Pair("", 0, None, 70 * MIB),
    ]


def test_memory_that_a_neighbour_works_in_is_one_entry() -> None:
    """ReLU works in the memory of the layer before it: one side names this layer, the other that one."""
    made = estimate()
    bias = replace(made.layers[1], name="re_lu", kind="ReLU")
    made = replace(made, layers=(made.layers[0], bias), held=(replace(made.held[0], layer="re_lu"),))
    (pair,) = compared(made, ran(held("conv2d_7/BiasAdd", 96, CONV), layers=(CONV, ("re_lu", "ReLU"))))
    assert pair == Pair("re_lu", 11, 96 * MIB, 96 * MIB, "conv2d")


def test_what_is_small_at_the_peak_is_left_out() -> None:
    assert [each.name for each in compared(estimate(), ran(held("a", 1)))] == ["conv2d", "dense"]


def test_ops_of_eager_mode_are_listed_by_what_they_compute() -> None:
    made = estimate()
    made = replace(made, of=replace(made.of, mode="eager"))
    pairs = compared(made, ran(held("MaxPoolGrad", 70), held("MaxPoolGrad", 20)))
    assert Pair("op MaxPoolGrad", 0, None, 90 * MIB) in pairs


def test_the_error_is_that_of_the_estimate() -> None:
    assert difference(75, 100) == -0.25
    assert difference(75, 0) is None


# -- what is printed -------------------------------------------------------------------------------------------------


def test_estimate_and_truth_stand_side_by_side() -> None:
    run = ran(held("x", 120, CONV), held("y", 8), versions=(("tensorflow", "2.21.0"),), made_up=("pictures",))
    lines = text(with_run(run)).splitlines()
    start = lines.index("  measured on the CPU, TensorFlow 2.21.0")
    assert [line.split() for line in lines[start + 1 : start + 7]] == [
        ["estimated", "measured", "error"],
        ["variables", "2", "MiB", "2", "MiB", "0.0", "%"],
        ["one", "batch", "of", "data", "2", "MiB", "2", "MiB", "0.0", "%"],
        ["step", "200", "MiB", "160", "MiB", "+25.0", "%"],
        ["peak", "204", "MiB", "164", "MiB", "+24.4", "%"],
        ["peak", "with", "what", "the", "allocator", "adds", "284", "MiB", "194", "MiB", "below", "the", "estimate"],
    ]
    assert "    pictures" in lines
    assert "    conv2d  line 11    120 MiB   120 MiB" in lines
    assert "    estimated only: dense 80 MiB" in lines
    assert "    measured only: no layer 8 MiB" in lines


def test_another_batch_than_the_estimate_s_is_named() -> None:
    assert "measured on the CPU, at batch 20\n" in text(with_run(ran(batch=20)))


def test_a_step_that_makes_its_batch_has_no_bytes_of_data() -> None:
    lines = [line.split() for line in text(with_run(ran(data=None))).splitlines()]
    assert ["one", "batch", "of", "data", "2", "MiB", "in", "the", "step"] in lines
    assert record(with_run(ran(data=None)))["bytes"]["peak"] == 162 * MIB


def record(found: Reported) -> dict[str, Any]:
    (made,) = json.loads(render("json", [found], Options()))
    return made["measured"]  # type: ignore[no-any-return]


def test_json_has_what_was_measured_or_null() -> None:
    made = record(with_run(ran(held("conv2d_7/Conv2D", 120, CONV), made_up=("pictures",))))
    assert made["bytes"] == {
        "variables": 2 * MIB, "input": 2 * MIB, "step": 160 * MIB, "peak": 164 * MIB, "in_use": 194 * MIB,
    }  # fmt: skip
    assert (made["batch"], made["made_up"]) == (48, ["pictures"])
    assert made["alive"][0] == {
        "layer": "conv2d", "estimated": 120 * MIB, "measured": 120 * MIB, "in_memory_of": None,
    }  # fmt: skip
    assert made["ops"] == [{"op": "conv2d_7/Conv2D", "bytes": 120 * MIB, "layers": ["conv2d_7"]}]
    assert record(reported()) is None


# -- what is said where there is no figure ---------------------------------------------------------------------------


def failure(kind: str, message: str, **more: Any) -> Run:
    return Run("error", error=Failure(kind, "", message, (3, 9), **more))


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (Run("time", "killed at the time limit after 180 s"), "after 180 s: give more with --timeout"),
        (Run("memory", "killed"), "ran out of this machine's memory: give a smaller batch with --batch"),
        (failure("ResourceExhaustedError", "OOM", out_of_memory=True), "memory in line 9: give a smaller batch"),
        (failure("KeyError", "'column'"), "failed in line 9: KeyError: 'column': see whether"),
        (failure("ModuleNotFoundError", "No module named 'cv2'"), "No module named 'cv2': install what is missing"),
        (failure("FileNotFoundError", "x.npy"), "FileNotFoundError: x.npy: put the file where"),
        (Run("crash", "ended by SIGSEGV"), "left no figures: ended by SIGSEGV"),
        (Run("ok"), "without coming to line 41 as a step"),
    ],
)
def test_why_nothing_was_measured_and_what_to_do(run: Run, said: str) -> None:
    with pytest.raises(MeasureError) as error:
        measured(run, Step(41))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_layers_are_named_by_their_numbers() -> None:
    step = runs.Step(1, 2, 4, 3, 5, (CONV, DENSE), (("a", 3, (1, 7)),))
    found = measured(Run("ok", step=step, notes=("made up",), versions={"keras": "3"}), Step(41))
    assert found.held == (MeasuredHeld("a", 3, (DENSE,)),)
    assert (found.variables, found.data, found.batch, found.step, found.chunks) == (1, 2, 4, 3, 5)
    assert (found.made_up, found.versions) == (("made up",), (("keras", "3"),))


def test_a_program_that_ends_for_want_of_a_file_is_run_again_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Program] = []

    def run_once(program: Program, settings: Settings, tick: Callable[[], None] | None) -> Run:
        asked.append(program)
        assert (settings.device, settings.timed) == ("cpu", True)
        return Run("ok", step=runs.Step(1, 2, 4, 3, 5)) if program.present else failure("SystemExit", "no data")

    monkeypatch.setattr(training_step, "run_once", run_once)
    found = measure_step(str(tmp_path / "train.py"), "from ..a import b\nos.path.exists('x')\n", Step(1), Settings())
    assert found.step == 3
    assert [each.present for each in asked] == [False, True]
    assert all(each.substitute and each.folder == str(tmp_path) for each in asked)


def test_figures_that_cannot_be_are_not_believed() -> None:
    with pytest.raises(ValueError, match="bytes of tensors"):
        runs._checked(runs._Report("ok", step=runs.Step(1, 2, 4, 1 << 40, 5)), runs.Bounds(tensors=1 << 30), "")


# -- the parts beside TensorFlow that need none ----------------------------------------------------------------------


def events(*each: tuple[bool, int, int, str]) -> list[Any]:
    return [(time, taken, at, memory_events.Held(size, op, "")) for time, (taken, at, size, op) in enumerate(each)]


def test_the_most_is_what_lives_together_with_what_a_step_has_left() -> None:
    left = memory_events.left(events((True, 1, 10, "loss"), (True, 2, 99, "weight"), (True, 3, 5, "a"),
                                     (False, 3, 5, "a")), {2})  # fmt: skip
    assert left == {1: memory_events.Held(10, "loss", "")}
    most = memory_events.most(
        events((True, 4, 50, "conv"), (True, 5, 30, "grad"), (False, 1, 10, ""), (False, 4, 50, ""), (False, 8, 7, ""),
               (True, 6, 40, "update")),
        left,
    )  # fmt: skip
    assert most.bytes == 90
    assert [each.op for each in most.held] == ["conv", "grad", "loss"]


LOOPS = """
for epoch in range(2):
    for step, (x, y) in enumerate(data):
        train(x, y)
while True:
    work()
def train(x, y):
    with tape:
        gradient(x)
model.fit(
    data,
)
"""


def hooked(line: int) -> tuple[str, tuple[int, int], list[str]]:
    """What stands at a line of the loops, its lines, and which hooks a run calls, with whether they are asked for."""
    code, kind, lines = step_loops.hooked(LOOPS.encode(), "train.py", line)
    called: list[str] = []

    class Done(Exception):
        pass

    def turn() -> None:
        called.append("turn")
        raise Done

    def rounds(items: Any, asked: bool, at: int) -> Any:
        called.append(f"{at}{'!' if asked else ''}")
        return items

    def function(train: Any) -> Any:
        called.append("function")
        raise Done

    def work() -> None:
        raise Done

    hooks = {step_loops.ROUNDS: rounds, step_loops.TURN: turn, step_loops.CALLED: function}
    with pytest.raises(Done):
        exec(code, {**hooks, "data": [(1, 2)], "train": lambda x, y: None, "work": work})
    return kind, lines, called


def test_a_program_says_where_the_asked_step_begins() -> None:
    assert hooked(3)[::2] == ("loop", ["2", "3!", "3!"])
    assert hooked(5)[::2] == ("loop", ["2", "3", "3", "turn"])
    kind, lines, called = hooked(10)
    assert (kind, lines, called) == ("call", (10, 12), ["2", "3", "3"])


def test_a_step_outside_of_loops_is_a_call_of_its_function() -> None:
    code, kind, _ = step_loops.hooked(LOOPS.replace("while True:", "while False:").encode(), "train.py", 9)
    called: list[str] = []

    def function(train: Any) -> Any:
        called.append(train.__name__)
        return train

    class Model:
        def fit(self, data: Any) -> None:
            called.append("fit")

    hooks = {step_loops.ROUNDS: lambda items, *_: items, step_loops.CALLED: function}
    exec(code, {**hooks, "data": [], "model": Model()})
    assert (kind, called) == ("function", ["train", "fit"])


# -- the command -----------------------------------------------------------------------------------------------------

NET = """\
import numpy as np
import tensorflow as tf
import keras
from keras import layers

model = keras.Sequential([
    keras.Input((32, 32, 3)),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(10),
])
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
x, y = np.zeros((640, 32, 32, 3), "float32"), np.zeros(640, "int64")
"""
FIT = """
model.compile("adam", loss_of)
model.fit(x, y, batch_size=64, epochs=30)
"""
LOOP = """
optimizer = keras.optimizers.SGD(0.01)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(64)

@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_of(labels, model(images, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

for epoch in range(1000):
    for step, (images, labels) in enumerate(data):
        train_step(images, labels)
"""


def measure(run: Command, name: str, source: str, *words: str) -> tuple[dict[str, Any], str]:
    """The one step of a script as JSON, and what was said on stderr."""
    Path(name).write_text(source)
    done = run("estimate", "--isolated", "--measure", "--no-what-if", "--output-format", "json", *words, name)
    assert done.code == 0, done.err
    (made,) = json.loads(done.out)
    return made, done.err


@pytest.mark.tensorflow
@pytest.mark.parametrize("source", [NET + FIT, NET + LOOP], ids=["fit", "loop"])
def test_a_run_confirms_the_estimate(source: str, here: Path, run: Command) -> None:
    made, said = measure(run, "train.py", source)
    ours, truth = made["bytes"], made["measured"]["bytes"]
    assert "running 1 program, once each" in said
    assert made["measured"]["batch"] == 64
    assert truth["variables"] == pytest.approx(ours["weights"] + ours["slots"], abs=1024)
    assert truth["input"] == ours["input"]
    assert truth["step"] == pytest.approx(ours["step"], rel=0.25)
    assert truth["peak"] == truth["variables"] + truth["input"] + truth["step"]
    assert truth["in_use"] >= truth["peak"]
    both = {each["layer"]: each for each in made["measured"]["alive"]}
    assert both["conv2d"]["measured"] == pytest.approx(both["conv2d"]["estimated"], rel=0.05)


@pytest.mark.tensorflow
def test_a_failing_program_keeps_its_estimate(here: Path, run: Command) -> None:
    made, said = measure(run, "train.py", NET + FIT.replace('"adam"', "int('seven')"))
    assert made["measured"] is None
    assert made["bytes"]["low"] > 0
    assert "train.py:18: not measured: the program failed in line 17: ValueError: invalid literal" in said


@pytest.mark.tensorflow
def test_data_that_is_not_there_is_made_up_and_listed(here: Path, run: Command) -> None:
    source = NET.replace("x, y = ", 'y = np.load("labels.npy")[:640].ravel()[:640] // 10**6\nx, _ = ')
    made, _ = measure(run, "train.py", source + FIT)
    assert made["measured"]["bytes"]["input"] >= 64 * 32 * 32 * 3 * 4
    assert any("labels.npy is not there" in note for note in made["measured"]["made_up"])


def test_without_tensorflow_the_estimate_stands(here: Path, run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(python: str) -> None:
        raise MeasureError(f"{python} has no TensorFlow; name an interpreter that has one with --python")

    monkeypatch.setattr(shown, "check_interpreter", check)
    made, said = measure(run, "train.py", NET + FIT, "--python", sys.executable)
    assert made["measured"] is None
    assert "has no TensorFlow; name an interpreter that has one with --python" in said


@pytest.mark.parametrize("option", [("--python", "python3"), ("--timeout", "60")])
def test_how_to_run_is_only_asked_where_something_runs(option: tuple[str, str], here: Path, run: Command) -> None:
    done = run("estimate", *option, ".")
    assert done.code == 2
    assert f"{option[0]} says how to run the step; give --measure, too" in done.err
