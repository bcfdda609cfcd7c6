"""`tfmemlint estimate` as users run it: what it prints, each option, exit codes, and one clear line for bad input."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command_line import Run, git

from tfmemlint.cli.estimate.answers import Older
from tfmemlint.estimate import facts
from tfmemlint.estimate.step import TrainingStep

NET = """\
import keras
import numpy as np
from keras import layers


def make(width=64):
    return keras.Sequential([
        keras.Input((32, 32, 3)),
        layers.Conv2D(width, 3, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(10),
    ])
"""
DATA = """
x = np.zeros((640, 32, 32, 3), "float32")
y = np.zeros((640,), "int64")
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
"""
TRAIN = """
model = make()
model.compile("adam", loss)
model.fit(x, y, batch_size=64)
"""
SCRIPT = NET + DATA + TRAIN
LINE = SCRIPT.count("\n")
"""Where `fit` is called: in the last line."""
OPEN = NET + DATA + "\nmodel = make()\nmodel.compile('adam', loss)\nmodel.fit(given())\n"
"""A script that does not say what batches it trains with."""

WEIGHTS = 4 * (3 * 3 * 3 * 64 + 64 + 32 * 32 * 64 * 10 + 10)


@pytest.fixture
def script(here: Path) -> Path:
    path = here / "train.py"
    path.write_text(SCRIPT)
    return path


def records(run: Run, *words: str) -> list[dict[str, Any]]:
    done = run("estimate", "--isolated", "--output-format", "json", *words)
    assert done.code in (0, 1), done.err
    return json.loads(done.out)  # type: ignore[no-any-return]


def record(run: Run, *words: str) -> dict[str, Any]:
    (made,) = records(run, *words)
    return made


# -- what is read


def test_a_script_is_estimated_by_its_facts(script: Path, run: Run) -> None:
    made = record(run, "train.py")
    assert (made["path"], made["line"], made["cell"], made["batch"]) == ("train.py", LINE, None, 64)
    assert (made["optimizer"], made["precision"], made["known"], made["missing"]) == ("Adam", "float32", True, [])
    sizes = made["bytes"]
    assert (sizes["weights"], sizes["slots"]) == (WEIGHTS, 2 * WEIGHTS)
    assert sizes["weights"] + sizes["slots"] + sizes["input"] + sizes["step"] == sizes["low"]
    assert sizes["low"] < sizes["guess"] < sizes["high"]
    assert sizes["per_example"] > 4 * 32 * 32 * 64
    assert [layer["type"] for layer in made["layers"]] == ["Conv2D", "Flatten", "Dense"]
    assert max(size for _, size in made["curve"]) == sizes["step"]


def test_text_is_the_default(script: Path, run: Run) -> None:
    done = run("estimate", "--isolated", "train.py")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"train.py:{LINE}  model.fit(...)  Sequential, 3 layers, batch 64, Adam, float32\n")
    for words in ("\n  weights            2.5 MiB\n", "\n  alive at the peak\n", "backward and update", "▲"):
        assert words in done.out


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
             "source": text.splitlines(keepends=True)} for text in cells]  # fmt: skip
    about = {"metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps({"cells": made, **about})


def test_a_notebook_names_cells(here: Path, run: Run) -> None:
    (here / "nb.ipynb").write_text(notebook("# an opening\n", NET, DATA + TRAIN.replace("\nmodel", "model", 1)))
    made = record(run, "nb.ipynb")
    assert (made["cell"], made["line"]) == (3, DATA.count("\n") + 3)
    convolution = made["layers"][0]
    assert (convolution["cell"], convolution["line"]) == (2, 9)
    assert f"nb.ipynb:cell 3:{DATA.count(chr(10)) + 3}  model.fit" in run("estimate", "nb.ipynb").out


def test_markdown_names_lines_of_the_document(here: Path, run: Run) -> None:
    text = f"# Guide\n\n```python\n{NET}```\n\nand then\n\n```python\n{DATA}{TRAIN}```\n"
    (here / "guide.md").write_text(text)
    made = record(run, "guide.md")
    assert text.splitlines()[made["line"] - 1] == "model.fit(x, y, batch_size=64)"
    assert "layers.Conv2D" in text.splitlines()[made["layers"][0]["line"] - 1]


def test_a_folder_is_searched_and_modules_are_followed(here: Path, run: Run) -> None:
    (here / "net.py").write_text(NET)
    (here / "train.py").write_text("import keras\nimport numpy as np\nfrom net import make\n" + DATA + TRAIN)
    (here / "other.py").write_text("import keras\nprint(keras.__version__)\n")
    made = record(run, ".")
    assert (made["path"], made["bytes"]["weights"]) == ("train.py", WEIGHTS)


def test_a_step_in_another_module_stands_where_this_file_leads_to_it(here: Path, run: Run) -> None:
    (here / "setup.py").touch()
    (here / "net.py").write_text(NET)
    (here / "trainer.py").write_text(
        "def train(model, x, y, loss):\n    model.compile('adam', loss)\n    model.fit(x, y, batch_size=64)\n"
    )
    head = "import keras\nimport numpy as np\nfrom net import make\nfrom trainer import train\n"
    (here / "main.py").write_text(head + DATA + "\ntrain(make(), x, y, loss)\n")
    made = record(run, ".")
    assert (made["path"], made["line"], made["call"]) == ("main.py", 10, "model.fit(...)")
    assert (made["bytes"]["weights"], made["batch"]) == (WEIGHTS, 64)
    assert made["layers"][0]["line"] is None
    assert record(run, "main.py") == made


def test_each_step_has_a_block_of_its_own(here: Path, run: Run) -> None:
    Path("train.py").write_text(SCRIPT + "model.predict(x, batch_size=128)\n")
    done = run("estimate", "train.py")
    heads = re.findall(r"^train\.py:(\d+)  (\S+)", done.out, re.MULTILINE)
    assert heads == [(str(LINE), "model.fit(...)"), (str(LINE + 1), "model.predict(...)")]
    predict = records(run, "train.py")[1]
    assert (predict["optimizer"], predict["batch"]) == (None, 128)
    assert {phase for phase, _ in predict["phases"]} == {"forward"}


def test_nothing_is_run_or_imported(here: Path, run: Run) -> None:
    Path("train.py").write_text("open('mark', 'w').close()\n" + SCRIPT)
    Path("keras.py").write_text("open('mark', 'w').close()\n")
    assert run("estimate", "train.py").code == 0
    assert not Path("mark").exists()


# -- options


def test_a_missing_batch_is_named_with_its_option(here: Path, run: Run) -> None:
    Path("train.py").write_text(OPEN)
    done = run("estimate", "train.py")
    assert done.code == 0
    assert f"the batch size (line {OPEN.count(chr(10))}): give --batch\n" in done.out
    made = record(run, "train.py", "--batch", "64", "--input", "32,32,3")
    assert (made["batch"], made["bytes"]["weights"]) == (64, WEIGHTS)
    assert made["bytes"]["low"] is not None and "--batch" not in [each["option"] for each in made["missing"]]


def test_one_option_says_how_large_a_batch_is_and_of_what(here: Path, run: Run) -> None:
    layers = "keras.layers.Conv2D(8, 3), keras.layers.Flatten(), keras.layers.Dense(2)"
    text = f"import keras\nfrom mine import batches\nmodel = keras.Sequential([{layers}])\n"
    Path("train.py").write_text(f"{text}model.compile('adam', 'mse')\nmodel.fit(batches())\n")
    words = "the batch size and the shape of the input (line 5): give --input BATCHxN,N,...\n"
    assert words in run("estimate", "train.py").out
    made = record(run, "train.py", "--input", "64x32,32,3")
    assert (made["batch"], made["missing"], made["layers"][0]["output"]) == (64, [], [64, 30, 30, 8])
    assert made == record(run, "train.py", "--input", "32,32,3", "--batch", "64")


def test_batches_have_an_answer_each(script: Path, run: Run) -> None:
    small, large = records(run, "train.py", "--batch", "8,256")
    assert (small["batch"], large["batch"]) == (8, 256)
    assert small["bytes"]["weights"] == large["bytes"]["weights"]
    assert large["bytes"]["input"] == 32 * small["bytes"]["input"]


def test_an_optimizer_fills_in_for_one_that_is_not_known(here: Path, run: Run) -> None:
    Path("train.py").write_text(SCRIPT.replace('"adam"', "chosen()"))
    unknown = record(run, "train.py")
    assert (unknown["bytes"]["slots"], unknown["bytes"]["high"], unknown["known"]) == (None, None, False)
    assert unknown["missing"][0]["option"] == "--optimizer"
    for words, slots in (("sgd", 0), ("SGD(momentum=0.9)", 1), ("adam", 2), ("Adam(amsgrad=True)", 3)):
        made = record(run, "train.py", "--optimizer", words)
        assert (made["bytes"]["slots"], made["known"]) == (slots * WEIGHTS, True), words


def test_precision_fills_in(script: Path, run: Run) -> None:
    assert record(run, "train.py", "--precision", "mixed_float16")["precision"] == "mixed_float16"


def test_mode_is_as_asked(script: Path, run: Run) -> None:
    graph, eager, jit = (record(run, "train.py", *words)["mode"] for words in ([], ["--eager"], ["--jit"]))
    assert (graph, eager, jit) == ("graph", "eager", "jit")


def test_predict_takes_a_step_without_gradients(script: Path, run: Run) -> None:
    trained, asked = record(run, "train.py"), record(run, "train.py", "--predict")
    assert asked["optimizer"] is None
    assert asked["bytes"]["slots"] == 0 and asked["bytes"]["low"] < trained["bytes"]["low"]


def test_steps_are_chosen_by_function_and_model(here: Path, run: Run) -> None:
    text = (
        NET
        + DATA
        + """
def first():
    model = make()
    model.compile("adam", loss)
    model.fit(x, y, batch_size=64)


def second():
    other = make(8)
    other.compile("sgd", loss)
    other.fit(x, y, batch_size=32)


first()
second()
"""
    )
    Path("train.py").write_text(text)
    assert [each["batch"] for each in records(run, "train.py")] == [64, 32]
    assert record(run, "train.py", "--function", "second")["batch"] == 32
    assert record(run, "train.py", "--model", "model")["batch"] == 64
    assert records(run, "train.py", "--function", "first", "--model", "model") == records(run, "train.py")[:1]
    for words in (["--function", "third"], ["--model", "mode"], ["--function", "first", "--model", "other"]):
        done = run("estimate", "train.py", *words)
        assert (done.code, done.out) == (2, "")
        assert f"{words[0]} {words[1]}: no training step and no predict of that is seen in train.py" in done.err


def test_a_loop_is_known_by_the_function_that_it_calls(here: Path, run: Run) -> None:
    Path("train.py").write_text(
        NET
        + """
import tensorflow as tf

net, other = make(), make(8)
optimizer = keras.optimizers.Adam()
ds = tf.data.Dataset.from_tensor_slices((tf.zeros((640, 32, 32, 3)), tf.zeros((640,), tf.int64))).batch(64)


@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, net(x), from_logits=True))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))


for x, y in ds:
    learn(x, y)
other.predict(ds)
"""
    )
    assert len(records(run, "train.py")) == 2
    assert record(run, "train.py", "--function", "learn") == record(run, "train.py", "--model", "net")
    assert record(run, "train.py", "--model", "other")["call"] == "other.predict(...)"


def test_what_if_may_be_left_out(script: Path, run: Run) -> None:
    assert record(run, "train.py")["what_if"] is not None
    assert record(run, "train.py", "--no-what-if")["what_if"] is None
    assert "what would save" not in run("estimate", "train.py", "--no-what-if").out


def test_layers_are_listed_when_asked_for(script: Path, run: Run) -> None:
    assert "64 x 32 x 32 x 64" not in run("estimate", "train.py").out
    assert "64 x 32 x 32 x 64" in run("estimate", "train.py", "--per-layer").out


@pytest.mark.parametrize("name", ["text", "json", "github", "svg", "html"])
def test_each_format_can_be_written_to_a_file(name: str, script: Path, run: Run) -> None:
    done = run("estimate", "train.py", "--output-format", name, "-o", "report")
    assert (done.code, done.out, done.err) == (0, "", "")
    text = Path("report").read_text("utf-8")
    assert "train.py" in text
    if name == "svg":
        ElementTree.fromstring(text)


# -- budgets


@pytest.mark.parametrize(
    ("words", "code"), [([], 0), (["--gpu-memory", "16GiB"], 0), (["--gpu-memory", "1GiB"], 1), (["--gpu", "T4"], 0)]
)
def test_a_step_over_its_budget_fails_the_run(words: list[str], code: int, script: Path, run: Run) -> None:
    assert run("estimate", "train.py", *words).code == code


def test_the_budget_is_shown(script: Path, run: Run) -> None:
    budget = record(run, "train.py", "--gpu", "t4")["budget"]
    assert (budget["card"], budget["bytes"], budget["verdict"]) == ("T4", 16 << 30, "fits")
    assert 12 << 30 < budget["usable"] < 16 << 30 and budget["largest_batch"] > 1000
    fits = record(run, "train.py", "--gpu", "T4", "--batch", str(budget["largest_batch"]))
    assert fits["budget"]["verdict"] in ("fits", "may not fit")
    over = run("estimate", "train.py", "--gpu", "T4", "--batch", str(2 * budget["largest_batch"]))
    assert over.code == 1 and "does not fit into" in over.out
    slice_of = record(run, "train.py", "--gpu", "A100", "--gpu-memory", "20GiB")["budget"]
    assert (slice_of["card"], slice_of["bytes"]) == ("A100", 20 << 30)


def test_the_budget_may_stand_in_the_configuration(script: Path, run: Run) -> None:
    Path("tfmemlint.toml").write_text('gpu-memory = "1GiB"\n')
    assert run("estimate", "train.py").code == 1
    assert run("estimate", "train.py", "--isolated").code == 0
    assert run("estimate", "train.py", "--gpu-memory", "16GiB").code == 0


# -- bad input


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing.py"], "error: nothing.py: no such file or directory"),
        (["--gpu", "T5"], "error: --gpu T5: no such card; did you mean T4? (or give its size: --gpu-memory 16GiB)"),
        (["--gpu", "quantum"], "error: --gpu quantum: no such card; known are "),
        (["--gpu-memory", "big"], "argument --gpu-memory: 'big' is not a size; write a number of bytes or a text"),
        (["--batch", "0"], "argument --batch: '0' is not a batch size, or some parted by commas"),
        (["--batch", "many"], "argument --batch: 'many' is not a batch size"),
        (["--batch", "8,,x"], "argument --batch: '8,,x' is not a batch size"),
        (["--input", "8x"], "argument --input: '8x' is not the shape of one example; write its sizes with commas"),
        (["--input", "8x8x3"], "argument --input: '8x8x3' is not the shape of one example; write its sizes"),
        (["--input", "8,8x3"], "argument --input: '8,8x3' is not the shape of one example; write its sizes"),
        (["--input", "a,b"], "argument --input: 'a,b' is not the shape of one example; write its sizes with commas"),
        (["--optimizer", "adma"], "argument --optimizer: 'adma' is no optimizer of Keras; did you mean"),
        (["--optimizer", "SGD(fast)"], "argument --optimizer: 'fast' of 'SGD(fast)' is no NAME=NUMBER"),
        (["--optimizer", "SGD(momentum=x)"], "'momentum=x' of 'SGD(momentum=x)' is no NAME=NUMBER"),
        (["--precision", "half"], "argument --precision: invalid choice: 'half'"),
        (["--output-format", "pdf"], "argument --output-format: invalid choice: 'pdf'"),
        (["--eager", "--jit"], "argument --jit: not allowed with argument --eager"),
        (["--predict", "--eager"], "--predict and --eager cannot be used together"),
        (["-o", "no/such/folder"], "error: --output-file no/such/folder: no such file or directory"),
        (["--compare", "main"], "train.py: not in a git repository, so nothing is known of changes; leave --compare"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], said: str, script: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(script.parents[1]))
    done = run("estimate", *([] if "nothing.py" in words else ["train.py"]), *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.startswith("tfmemlint: ") and done.err.count("\n") == 1


def test_what_can_be_read_is_estimated_beside_what_cannot(script: Path, run: Run) -> None:
    Path("bad.py").write_text("import keras\ndef f(:\n")
    done = run("estimate", "train.py", "bad.py", "missing.py")
    assert done.code == 2
    assert re.findall(r"^train\.py:\d+", done.out, re.MULTILINE)
    assert re.search(r"bad\.py:2:7: cannot parse", done.err)
    assert "missing.py: no such file or directory" in done.err


def test_a_failure_of_ours_costs_its_own_file(script: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("other.py").write_text(SCRIPT)
    real = facts.follow

    def follow(file: Any, given: Any) -> Any:
        if file.source.path == "other.py":
            raise ZeroDivisionError("ours")
        return real(file, given)

    monkeypatch.setattr(facts, "follow", follow)
    done = run("estimate", ".")
    assert (done.code, done.err) == (
        3, "tfmemlint: internal error: other.py: the estimate failed: ZeroDivisionError: ours\n",
    )  # fmt: skip
    assert done.out.startswith(f"train.py:{LINE}  model.fit(...)")


def test_a_folder_without_a_step_says_what_to_name(here: Path, run: Run) -> None:
    Path("tool.py").write_text("import keras\nprint(keras.__version__)\n")
    done = run("estimate", ".")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("tfmemlint: no training step and no predict was seen in .; name the file that calls fit")
    assert done.err.count("\n") == 1
    assert run("estimate", "--output-format", "json", ".").out == "[]\n"


def test_a_model_that_is_not_seen_is_no_guess(here: Path, run: Run) -> None:
    Path("train.py").write_text("import keras\nmodel = keras.models.load_model('kept.keras')\nmodel.fit(x, y)\n")
    made = record(run, "train.py", "--gpu-memory", "1GiB")
    assert set(made["bytes"].values()) == {None}
    assert (made["line"], made["known"], made["layers"], made["budget"]) == (3, False, [], None)
    assert "--model" in [each["option"] for each in made["missing"]]
    done = run("estimate", "train.py", "--gpu-memory", "1GiB")
    assert "\n  peak  not known\n" in done.out and "fit into" not in done.out


def test_the_page_shows_json_as_it_is(script: Path, run: Run) -> None:
    page = (Path(__file__).parents[2] / "docs" / "estimate.md").read_text("utf-8")
    shown = json.loads(page.split("```json\n")[1].split("```")[0])
    made = record(run, "train.py", "--gpu", "T4")
    assert list(shown) == list(made)
    for key in ("model", "bytes", "peak", "budget"):
        assert list(shown[key]) == list(made[key])
    for key in ("alive", "layers", "what_if"):
        assert list(shown[key][0]) == list(made[key][0])


def test_help_names_every_option(run: Run) -> None:
    done = run("estimate", "--help")
    assert done.code == 0
    options = (
        "--batch", "--input", "--optimizer", "--precision", "--function", "--model", "--predict", "--eager", "--jit",
        "--gpu-memory", "--gpu", "--output-format", "--per-layer", "--what-if", "--compare",
        "--measure", "--python", "--timeout",
    )  # fmt: skip
    assert [option for option in options if option not in done.out] == []
    assert max(map(len, done.out.splitlines())) <= 120


def test_the_command_starts_without_the_rules() -> None:
    code = "from tfmemlint.cli import main\nmain(['estimate', '--help'])\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", f"import sys\n{code}"], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "tfmemlint.cli.estimate.arguments" in loaded
    assert not loaded & {"libcst", "rich", "tfmemlint_rules", "tensorflow", "numpy", "tfmemlint.model.file"}


# -- comparing


@pytest.fixture
def repository(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    git("init", "--quiet", "--initial-branch=main")
    (here / "net.py").write_text(NET)
    (here / "train.py").write_text("import keras\nimport numpy as np\nfrom net import make\n" + DATA + TRAIN)
    git("add", "--all")
    git("commit", "--quiet", "--message", "state")
    return here


def test_a_change_moves_the_peak(repository: Path, run: Run) -> None:
    old = record(run, "train.py")
    train = repository / "train.py"
    train.write_text("# one more line\n" + train.read_text().replace("batch_size=64", "batch_size=128"))
    made = record(run, "train.py", "--compare", "main")
    assert made["before"] == {"ref": "main", "low": old["bytes"]["low"], "high": old["bytes"]["high"],
                              "change": made["bytes"]["low"] - old["bytes"]["low"]}  # fmt: skip
    assert made["before"]["change"] > 0
    text = run("estimate", "train.py", "--compare", "main").out
    assert re.search(r"\n  at main +[\d.]+ \.\. [\d.]+ MiB; now [\d.]+ MiB more \(\+\d+ %\)\n", text)


def test_a_change_in_another_module_counts(repository: Path, run: Run) -> None:
    (repository / "net.py").write_text(NET.replace("width=64", "width=8"))
    made = record(run, "train.py", "--compare", "HEAD")
    assert made["before"]["change"] < 0
    assert "less" in run("estimate", "train.py", "--compare", "HEAD").out


def test_an_unchanged_file_is_the_same(repository: Path, run: Run) -> None:
    assert record(run, "train.py", "--compare", "main")["before"]["change"] == 0


def test_what_was_not_there_is_said_to_be_new(repository: Path, run: Run) -> None:
    (repository / "new.py").write_text(SCRIPT)
    assert record(run, "new.py", "--compare", "main")["before"] == {
        "ref": "main", "low": None, "high": None, "change": None,
    }  # fmt: skip
    assert "at main            not there\n" in run("estimate", "new.py", "--compare", "main").out


def test_a_renamed_file_is_found(repository: Path, run: Run) -> None:
    git("mv", "train.py", "learn.py")
    assert record(run, "learn.py", "--compare", "main")["before"]["change"] == 0


def test_an_unknown_revision_is_named(repository: Path, run: Run) -> None:
    done = run("estimate", "train.py", "--compare", "nonesuch")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("tfmemlint: error: --compare nonesuch: no such revision in ")


def test_comparing_leaves_nothing_behind(repository: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = repository / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    assert run("estimate", "train.py", "--compare", "main").code == 0
    assert list(temporary.iterdir()) == []


def test_names_of_a_hostile_tree_lead_nowhere_else(repository: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree with an entry `..`, which git itself would not make, and one with a name that no system takes."""

    def stored(kind: str, data: bytes) -> bytes:
        command = ("git", "hash-object", "-t", kind, "-w", "--stdin", "--literally")
        return bytes.fromhex(subprocess.run(command, input=data, check=True, capture_output=True).stdout.decode())

    blob = stored("blob", SCRIPT.encode())
    inner = stored("tree", b"100644 evil.py\0" + blob)
    entries = b"40000 ..\0" + inner, b"100644 " + b"n" * 300 + b".py\0" + blob, b"100644 train.py\0" + blob
    tree = stored("tree", b"".join(entries)).hex()
    commit = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit-tree", tree, "-m", "x"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    temporary = repository / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = {path for path in repository.rglob("*") if ".git" not in path.parts}
    assert record(run, "train.py", "--compare", commit)["before"]["change"] == 0
    assert {path for path in repository.rglob("*") if ".git" not in path.parts} == before


def made(call: str, model: str = "Sequential", line: int = 1) -> TrainingStep:
    return TrainingStep(line, call, model, ())


def test_steps_are_matched_by_call_and_model_in_order() -> None:
    old = [made("a.fit(...)", "A", 1), made("a.fit(...)", "B", 2), made("b.fit(...)", "C", 3)]

    def lines(*steps: TrainingStep) -> list[int | None]:
        return [each and each.line for each in Older("r", old).matched(steps)]

    assert lines(made("a.fit(...)", "B"), made("a.fit(...)", "A")) == [2, 1]
    changed = made("c.fit(...)", "D"), made("b.fit(...)", "X"), made("a.fit(...)", "A"), made("d.fit(...)")
    assert lines(*changed) == [2, 3, 1, None]
    assert Older("r", []).matched(changed) == [None] * 4


def test_the_summary_of_a_job_has_a_table_and_the_curve(repository: Path, run: Run) -> None:
    (repository / "net.py").write_text(NET.replace("width=64", "width=128"))
    done = run("estimate", "train.py", "--compare", "main", "--output-format", "github", "--gpu", "T4")
    lines = done.out.splitlines()
    assert lines[0].startswith("### ") and "| step | batch | peak | at main | fits |" in lines
    assert "```text" in lines and any("▲" in line for line in lines)
    assert not any(line.startswith("::") for line in lines)
