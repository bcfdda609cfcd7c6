"""What is certainly a Keras model, and what forgets all of them."""

import pytest
from programs import model_of, value_in

from tfmemlint.query.keras.fates import is_used_up
from tfmemlint.query.keras.models import clears, is_model, runs_model
from tfmemlint.query.repetition.repeats import repeats

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


USED_UP = [
    ("for i in n:\n    m = keras.Sequential()\n    m.fit(x)", True),
    ("def f():\n    return keras.Sequential()\nfor i in n:\n    f().fit(x)", True),
    ("def f():\n    keras.Sequential().fit(x)\nfor i in n:\n    f()", True),
    ("m = keras.Sequential()\nfor i in n:\n    m.fit(x)", False),
    ("kept = []\nfor i in n:\n    m = keras.Sequential()\n    kept.append(m)\n    m.fit(x)", False),
]


@pytest.mark.parametrize(("program", "expected"), USED_UP)
def test_models_that_each_iteration_uses_up(program: str, expected: bool) -> None:
    file = model_of(program)
    again = repeats(file, file.calls_by_word["fit"][0])
    assert again is not None
    assert is_used_up(file, file.call(file.calls_by_word["Sequential"][0]), again) is expected
