"""Rules that announce an error: TensorFlow raises it for the sample, and not for the repaired one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tfmemlint_fixtures
from tensorflow_runs import run_programs

from tfmemlint.config.settings import Config
from tfmemlint.finding import Severity
from tfmemlint.lint.engine import lint
from tfmemlint.lint.registry import load_rules
from tfmemlint.verify.evidence import Sample, read_samples

pytestmark = pytest.mark.tensorflow

# Besides the measured samples of the fixtures: other ways to the same errors. Rule, text of the error, flagged program,
# program without the finding.
MORE = {
    "visible devices too late": (
        "TFM101",
        "RuntimeError: Visible devices cannot be modified after being initialized",
        "import tensorflow as tf\ndata = tf.data.Dataset.range(3)\ntf.config.set_visible_devices([], 'GPU')\n",
        "import tensorflow as tf\ntf.config.set_visible_devices([], 'GPU')\ndata = tf.data.Dataset.range(3)\n",
    ),
    "limit too late": (
        "TFM101",
        "RuntimeError: Virtual devices cannot be modified after being initialized",
        "import tensorflow as tf\nmean = tf.keras.metrics.Mean()\ngpu = tf.config.list_physical_devices('GPU')[0]\n"
        "tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=64)])\n",
        "import tensorflow as tf\ngpu = tf.config.list_physical_devices('GPU')[0]\n"
        "tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=64)])\n",
    ),
    "growth for a slice": (
        "TFM102",
        "ValueError: Memory growth cannot differ between GPU devices",
        "import tensorflow as tf\nfor gpu in tf.config.list_physical_devices('GPU')[:1]:\n"
        "    tf.config.experimental.set_memory_growth(gpu, True)\ntf.zeros([1])\n",
        "import tensorflow as tf\nfor gpu in tf.config.list_physical_devices('GPU'):\n"
        "    tf.config.experimental.set_memory_growth(gpu, True)\ntf.zeros([1])\n",
    ),
    "a model built by hand": (
        "TFM101",
        "RuntimeError: Visible devices cannot be modified after being initialized",
        "import tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(2)])\nmodel.build((None, 4))\n"
        "tf.config.set_visible_devices([], 'GPU')\n",
        "import tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(2)])\n"
        "tf.config.set_visible_devices([], 'GPU')\nmodel.build((None, 4))\n",
    ),
    "a model made step by step": (
        "TFM101",
        "RuntimeError: Visible devices cannot be modified after being initialized",
        "import tensorflow as tf\nmodel = tf.keras.Sequential()\nmodel.add(tf.keras.Input((4,)))\n"
        "model.add(tf.keras.layers.Dense(2))\ntf.config.set_visible_devices([], 'GPU')\n",
        "import tensorflow as tf\nmodel = tf.keras.Sequential()\nmodel.add(tf.keras.Input((4,)))\n"
        "model.add(tf.keras.layers.Flatten())\ntf.config.set_visible_devices([], 'GPU')\n",
    ),
    "a limit after growth is refused": (
        "TFM103",
        "ValueError: Cannot set memory growth on device when virtual devices configured",
        "import tensorflow as tf\ncards = tf.config.list_physical_devices('GPU')\n"
        "limit = tf.config.LogicalDeviceConfiguration(memory_limit=64)\n"
        "for card in cards:\n    tf.config.set_logical_device_configuration(card, [limit])\n"
        "for card in cards:\n    tf.config.experimental.set_memory_growth(card, True)\n",
        "import tensorflow as tf\ncards = tf.config.list_physical_devices('GPU')\n"
        "limit = tf.config.LogicalDeviceConfiguration(memory_limit=64)\n"
        "for card in cards:\n    tf.config.set_logical_device_configuration(card, [limit])\n",
    ),
    "the name of a physical device": (
        "TFM107",
        "ValueError: Failed parsing device name",
        "import tensorflow as tf\ncpu = tf.config.list_physical_devices('CPU')[0]\n"
        "print(tf.config.experimental.get_memory_info(cpu.name))\n",
        "import tensorflow as tf\ncpu = tf.config.list_logical_devices('CPU')[0]\n"
        "print(tf.config.experimental.get_memory_info(cpu.name))\n",
    ),
    "no card and no processor": (
        "TFM111",
        "NotFoundError: No CPU devices are available",
        "import tensorflow as tf\ntf.config.set_visible_devices([])\ntf.zeros([1])\n",
        "import tensorflow as tf\ntf.config.set_visible_devices([], 'GPU')\ntf.zeros([1])\n",
    ),
    "a device without an index": (
        "TFM107",
        "ValueError: Failed parsing device name",
        "import tensorflow as tf\nprint(tf.config.experimental.get_memory_info('CPU'))\n",
        "import tensorflow as tf\nprint(tf.config.experimental.get_memory_info('CPU:0'))\n",
    ),
    "a physical device's name": (
        "TFM107",
        "ValueError: Failed parsing device name",
        "import tensorflow as tf\nprint(tf.config.experimental.get_memory_info('/physical_device:CPU:0'))\n",
        "import tensorflow as tf\nprint(tf.config.experimental.get_memory_info('/device:CPU:0'))\n",
    ),
    "a device object": (
        "TFM107",
        "TypeError",
        "import tensorflow as tf\n"
        "print(tf.config.experimental.get_memory_info(tf.config.list_physical_devices('CPU')[0]))\n",
        "import tensorflow as tf\nprint(tf.config.experimental.get_memory_info('CPU:0'))\n",
    ),
    "one visible card and no processor": (
        "TFM111",
        "NotFoundError: No CPU devices are available",
        "import tensorflow as tf\ntf.config.set_visible_devices(tf.config.list_physical_devices('GPU')[0])\n"
        "tf.zeros([1])\n",
        "import tensorflow as tf\ntf.config.set_visible_devices([], 'GPU')\ntf.zeros([1])\n",
    ),
}


def _samples() -> dict[str, Sample]:
    """The measured samples of the fixtures that raise at once, by folder."""
    root = Path(tfmemlint_fixtures.__path__[0])
    return {s.folder.name: s for s in read_samples(root) if s.claim.error is not None and s.fast}


def _table() -> dict[str, tuple[str, str, str, str]]:
    found = {
        name: (sample.code, str(sample.claim.error), sample.pair.before.source, sample.pair.after.source)
        for name, sample in _samples().items()
    }
    return {**found, **MORE}


TABLE = _table()


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """What came of all programs, run under one imported TensorFlow."""
    keys = [(name, side) for name in TABLE for side in ("before", "after")]
    sources = {(name, side): TABLE[name][2 if side == "before" else 3] for name, side in keys}
    programs = [{"source": sources[key], "gpus": 2} for key in keys]
    return dict(zip(keys, run_programs(tmp_path_factory.mktemp("errors"), programs), strict=True))


def test_every_rule_of_an_error_is_here() -> None:
    """Raised on a CPU; or else by a measured sample: of a child that hangs, of a setting that a card's memory shows."""
    wanted = {r.code for r in load_rules() if r.severity is Severity.ERROR and r.code[:4] in ("TFM1", "TFM2")}
    samples = read_samples(Path(tfmemlint_fixtures.__path__[0]))
    slow = {s.code for s in samples if s.claim.error is not None or s.claim.metric == "device_bytes"}
    assert wanted <= {entry[0] for entry in TABLE.values()} | slow


@pytest.mark.parametrize("name", TABLE)
def test_the_announced_error_is_raised(name: str, outcomes: dict[tuple[str, str], dict[str, Any]]) -> None:
    assert str(outcomes[name, "before"]["error"]).startswith(TABLE[name][1])


@pytest.mark.parametrize("name", TABLE)
def test_the_repaired_program_does_not_raise(name: str, outcomes: dict[tuple[str, str], dict[str, Any]]) -> None:
    assert outcomes[name, "after"]["error"] is None


@pytest.mark.parametrize("name", TABLE)
def test_the_rule_reports_the_one_and_not_the_other(name: str) -> None:
    code, _, before, after = TABLE[name]
    rules = [rule for rule in load_rules() if rule.code == code]
    found = [lint(text.encode(), "program.py", Config(), rules).findings for text in (before, after)]
    assert [len(findings) for findings in found] == [1, 0]


def test_the_message_announces_the_error() -> None:
    """What is said is the text of the error, where the error has one."""
    said = {}
    for name, (code, error, before, _) in TABLE.items():
        rules = [rule for rule in load_rules() if rule.code == code]
        (finding,) = lint(before.encode(), "program.py", Config(), rules).findings
        said[name] = error.partition(": ")[0] in finding.message
    assert said == dict.fromkeys(TABLE, True)
