"""Whether the model of the layer `Dense` is certainly trained nowhere."""

import pytest
from programs import model_of

from tfmemlint.query.keras.untrained import is_never_trained

MADE = "m = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(9)])\n"
ADDED = "m = keras.Sequential()\nm.add(keras.layers.Dense(9))\n"

PROGRAMS = [
    (f"{MADE}m.summary()", True),
    (f"{ADDED}m.summary()", True),
    (f"{MADE}print(m.output.shape)", True),
    (f"{MADE}m.predict(x)", True),
    (f"{MADE}m.load_weights('w')\nm(np.zeros((3, 4)))", True),
    (f"{MADE}keras.utils.plot_model(m)", True),
    (f"{MADE}n = m\nn.summary()", True),
    (f"{MADE}n = m\nm.summary()\nn.fit(x)", False),
    (f"{MADE}m.summary()\nm.compile('adam')", False),
    (f"{MADE}m.summary()\nm.fit(x)", False),
    (f"{ADDED}m.fit(x)", False),
    (f"{MADE}", False),
    (f"{MADE}m.summary()\ntrain(m)", False),
    (f"{MADE}m.summary()\nd['m'] = m", False),
    (f"{MADE}m.summary()\nm.layers[0].trainable = False", False),
    (f"{MADE}with tf.GradientTape() as t:\n    y = m(x)\nt.gradient(y, m.trainable_variables)", False),
    (f"{MADE}k = keras.Model(m.input, m.output)\nk.summary()", True),
    (f"{MADE}k = keras.Model(m.input, m.output)\nk.fit(x)", False),
    (f"{MADE}k = keras.Model(m.input, keras.layers.Flatten()(m.output))\nk.predict(x)", True),
    (f"{MADE}k = keras.Model(m.input, keras.layers.Flatten()(m.output))\nk.compile('sgd')", False),
    (f"{MADE}k = keras.Model(m.input, unknown(m.output))", False),
    (f"{MADE}k = keras.layers.Flatten(input_shape=m.output)", True),
    (f"{MADE}o = m.outputs\nuse(o)", False),
    ("d = keras.layers.Dense(9)\nm = keras.Sequential([d])\nm.summary()", False),
    ("def f():\n    m = keras.Sequential([keras.layers.Dense(9)])\n    m.summary()", True),
    ("def f():\n    m = keras.Sequential([keras.layers.Dense(9)])\n    m.summary()\n    return m", False),
    ("def show(n):\n    n.summary()\nm = keras.Sequential([keras.layers.Dense(9)])\nshow(m)", True),
    ("def show(n):\n    n.fit(x)\nm = keras.Sequential([keras.layers.Dense(9)])\nshow(m)", False),
]


@pytest.mark.parametrize(("program", "expected"), PROGRAMS)
def test_models_that_nothing_trains(program: str, expected: bool) -> None:
    file = model_of(program)
    assert is_never_trained(file, file.call(file.calls_by_word["Dense"][0])) is expected
