"""Shapes and parameters read from a program are those that Keras gives the model, or nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import libcst as cst
import pytest
from random_models import HEADER, programs

from tfmemlint.config.settings import Config
from tfmemlint.model.file import File
from tfmemlint.model.layers.networks import parameters, placed
from tfmemlint.model.values import Array
from tfmemlint.text.read import read_source

KERAS = """
import json, sys
found = []
for program in json.load(sys.stdin):
    names = {}
    try:
        exec(program, names)
        model = names["model"]
        found.append([model.count_params(), list(model.output_shape)])
    except (ValueError, TypeError) as error:
        found.append([str(error)[:60], None])
json.dump(found, sys.stdout)
"""


def read(program: str) -> tuple[int | None, list[int | None] | None]:
    """The parameters and the output's shape of the program's `model` as the tool knows them."""
    source = read_source(program.encode(), "model.py")
    file = File(source, cst.parse_module(source.text), Config())
    scopes = (file.module, *file.tree.of(cst.FunctionDef))
    made = [definition for scope in scopes for definition in file.flow(scope).end.get("model", ())]
    model = next(file.call(d.value) for d in made if isinstance(d.value, cst.Call))
    if model.name == "tf.keras.Sequential":
        last = list(placed(model))[-1].effect
        shape = last.shape if last is not None else None
    else:
        outputs = model.given("outputs")
        shape = outputs.shape if isinstance(outputs, Array) else None
    return parameters(model), None if shape is None else list(shape)


@pytest.mark.tensorflow
def test_parameters_and_shapes_are_those_of_keras() -> None:
    made = programs()
    run = subprocess.run(
        [sys.executable, "-c", KERAS], input=json.dumps(made), capture_output=True, text=True, check=True,
        env={**os.environ, "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"},
    )  # fmt: skip
    keras = json.loads(run.stdout)
    models = [(program, count, shape) for program, (count, shape) in zip(made, keras, strict=True) if shape is not None]
    assert len(models) >= 80
    known = 0
    for program, count, shape in models:
        found, found_shape = read(program)
        assert found in (count, None), f"{program}\n{found} is read, Keras counts {count}"
        assert found_shape in (shape, None), f"{program}\n{found_shape} is read, Keras says {shape}"
        known += found is not None and found_shape is not None
    assert known >= 0.9 * len(models)


START = "model = keras.Sequential([keras.Input((8,))])\n"


@pytest.mark.parametrize(
    "program",
    [
        START + "for n in sizes:\n    model.add(layers.Dense(n))",
        START + "for n in (4, 5):\n    model.add(layers.Dense(n))\n    if n: break",
        START + "for n in (4, 5):\n    if deep:\n        model.add(layers.Dense(n))",
        START + "while n:\n    model.add(layers.Dense(4))",
        "model = keras.Sequential([keras.Input((8,))])\nif deep:\n    model.add(layers.Dense(4))",
        "model = keras.Sequential([layers.Dense(4)])",
        "model = keras.Sequential([keras.Input((8,)), layers.Lambda(f), layers.Dense(4)])",
        "model = keras.Sequential([keras.Input((8,)), *middle, layers.Dense(4)])",
        "model = keras.Sequential([keras.Input((8,)), layers.Dense(4), layers.Dense(3)])\nmodel.pop()",
        "def more():\n    model.add(layers.Dense(4))\n" + START + "more()",
        "def more():\n    model.add(layers.Dense(4))\ndef most():\n    more()\n" + START + "most()",
        "def more(m):\n    m.add(layers.Dense(4))\n" + START + "more(model)",
        "def more(m):\n    m.add(layers.Dense(4))\ndef most(m):\n    more(m)\n" + START + "most(model)",
        "from parts import more\n" + START + "more(model)\nmodel.add(layers.Dense(4))",
        "from parts import more\n" + START + "for n in (4, 5):\n    more(model)\n    model.add(layers.Dense(4))",
        "x = i = keras.Input((8,))\nfor n in (8, 8):\n    x = layers.Dense(n)(x)\nmodel = keras.Model(i, x)",
        "i = keras.Input((8,))\na = layers.Dense(8)(i)\nmodel = keras.Model(i, layers.Dense(8)(a + i))",
    ],
)
def test_what_is_not_certain_has_no_count(program: str) -> None:
    assert read(HEADER + program + "\n")[0] is None


@pytest.mark.parametrize(
    "behind",
    [
        "def shown(m):\n    m.summary()\nshown(model)",
        "from parts import train\ntrain(model)",
        "def more(m):\n    m.add(layers.Dense(4))\nother = keras.Sequential()\nmore(other)",
    ],
)
def test_functions_that_add_no_layer_leave_the_count(behind: str) -> None:
    assert read(HEADER + START + "model.add(layers.Dense(4))\n" + behind + "\n")[0] == 36


def test_a_large_flattened_map_is_counted_through_a_pretrained_network() -> None:
    found = read(
        HEADER + "base = keras.applications.VGG16(include_top=False, input_shape=(224, 224, 3))\n"
        "model = keras.Model(base.input, layers.Dense(64)(layers.Flatten()(base.output)))\n"
    )
    assert found == (None, [None, 64])


FIRST = "keras.config.set_image_data_format('channels_first')\n"
IMAGES = "model = keras.Sequential([keras.Input({}), layers.Conv2D(8, 3{}), layers.MaxPooling2D(), layers.Flatten()])\n"
BUILD = "def build():\n    " + IMAGES + "    return model\n"
SET = (224, [None, 8 * 7 * 7])
FORMATS = [
    (FIRST + IMAGES.format("(3, 16, 16)", ""), SET),
    (FIRST.replace("config", "backend") + IMAGES.format("(3, 16, 16)", ""), SET),
    (FIRST.replace("first", "last") + IMAGES.format("(16, 16, 3)", ""), (224, [None, 7 * 7 * 8])),
    (FIRST + FIRST.replace("first", "last") + IMAGES.format("(16, 16, 3)", ""), (None, None)),
    (FIRST.replace("'channels_first'", "chosen") + IMAGES.format("(16, 16, 3)", ""), (None, None)),
    (IMAGES.format("(16, 16, 3)", "") + FIRST, (None, None)),
    ("if gpu:\n    " + FIRST + IMAGES.format("(16, 16, 3)", ""), (None, None)),
    ("if __name__ == '__main__':\n    " + FIRST + "    " + IMAGES.format("(3, 16, 16)", ""), SET),
    (f"def main():\n    {FIRST}    {IMAGES.format('(3, 16, 16)', '')}main()\n", SET),
    (f"def main():\n    {FIRST}    build()\n{BUILD.format('(3, 16, 16)', '')}main()\n", SET),
    (f"def main():\n    build()\n    {FIRST}{BUILD.format('(16, 16, 3)', '')}main()\n", (None, None)),
    (f"def start():\n    {FIRST}start()\n{IMAGES.format('(3, 16, 16)', '')}", SET),
    (f"def start():\n    {FIRST}if gpu: start()\n{IMAGES.format('(16, 16, 3)', '')}", (None, None)),
    (f"def start():\n    {FIRST}{IMAGES.format('(16, 16, 3)', '')}start()", (None, None)),
    (f"def f(n):\n    {FIRST}    g(n)\ndef g(n):\n    f(n)\n{IMAGES.format('(16, 16, 3)', '')}", (None, None)),
    ("model = keras.Sequential([keras.Input((3, 16, 16)), layers.Conv2D(8, 3, data_format='channels_first')])",
     (224, [None, 8, 14, 14])),
    (FIRST + "model = keras.Sequential([keras.Input((4, 16)), layers.Cropping1D(1), layers.Conv1D(8, 3)])",
     (56, [None, 8, 14])),
    (FIRST + "model = keras.Sequential([keras.Input((3, 8, 8)), layers.GlobalAveragePooling2D()])", (0, [None, 3])),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), FORMATS)
def test_the_format_of_images_that_a_program_sets(program: str, expected: tuple[int | None, list[int] | None]) -> None:
    assert read(HEADER + program + "\n") == expected


PRETRAINED = [
    ("ResNet50(classes=10)", 23_608_202), ("MobileNetV2(include_top=False)", 2_257_984), ("VGG16()", 138_357_544),
    ("VGG16(weights=None, input_shape=(64, 64, 3))", None), ("VGG16(classes=10, weights=None)", None),
    ("EfficientNetB0(weights=None, input_shape=(64, 64, 3))", 5_330_571), ("MobileNetV2(alpha=0.5)", None),
    ("DenseNet121(input_shape=(64, 64, 1), weights=None)", None), ("MobileNet(classes=n)", None),
]  # fmt: skip


@pytest.mark.parametrize(("network", "count"), PRETRAINED)
def test_parameters_of_pretrained_networks(network: str, count: int | None) -> None:
    assert read(f"from tensorflow import keras\nmodel = keras.applications.{network}")[0] == count
