"""Which layers give a model's outputs, and what its activations take."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.keras.networks import activation_bytes, layers_of, output_layers

STACK = "keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(2)])"


def test_a_stack_of_layers() -> None:
    file = model_of(STACK)
    (model,) = file.calls("tf.keras.Sequential")
    assert [file.text(layer.node)[-2] for layer in output_layers(file, model)] == ["2"]
    assert len(layers_of(model)) >= 2
    assert activation_bytes(model) == 4 * (8 + 2)


OUTPUTS = [
    ("x = keras.Input((4,))\nkeras.Model(x, keras.layers.Dense(2)(x))", ["keras.layers.Dense(2)"]),
    ("x = keras.Input((4,))\nd = keras.layers.Dense(2)\nkeras.Model(x, [d(x), e])", ["keras.layers.Dense(2)"]),
    ("keras.Model(x, y)", []),
]


@pytest.mark.parametrize(("program", "expected"), OUTPUTS)
def test_layers_that_give_outputs(program: str, expected: list[str]) -> None:
    file = model_of(program)
    (model,) = file.calls("tf.keras.Model")
    assert [file.text(layer.node) for layer in output_layers(file, model)] == expected


def test_what_the_call_of_a_class_returns() -> None:
    file = model_of(
        "class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
        "        self.out = keras.layers.Dense(2)\n    def call(self, x):\n        return self.out(x)"
    )
    (model,) = file.tree.of(cst.ClassDef)
    assert [file.text(layer.node) for layer in output_layers(file, model)] == ["keras.layers.Dense(2)"]


def test_a_model_without_products_has_no_activations_worth_a_word() -> None:
    file = model_of("keras.Sequential([keras.Input((4,)), keras.layers.Flatten()])")
    assert activation_bytes(next(file.calls("tf.keras.Sequential"))) is None
