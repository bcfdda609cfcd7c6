"""Rules that say bytes: what they say is what NumPy and TensorFlow take, before and after the repair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tfmemlint_fixtures
from tensorflow_runs import run_programs

from tfmemlint.config.settings import Config
from tfmemlint.finding import Finding
from tfmemlint.lint.engine import lint
from tfmemlint.lint.registry import load_rules

pytestmark = pytest.mark.tensorflow

HEAD = "import numpy as np\nimport tensorflow as tf\n"

# Rule and program; it reports the value that the finding is about under the name "value". The repair halves it.
HALVED = {
    "array by name": ("TFM201", "value = np.ones((4096, 2048), dtype=np.float64)\ntensor = tf.constant(value)\n"),
    "random array": ("TFM202", "value = np.random.rand(1000, 784)\ntensor = tf.constant(value)\n"),
    "sum of arrays": (
        "TFM202",
        "value = 3.0 * np.linspace(0, 1, 100_000)\ntensor = tf.data.Dataset.from_tensor_slices(value)\n",
    ),
    "zeros": ("TFM202", "value = np.zeros((1000, 28, 28, 3))\ntensor = tf.Variable(value)\n"),
    "scaled bytes": ("TFM203", "data = np.zeros((500, 32, 32, 3), dtype=np.uint8)\nvalue = data / 255.0\n"),
    "scaled words": ("TFM203", "data = np.ones((100, 480), np.uint16)\nvalue = data * 0.001\n"),
    "shifted bytes": ("TFM203", "data = np.ones((100, 28, 28), np.uint8)\nvalue = (data - 127.5) / 127.5\n"),
    "divided by name": ("TFM203", "data = np.ones((100, 28, 28), np.uint8)\nvalue = np.divide(data, 255.0)\n"),
    "scaled integers": ("TFM203", "data = np.ones((100, 28, 28), np.int32)\nvalue = data / 10\n"),
    "cast to float": ("TFM208", "value = np.arange(200_000).astype(float)\ntensor = tf.constant(value)\n"),
    "float by argument": ("TFM208", "value = np.zeros((300, 300), float)\ntensor = tf.constant(value)\n"),
}

# Rules that say no bytes: what they report is a setting, or numbers that are lost.
SILENT = ("TFM204", "TFM209", "TFM210")

# Rules without a repair, and values that go to unseen code, which may want float64: the estimate alone.
WHOLE = {
    "tensor by name": ("TFM201", "value = tf.zeros([4096, 2048], dtype=tf.float64)\nreport('value', value)\n"),
    "random by name": ("TFM201", "value = tf.random.normal((3000, 4000), dtype='float64')\nreport('value', value)\n"),
    "whole bounds": ("TFM201", "value = tf.linspace(0, 1, 9_000_000)\nreport('value', value)\n"),
    "variable by name": (
        "TFM201",
        "value = tf.Variable(np.ones((4096, 2048)), dtype=tf.float64)\nreport('value', value)\n",
    ),
    "as NumPy does": (
        "TFM201",
        "import tensorflow.experimental.numpy as tnp\nvalue = tnp.ones((4096, 2048))\nreport('value', value)\n",
    ),
    "divided integers": (
        "TFM201",
        "numbers = tf.ones([4096, 2048], tf.int32)\nvalue = numbers / 3\nreport('value', value)\n",
    ),
    "divided by mean": (
        "TFM201",
        "numbers = tf.random.uniform((3000, 4000), maxval=9, dtype=tf.int64)\n"
        "value = numbers / tf.constant(3, tf.int64)\n"
        "report('value', value)\n",
    ),
    "activations": (
        "TFM207",
        "image = tf.keras.Input((128, 128, 3))\n"
        "layers = [tf.keras.layers.Conv2D(64, 3), tf.keras.layers.Conv2D(32, 3, strides=2)]\n"
        "model = tf.keras.Sequential([image, layers[0], layers[1]])\n"
        "model.compile('sgd', 'mse')\n"
        "images = np.zeros((1, 128, 128, 3), np.float32)\n"
        "first = layers[0](images)\n"
        "report('value', np.concatenate([np.ravel(first), np.ravel(layers[1](first))]))\n"
        "rows = len(open(__file__).readline())\n"
        "model.fit(images, np.zeros((1, 62, 62, 32), np.float32), batch_size=rows, verbose=0)\n",
    ),
    "one-hot labels": (
        "TFM205",
        "numbers = np.zeros(4000, np.int64)\n"
        "value = tf.keras.utils.to_categorical(numbers, 500)\n"
        "model = tf.keras.Sequential([tf.keras.layers.Dense(500)])\n"
        "model.compile('sgd', 'categorical_crossentropy')\n"
        "report('value', value)\n"
        "model.fit(np.zeros((4000, 4), np.float32), value, verbose=0)\n",
    ),
    "one-hot tensor": (
        "TFM205",
        "numbers = np.zeros(4000, np.int64)\n"
        "value = tf.one_hot(numbers, 500)\n"
        "model = tf.keras.Sequential([tf.keras.layers.Dense(500)])\n"
        "model.compile('sgd', 'categorical_crossentropy')\n"
        "report('value', value)\n"
        "model.fit(np.zeros((4000, 4), np.float32), value, verbose=0)\n",
    ),
}


def _finding(code: str, text: str) -> tuple[Finding, str | None]:
    """The one finding of a rule and the text after its repair."""
    rules = [rule for rule in load_rules() if rule.code == code]
    result = lint(text.encode(), "program.py", Config(least_cost=0), rules)
    (finding,) = result.findings
    assert result.source is not None
    return finding, result.source.rewrite(finding.fix.edits).decode() if finding.fix is not None else None


def _codes() -> set[str]:
    return {code for code, _ in (*HALVED.values(), *WHOLE.values())} | {"TFM206"}


def test_every_dtype_rule_is_here() -> None:
    rules = {rule.code for rule in load_rules() if rule.code.startswith("TFM2")}
    assert _codes() | set(SILENT) == rules
    assert not _codes() & set(SILENT)


@pytest.mark.parametrize("code", SILENT)
def test_the_others_say_no_bytes(code: str) -> None:
    root = Path(tfmemlint_fixtures.__path__[0])
    rules = [rule for rule in load_rules() if rule.code == code]
    found = [
        finding
        for path in sorted(root.glob(f"{code}-*/*/bad.py"))
        for finding in lint(path.read_bytes(), path.name, Config(), rules).findings
    ]
    assert found
    assert {finding.bytes for finding in found} == {None}


def _programs() -> dict[tuple[str, str], str]:
    found = {}
    for name, (code, text) in HALVED.items():
        source = f"{HEAD}{text}report('value', value)\n"
        found[name, "before"] = source
        found[name, "after"] = str(_finding(code, source)[1])
    for name, (_, text) in WHOLE.items():
        found[name, "before"] = HEAD + text
    found["cast", "before"] = f"{HEAD}mask = tf.cast(tf.ones([8192, 4096]), tf.float16)\n"
    found["cast", "after"] = str(_finding("TFM206", found["cast", "before"])[1])
    return found


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """What came of all programs, run under one imported TensorFlow."""
    programs = _programs()
    answers = run_programs(tmp_path_factory.mktemp("bytes"), [{"source": text} for text in programs.values()])
    return dict(zip(programs, answers, strict=True))


@pytest.mark.parametrize("name", [*HALVED, *WHOLE])
def test_the_estimate_is_what_it_takes(name: str, outcomes: dict[tuple[str, str], dict[str, Any]]) -> None:
    code, text = {**HALVED, **WHOLE}[name]
    finding, _ = _finding(code, f"{HEAD}{text}")
    assert outcomes[name, "before"]["reports"]["value"] == pytest.approx(finding.bytes, rel=0.02)


@pytest.mark.parametrize("name", HALVED)
def test_the_repair_takes_half(name: str, outcomes: dict[tuple[str, str], dict[str, Any]]) -> None:
    code, text = HALVED[name]
    finding, _ = _finding(code, f"{HEAD}{text}")
    assert finding.bytes is not None
    assert outcomes[name, "after"]["error"] is None
    assert outcomes[name, "after"]["reports"]["value"] == pytest.approx(finding.bytes / 2, rel=0.02)


def test_a_tensor_made_and_cast_costs_its_first_dtype_too(outcomes: dict[tuple[str, str], dict[str, Any]]) -> None:
    finding, _ = _finding("TFM206", f"{HEAD}mask = tf.cast(tf.ones([8192, 4096]), tf.float16)\n")
    saved = outcomes["cast", "before"]["peak"] - outcomes["cast", "after"]["peak"]
    assert saved == pytest.approx(finding.bytes, rel=0.02)
