"""Which layers give a model's outputs, what they give, what activations take; what is an optimizer."""

import libcst as cst
import pytest
from programs import model_of, value_in

from tfmemlint.query.keras.networks import (
    activation_bytes,
    dense_width,
    gives_probabilities,
    has_several_outputs,
    input_bytes,
    layers_of,
    may_have_several_outputs,
    output_bytes,
    output_layers,
)
from tfmemlint.query.keras.weights import is_optimizer

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


PROBABILITIES = [
    ("keras.layers.Softmax()", True),
    ("keras.layers.Dense(2, activation='softmax')", True),
    ("keras.layers.Dense(2, tf.nn.sigmoid)", True),
    ("keras.layers.Activation('log_softmax')", True),
    ("keras.layers.Dense(2, activation='relu')", False),
    ("keras.layers.Dense(2)", False),
    ("keras.layers.LSTM(2, activation='sigmoid')", False),
]


@pytest.mark.parametrize(("layer", "expected"), PROBABILITIES)
def test_layers_that_give_probabilities(layer: str, expected: bool) -> None:
    file = model_of(layer)
    (made,) = file.tree.of(cst.Call)
    assert gives_probabilities(file.call(made)) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("keras.optimizers.Adam()", True), ("keras.layers.Dense(2)", False), ("'adam'", False), ("unknown", False)],
)
def test_optimizers(value: str, expected: bool) -> None:
    assert is_optimizer(value_in(model_of(f"probe({value})"))) is expected


GIVEN_OUT = [
    (f"probe({STACK})", 8, False),
    ("x = keras.Input((4, 4, 3))\nprobe(keras.Model(x, keras.layers.Conv2D(5, 1)(x)))", 4 * 4 * 4 * 5, False),
    ("x = keras.Input((4,))\nprobe(keras.Model(x, [keras.layers.Dense(2)(x), keras.layers.Dense(3)(x)]))", 20, True),
    ("x = keras.Input((None,))\nprobe(keras.Model(x, keras.layers.Embedding(9, 3)(x)))", None, False),
    ("x = keras.Input((4,))\nprobe(keras.Model(x, f(x)))", None, False),
    ("probe(keras.models.load_model('m', {}))", None, False),
    ("probe(unknown)", None, False),
]


@pytest.mark.parametrize(("program", "size", "several"), GIVEN_OUT)
def test_what_a_model_gives_for_one_example(program: str, size: int | None, several: bool) -> None:
    model = value_in(model_of(program))
    assert (output_bytes(model), has_several_outputs(model)) == (size, several)


TAKEN = [
    (f"probe({STACK})", 16),
    ("x = keras.Input((4, 4, 3))\nprobe(keras.Model(x, keras.layers.Conv2D(5, 1)(x)))", 4 * 4 * 4 * 3),
    ("x, y = keras.Input((4,)), keras.Input((6,))\nprobe(keras.Model([x, y], keras.layers.Dense(2)(x)))", 40),
    ("x = keras.Input((None,))\nprobe(keras.Model(x, keras.layers.Embedding(9, 3)(x)))", None),
    ("probe(keras.Sequential([keras.layers.Dense(2)]))", None),
    ("probe(unknown)", None),
]


@pytest.mark.parametrize(("program", "size"), TAKEN)
def test_what_a_model_takes_for_one_example(program: str, size: int | None) -> None:
    assert input_bytes(value_in(model_of(program))) == size


RETURNED = [
    ("self.out(x)", False),
    ("tf.nn.relu(self.out(x))", False),
    ("self.out(x), self.out(x)", True),
    ("{'out': self.out(x)}", True),
    ("self.given(x)", True),
]


@pytest.mark.parametrize(("result", "expected"), RETURNED)
def test_classes_that_may_give_several_tensors(result: str, expected: bool) -> None:
    file = model_of(
        "class Net(keras.Model):\n    def __init__(self, given):\n        super().__init__()\n"
        "        self.out, self.given = keras.layers.Dense(2), given\n"
        f"    def call(self, x):\n        return {result}\nprobe(Net(unknown))"
    )
    assert may_have_several_outputs(file, value_in(file)) is expected


def test_loaded_models_are_taken_to_give_one_tensor() -> None:
    file = model_of("probe(keras.models.load_model('m'))")
    assert not may_have_several_outputs(file, value_in(file))


WIDTHS = [
    ("keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(64), keras.layers.Dense(10)])", 64),
    ("keras.Sequential([keras.layers.Dense(units)])", 0),
    ("keras.Sequential([keras.layers.Conv2D(8, 3), keras.layers.Dense(10)])", None),
    ("x = keras.Input((4,))\nkeras.Model(x, keras.layers.Dense(32)(x))", 32),
    ("keras.models.load_model(path)", None),
]


@pytest.mark.parametrize(("program", "expected"), WIDTHS)
def test_widths_of_dense_networks(program: str, expected: int | None) -> None:
    *lines, last = program.split("\n")
    file = model_of("\n".join([*lines, f"m = {last}", "m"]))
    name = file.module.body[-1]
    assert isinstance(name, cst.SimpleStatementLine) and isinstance(name.body[0], cst.Expr)
    assert dense_width(file, file.value(name.body[0].value)) == expected


OWN_CLASS = """
class Net(keras.Model):
    def __init__(self, n):
        super().__init__()
        self.steps = [keras.layers.Dense(n), keras.layers.Dense(48), {more}]
    def call(self, x):
        for step in self.steps:
            x = step(x)
        return x
m = Net(2)
m
"""


@pytest.mark.parametrize(("more", "expected"), [("keras.layers.Dropout(0.1)", 48), ("Block()", None)])
def test_widths_of_own_dense_networks(more: str, expected: int | None) -> None:
    file = model_of(OWN_CLASS.replace("{more}", more))
    name = file.module.body[-1]
    assert isinstance(name, cst.SimpleStatementLine) and isinstance(name.body[0], cst.Expr)
    assert dense_width(file, file.value(name.body[0].value)) == expected
