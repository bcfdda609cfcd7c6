"""What is certainly a Keras model, and what forgets all of them."""

import pytest
from programs import model_of, value_in

from tfmemlint.query.keras.models import clears, is_model, runs_model

MODELS = [
    ("keras.Sequential()", True),
    ("keras.Model(a, b)", True),
    ("keras.applications.ResNet50()", True),
    ("class A(keras.Model): pass\nA()", True),
    ("class A(keras.Model): pass\nclass B(A): pass\nB()", True),
    ("m = keras.Sequential() if c else keras.Model(a, b)\nm", True),
    ("m = keras.Sequential() if c else make()\nm", False),
    ("keras.layers.Dense(3)", False),
    ("class A: pass\nA()", False),
    ("make()", False),
    ("keras.Sequential", False),
]


@pytest.mark.parametrize(("program", "expected"), MODELS)
def test_models_are_what_is_certainly_one(program: str, expected: bool) -> None:
    file = model_of(program)
    assert is_model(file, value_in(file)) is expected


def test_calls_of_models_run_them() -> None:
    file = model_of("m = keras.Sequential()\nm(x)\nd = keras.layers.Dense(3)\nd(x)")
    assert [runs_model(file, file.call(node)) for node in (*file.calls_by_word["m"], *file.calls_by_word["d"])] == [
        True, False,
    ]  # fmt: skip


CLEARING = [
    ("keras.backend.clear_session()", True),
    ("K.clear_session()", True),
    ("def f():\n    tf.compat.v1.reset_default_graph()\nf()", True),
    ("def f():\n    g()\ndef g():\n    keras.backend.clear_session()\nf()", True),
    ("f()", False),
]


@pytest.mark.parametrize(("program", "expected"), CLEARING)
def test_sessions_are_cleared_by_functions_too(program: str, expected: bool) -> None:
    file = model_of(program)
    assert clears(file, file.module) is expected
