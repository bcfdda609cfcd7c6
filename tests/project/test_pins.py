"""Which versions files of requirements let in, and what follows for the programs beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfmemlint.config.settings import Config
from tfmemlint.lint.parsing import parse
from tfmemlint.model.file import File
from tfmemlint.model.versions import asked_for
from tfmemlint.project.siblings import Siblings
from tfmemlint.query.keras.versions import (
    engine_unknown,
    frees_trained,
    keras_2,
    may_have_own_engine,
    own_engine,
)
from tfmemlint.text.pins import NEWEST, pins_described, pins_in_notebook, pins_of
from tfmemlint.text.read import read_source


@pytest.mark.parametrize(
    ("text", "tensorflow", "keras"),
    [
        ("numpy==1.16.4\r\ntensorflow-gpu==1.14.0\r\nKeras==2.2.4\r\n", (1, 14, 0, 99), (2, 2, 4, 99)),
        ("tensorflow-estimator==1.14.0\ntensorflow>=2.0\nkeras-tuner==1.0.2\n", NEWEST, NEWEST),
        ("tensorflow_datasets==4.9\ntensorflow[and-cuda]==2.15.0\n", (2, 15, 0, 99), NEWEST),
        ("tensorflow<2\n", (1, 99), NEWEST),
        ("tensorflow<2.4.0\n", (2, 3, 99), NEWEST),
        ("tensorflow<=1.15 ; python_version < '3'\n", (1, 15, 99), NEWEST),
        ("tensorflow~=1.14\n", (1, 99), NEWEST),
        ("tensorflow==1.15\ntensorflow-gpu==2.3\n", (2, 3, 99), NEWEST),
        ("tensorflow==1.15\ntensorflow\n", NEWEST, NEWEST),
        ("# tensorflow==1.15\n", NEWEST, NEWEST),
        ("dependencies:\n  - tensorflow=1.13.1\n  - pip:\n    - keras==2.2.4\n", (1, 13, 1, 99), (2, 2, 4, 99)),
        ('[packages]\nkeras = "==2.2.4"\ntensorflow = "*"\n', NEWEST, (2, 2, 4, 99)),
        ("setup(install_requires=[\n    'tensorflow==1.15',\n    'keras<2.4',\n])\n", (1, 15, 99), (2, 3, 99)),
        ("", NEWEST, NEWEST),
    ],
)  # fmt: skip
def test_latest_versions_that_a_file_lets_in(text: str, tensorflow: tuple[int, ...], keras: tuple[int, ...]) -> None:
    assert pins_of(text) == (tensorflow, keras)


@pytest.mark.parametrize(
    ("text", "tensorflow", "keras"),
    [
        ("# Captions\n<li>Tensorflow - 1.13.1</li>\n<li>Keras - 2.2.4</li>\n", (1, 13, 1, 99), (2, 2, 4, 99)),
        ("Tested with `tensorflow 1.14.0`, `keras 2.2.4` and `numpy 1.16.4`.\n", (1, 14, 0, 99), (2, 2, 4, 99)),
        ("pip install tensorflow-gpu==1.12.0\n", (1, 12, 0, 99), NEWEST),
        ("TensorFlow 1.4 at first, TensorFlow 2.2 now\n", NEWEST, NEWEST),
        ("Tensorflow 1.13+ and Keras 2.2.4+, tensorflow >= 1.4.0, keras 2.0 or higher\n", NEWEST, NEWEST),
        ("tensorflow 2.9.1, my-keras 1.2, keras_1.2\n", NEWEST, NEWEST),
        ("* Python 3.6.x\n* TensorFlow 1.x\n* Keras \n", (1, 99), NEWEST),
        ("Needs TensorFlow 1.X and Keras 2.x.\n", (1, 99), NEWEST),
        ("Runs on TensorFlow 1.x and 2.x, or TensorFlow 1.15/2.3\n", NEWEST, NEWEST),
        ("TensorFlow 1.15, 2 GPUs; not with TensorFlow 2\n", (1, 15, 99), NEWEST),
    ],
)
def test_old_versions_that_a_description_names(text: str, tensorflow: tuple[int, ...], keras: tuple[int, ...]) -> None:
    assert pins_described(text) == (tensorflow, keras)


@pytest.mark.parametrize(
    ("raw", "tensorflow", "keras"),
    [
        ('{"source": ["!pip install -q keras==2.1.5\\n"]}', NEWEST, (2, 1, 5, 99)),
        ('{"language_info": {"name": "python", "version": "3.4.4"}}', (1, 14), NEWEST),
        ('{"language_info": {"name": "python", "version": "3.12.1"}}', NEWEST, NEWEST),
        ('{"source": ["pip install keras-tuner==1.0"], "version": "3.4"}', NEWEST, NEWEST),
    ],
)
def test_latest_versions_that_a_notebook_was_run_with(
    raw: str, tensorflow: tuple[int, ...], keras: tuple[int, ...]
) -> None:
    assert pins_in_notebook(raw) == (tensorflow, keras)


def program(root: Path, text: str, name: str = "train.py") -> File:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    source = read_source(text.encode(), str(path))
    module, _, _ = parse(source)
    assert module is not None
    top = root.parent
    siblings = Siblings(str(path), str(top), lambda each: parse(each)[0])
    return File(source, module, Config(project_root=str(top)), siblings)


def test_the_nearest_folder_that_pins_anything_counts(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("tensorflow==2.15\n")
    (tmp_path / "setup.py").write_text("tensorflow\n")
    below = tmp_path / "old"
    assert asked_for(program(below, "import keras\n")).tensorflow == (2, 15, 99)
    (below / "README.md").write_text("Tensorflow 1.4\n")
    (below / "requirements.txt").write_text("keras==2.2.4\n")
    found = asked_for(program(below, "import keras\n"))
    assert found == (NEWEST, (2, 2, 4, 99))


@pytest.mark.parametrize(
    ("pinned", "text", "version_1", "of_keras_2", "engine"),
    [
        ("tensorflow==1.15", "import tensorflow as tf\nprint(tf.zeros(3))\n", True, True, False),
        ("tensorflow==1.15", "import tensorflow as tf\n@tf.function\ndef f(): pass\n", False, True, False),
        ("tensorflow==2.3", "from tensorflow import keras\n", False, True, False),
        ("keras==2.2.4", "from keras.models import Model\n", False, True, True),
        ("keras==2.2.4", "from tensorflow.keras.models import Model\n", False, True, False),
        ("tensorflow==2.16", "from tensorflow import keras\n", False, False, False),
        ("tensorflow", "from keras.models import Model\n", False, False, False),
    ],
)
def test_what_a_program_is_taken_for(
    pinned: str, text: str, version_1: bool, of_keras_2: bool, engine: bool, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text(pinned + "\n")
    file = program(tmp_path / "src", text)
    assert (file.may_be_version_1, keras_2(file), own_engine(file)) == (version_1, of_keras_2, engine)


@pytest.mark.parametrize(
    ("pinned", "expected"),
    [
        ("tensorflow==2.10.0", True),
        ("tensorflow<2.11", True),
        ("tensorflow==2.4", True),
        ("tensorflow==2.3.1", False),  # nobody measured
        ("tensorflow==2.11", False),
        ("tensorflow>=2.4", False),
        ("keras==2.4", False),
    ],
)
def test_releases_that_free_trained_models(pinned: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(pinned + "\n")
    assert frees_trained(program(tmp_path / "src", "import tensorflow as tf\n")) is expected


@pytest.mark.parametrize(
    ("name", "beside", "text", "expected"),
    [
        ("old.py", "from keras.models import Graph\n", "from keras.models import load_model\n", True),
        ("old.py", "import keras\nfrom theano import tensor\n", "import keras\n", True),
        ("old.py", "from keras.models import Graph\n", "from tensorflow.keras.models import load_model\n", False),
        ("old.py", "from keras.layers.advanced_activations import ReLU\n", "import keras\n", False),
        ("old.py", "from theano import tensor\n", "import keras\n", False),
        ("below/old.py", "from keras.models import Graph\n", "import keras\n", False),
    ],
)
def test_programs_of_one_folder_have_one_keras(
    name: str, beside: str, text: str, expected: bool, tmp_path: Path
) -> None:
    other = tmp_path / "src" / name
    other.parent.mkdir(parents=True)
    other.write_text(beside)
    file = program(tmp_path / "src", text)
    assert may_have_own_engine(file) is expected
    if expected:
        assert file.siblings is not None
        rests_on = file.siblings.rests_on
        assert str(other) in rests_on and any(path.endswith("keras.py") for path in rests_on)


@pytest.mark.parametrize(
    ("pinned", "expected"),
    [
        ("keras", True),
        ("keras==2.4.3", False),
        ("keras==2.2.4", False),
        ("tensorflow==2.3", False),
        ("tensorflow", True),
        ("numpy==1.26", True),
    ],
)
def test_what_is_required_tells_the_engine_of_keras(pinned: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(pinned + "\n")
    assert engine_unknown(program(tmp_path / "src", "from keras.models import Model\n")) is expected


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ("from keras.layers import Dense\n", True),
        ("from tensorflow.keras.layers import Dense\n", False),
        ("import tensorflow as tf\nx = tf.data.Dataset.range(3)\n", False),
        ("from keras.layers import Rescaling\n", False),
    ],
)
def test_modules_around_tell_the_engine_of_keras(beside: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "nets.py").write_text(beside)
    assert engine_unknown(program(tmp_path / "src", "import nets\nfrom keras.models import Model\n")) is expected


@pytest.mark.parametrize(("python", "expected"), [("3.6.9", True), ("3.8.5", True), ("3.9.1", False), ("3.11", False)])
def test_the_python_of_a_notebook_tells_the_engine_of_keras(python: str, expected: bool, tmp_path: Path) -> None:
    text = json.dumps({
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": ["import keras\n"]}],
        "metadata": {"language_info": {"name": "python", "version": python}},
        "nbformat": 4,
        "nbformat_minor": 4,
    })
    assert engine_unknown(program(tmp_path, text, name="net.ipynb")) is expected
