"""Values whose beginning is not seen: what is done with them says what they are."""

import pytest
from programs import shown_in

COMPILED = "model.compile(optimizer='adam', loss='mse')\n"
MODELS = [
    ("from zoo import make\nmodel = make()\n" + COMPILED + "model", "tf.keras.Model object"),
    ("model = make()\nmodel.compile(loss='mse', optimizer=opt)\nmodel.predict", "tf.keras.Model.predict"),
    ("model = make()\nmodel.compile(optimizer=opt, metrics=['mae'])\nmodel.fit", "tf.keras.Model.fit"),
    ("def f(model):\n    " + COMPILED + "    probe(model)", "tf.keras.Model object"),
    ("def f(model):\n    def g():\n        model = make()\n        " + COMPILED + "    probe(model)", "?"),
    ("model = make()\nmodel.load_weights('model.h5')\nmodel", "tf.keras.Model object"),
    ("model = make()\nload_weights(model, 'model.h5')\nmodel", "?"),
    ("model = make()\nmodel.compile(pattern)\nmodel", "?"),
    ("model = make()\nmodel.compile(optimizer=True)\nmodel", "?"),
    ("model = make()\nother = make()\nother.compile(optimizer='adam', loss='mse')\nmodel", "?"),
    ("model = make()\nprobe(model)\nmodel = keras.Model(a, b)\n" + COMPILED, "?"),
    ("class A:\n    def __init__(self):\n        self.net = make()\n"
     "        self.net.compile(optimizer='adam', loss='mse')\n    def f(self):\n        probe(self.net)",
     "tf.keras.Model object"),
    ("class A:\n    def __init__(self):\n        self.net = make()\n    def f(self):\n        probe(self.net)\n"
     "class B:\n    def f(self):\n        self.net.compile(optimizer='adam', loss='mse')", "?"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), MODELS)
def test_a_model_is_what_is_used_as_one(program: str, expected: str) -> None:
    assert shown_in(program) == expected
