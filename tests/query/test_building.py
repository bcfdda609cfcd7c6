"""Whether a model may be built behind a place."""

import pytest
from programs import model_of

from tfmemlint.query.keras.building import may_build_after

BUILD = "def build():\n    return keras.Sequential([keras.layers.Dense(2)])\n"
CLEARS = "class C(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None):\n        probe()\n"

BUILDS_AFTER = [
    ("probe()\nkeras.Sequential([])", True),
    (BUILD + "probe()\nbuild()", True),
    ("def build():\n    return 3\nprobe()\nbuild()", False),
    (BUILD + "def train():\n    build().compile()\nprobe()\ntrain()", True),
    ("class Net(keras.Model):\n    pass\nprobe()\nnet = Net()", True),
    ("class Rows:\n    pass\nprobe()\nrows = Rows()", False),
    ("probe()\nnet = build(3)", True),
    ("probe()\nplot(3)", False),
    ("import nets\nprobe()\nnet = nets.small()\nnet.compile(optimizer='adam', loss='mse')", True),
    ("import nets\nprobe()\nnet = nets.small()\nnet.compile('adam', 'mse')", True),
    ("probe()\nself.net = self.small()\nself.net.compile('adam', 'mse')", True),
    ("from sklearn.svm import SVC\nprobe()\nmachine = SVC()\nmachine.fit(x, y)", False),
    ("import plots\nprobe()\nplot = plots.bars()", False),
    ("probe()\nkeras.Model(net.input, net.layers[3].output)", False),
    ("net = keras.Sequential([])\nprobe()\nnet.fit(x)\nnet.save('net.keras')", False),
    ("probe()\nkeras.models.load_model('net.keras')", False),
    ("probe()\nkeras.applications.ResNet50()", True),
    ("probe()\nprint(1)", False),
    ("keras.Sequential([])\nprobe()", False),
    ("for x in y:\n    probe()", False),
    ("for x in y:\n    keras.Sequential([])\n    probe()", True),
    ("def f():\n    probe()", True),
    ("for x in ('small',):\n    keras.Sequential([])\n    probe()", False),
    ("for x in {'a': 1}.items():\n    for y in z:\n        keras.Sequential([])\n        probe()", True),
    ("def f():\n    keras.Sequential([])\n    probe()\nf()", False),
    ("def f():\n    probe()\nf()\nkeras.Sequential([])", True),
    ("def f():\n    probe()\nfor x in y:\n    keras.Sequential([])\n    f()", True),
    ("def f():\n    probe()\nfor x in y:\n    f()", False),
    ("def f():\n    probe()\ndef g():\n    f()\nh(g)", True),
    (CLEARS, True),
    (CLEARS + "net.fit(x, callbacks=[C()])\nnet.save('net.keras')", False),
    (CLEARS + "net.fit(x, callbacks=[C()])\nkeras.Sequential([])", True),
    (CLEARS + BUILD + "for x in y:\n    build().fit(x, callbacks=[C()])", True),
    (CLEARS + BUILD + "net = build()\nfor x in y:\n    net.fit(x, callbacks=[C()])", False),
]


@pytest.mark.parametrize(("program", "expected"), BUILDS_AFTER)
def test_places_after_which_models_may_be_built(program: str, expected: bool) -> None:
    file = model_of(program)
    assert may_build_after(file, file.calls_by_word["probe"][0]) is expected
