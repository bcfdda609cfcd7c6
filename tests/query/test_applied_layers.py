"""What reaches layers, and which layers a model is made of."""

import libcst as cst
import pytest
from programs import model_of, value_in

from tfmemlint.query.keras.layers import (
    acts_on_last_axis,
    calls_items,
    in_layer,
    is_first,
    is_layer_output,
    layers_applied,
    layers_in,
)
from tfmemlint.query.repetition.repeats import repeats

APPLIED = [
    ("x = keras.Input([4])\nkeras.layers.Dense(2)(x)", [10]),
    ("x = keras.Input([4])\nd = keras.layers.Dense(2)\nd(x)\nd(x)", [10, 10]),
    ("keras.layers.Dense(2)(unknown)", [None]),
    ("keras.layers.Dense(2)", []),
    ("keras.layers.Dense(2)()", []),
    ("keras.layers.Conv2D(2, 3)(keras.Input([4, 4, 1]))", []),
    ("keras.Sequential([keras.Input([4]), keras.layers.Dense(3), keras.layers.Dense(2)])", [15, 8]),
    ("m = keras.Sequential()\nm.add(keras.layers.Dense(3, input_shape=(4,)))", [15]),
    ("keras.Sequential([keras.layers.Dense(3)])", [None]),
]


@pytest.mark.parametrize(("program", "expected"), APPLIED)
def test_parameters_of_applied_layers(program: str, expected: list[int | None]) -> None:
    found = layers_applied("tf.keras.layers.Dense").of(model_of(program))
    assert [each.parameters for each in found] == expected


MADE_OF = [
    ("model = keras.Sequential([keras.layers.Dense(3), keras.layers.Dropout(0.1)])", ["Dense", "Dropout"]),
    ("x = keras.Input([4])\ny = keras.layers.Dense(3)(x)\nmodel = keras.Model(x, keras.layers.ReLU()(y))",
     ["ReLU", "Dense"]),
    ("x = keras.Input([4])\ny = keras.layers.Dense(3)(x)\nmodel = keras.Model(inputs=x, outputs=y)", ["Dense"]),
    ("x = keras.Input([4])\na = keras.layers.Dense(3)(x)\nb = keras.layers.ReLU()(x)\n"
     "model = keras.Model(x, keras.layers.Concatenate()([a, b]))", ["Concatenate", "ReLU", "Dense"]),
    ("model = keras.models.load_model(path)", []),
    ("model = keras.Sequential(layers)", []),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), MADE_OF)
def test_layers_that_a_model_is_made_of(program: str, expected: list[str]) -> None:
    file = model_of(program)
    made = next(file.call(assign.value) for assign in file.tree.of(type(file.module.body[-1].body[0]))
                if assign.targets[0].target.value == "model")  # fmt: skip
    assert [layer.method for layer in layers_in(file, made)] == expected


WITHIN = [
    ("class A(keras.layers.Layer):\n    def call(self, x): probe()", True),
    ("class A(keras.Model):\n    def call(self, x): probe()", True),
    ("class A(keras.layers.Layer): pass\nclass B(A):\n    def call(self, x): probe()", True),
    ("class A:\n    def call(self, x): probe()", False),
    ("probe()", False),
]


@pytest.mark.parametrize(("program", "expected"), WITHIN)
def test_code_in_methods_of_layers(program: str, expected: bool) -> None:
    file = model_of(program)
    assert in_layer(file, file.calls_by_word["probe"][0]) is expected


OUTPUTS = [
    ("keras.layers.Dense(2)(tf.zeros([3, 4]))", True),
    ("tf.square(keras.layers.Dense(2)(tf.zeros([3, 4])))", True),
    ("tf.square(tf.zeros([3, 4]))", False),
    ("keras.layers.Dense(2)", False),
    ("unknown(x)", False),
]


@pytest.mark.parametrize(("expression", "expected"), OUTPUTS)
def test_outputs_of_layers(expression: str, expected: bool) -> None:
    assert is_layer_output(value_in(model_of(expression))) is expected


ITEMS = [
    ("for layer in layers: x = layer(x)", True),
    ("for i, layer in enumerate(layers): x = layer(x)", True),
    ("for x in data: model(x)", False),
    ("for x in data: x.f()", False),
]


@pytest.mark.parametrize(("program", "expected"), ITEMS)
def test_loops_that_call_their_items(program: str, expected: bool) -> None:
    file = model_of(program)
    again = repeats(file, file.tree.of(cst.For)[0].body)
    assert again is not None
    assert calls_items(file, again) is expected


LAST_AXIS = [
    ("keras.layers.Dense(3)", "Dense"),
    ("keras.layers.Dense(3, activation='relu')", "Dense"),
    ("keras.layers.Dense(3, activation=tf.nn.softmax)", "Dense"),
    ("keras.layers.Dense(3, activation=own)", None),
    ("keras.layers.Dense(3, activity_regularizer='l2')", None),
    ("keras.layers.Dense(3, **options)", None),
    ("keras.layers.LayerNormalization()", "LayerNormalization"),
    ("keras.layers.LayerNormalization(axis=1)", None),
    ("keras.layers.Dropout(0.1, noise_shape=shape)", None),
    ("keras.layers.BatchNormalization()", None),
    ("keras.layers.Flatten()", None),
    ("class D(keras.layers.Dense): pass\nD(3)", None),
    ("unknown", None),
]


@pytest.mark.parametrize(("program", "expected"), LAST_AXIS)
def test_layers_that_act_on_the_last_axis_alone(program: str, expected: str | None) -> None:
    assert acts_on_last_axis(value_in(model_of(program))) == expected


FIRST = [
    ("i = keras.Input((3,))\nprobe()(i)", True),
    ("i = keras.Input((3,))\nlayer = probe()\nlayer(i)", True),
    ("i = keras.Input((3,))\nprobe()(keras.layers.Dense(3)(i))", False),
    ("probe()(x)", False),
    ("keras.Sequential([probe(), keras.layers.Dense(3)])", True),
    ("keras.Sequential([keras.Input((3,)), probe()])", True),
    ("keras.Sequential([keras.layers.Dense(3), probe()])", False),
    ("m.add(probe(input_shape=(3,)))", True),
    ("m.add(probe())", False),
]


@pytest.mark.parametrize(("program", "expected"), FIRST)
def test_layers_on_the_input_of_a_model(program: str, expected: bool) -> None:
    file = model_of(program)
    assert is_first(file, file.call(file.calls_by_word["probe"][0])) is expected
