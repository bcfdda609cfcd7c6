"""Which calls give a new model, and what becomes of it."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.keras.fates import fate, fits, model_at

BUILD = "def build():\n    return keras.Sequential()\n"

NEW = [
    ("f = keras.Sequential\nf()", ()),
    (BUILD + "def f():\n    return build()\nf()", ()),
    (BUILD + "def f(make=build):\n    return make()\nf()", ()),
    (BUILD + "def f():\n    return 3, build()\nf()", (1,)),
    ("class f(keras.Model): pass\nf()", ()),
    (BUILD + "def f(net):\n    return net\nf(build())", None),
    (BUILD + "def f(net):\n    net.fit(x)\n    return net\nm = build()\nf(m)", None),
    (BUILD + "def f(parts):\n    x, net = parts\n    return x, net\nf((1, build()))", None),
    ("def f(net: keras.Model):\n    return net\nf(made)", None),
    ("f()", None),
]


@pytest.mark.parametrize(("program", "expected"), NEW)
def test_calls_that_give_a_new_model(program: str, expected: tuple[int, ...] | None) -> None:
    file = model_of(program)
    assert model_at(file, file.call(file.calls_by_word["f"][-1])) == expected


FATES = [
    ("m.fit(x)", (True, True, False)),
    ("m.compile('adam')\n    m.train_on_batch(x)", (True, True, False)),
    ("m.compile(loss='mse')\n    m.evaluate(x)", (True, False, False)),
    ("m.predict(np.zeros((2, 3)))", (True, False, False)),
    ("m(tf.zeros((2, 3)))", (True, False, False)),
    ("m(keras.Input((3,)))", (False, None, False)),
    ("given = m(keras.Input((3,)))", (False, None, True)),
    ("given = m([unknown, keras.Input((3,))])", (False, None, True)),
    ("m(unknown)", (False, None, False)),
    ("m(keras.layers.Dense(2)(unknown))", (False, None, False)),
    ("m(keras.layers.add([unknown, unknown]))", (False, None, False)),
    ("m(keras.layers.Dense(3)(unknown))", (False, None, False)),
    ("m.trainable_variables", (True, None, False)),
    ("train(m)", (False, None, False)),
    ("print(m)", (False, False, False)),
    ("m.fit(x)\n    del m, x", (True, True, False)),
    ("kept.append((i, m))", (False, False, True)),
    ("pair = (i, m)\n    kept.append(pair)", (False, False, True)),
    ("kept = kept + [m]", (False, None, True)),
    ("score((i, m))", (True, False, False)),
    ("unknown((i, m))", (False, None, True)),
]


@pytest.mark.parametrize(("body", "expected"), FATES)
def test_models_are_used_trained_and_kept(body: str, expected: tuple[bool, bool | None, bool]) -> None:
    score = "def score(pair):\n    i, m = pair\n    return m.evaluate(x)\n"
    file = model_of(f"{score}kept = []\nfor i in n:\n    m = keras.Sequential()\n    {body}")
    made = file.calls_by_word["Sequential"][0]
    done = fate(file, made, file.tree.of(cst.For)[0])
    assert (done.used, done.trained, done.kept) == expected


def test_code_that_trains_by_functions() -> None:
    file = model_of("def f(m):\n    g(m)\ndef g(m):\n    m.fit(x)\ndef h(m):\n    m.predict(x)")
    train, _, predict = file.tree.of(cst.FunctionDef)
    assert [fits(file, train), fits(file, predict)] == [True, False]
