"""What models are trained to tell apart."""

import pytest
from programs import model_of, shown

from tfmemlint.query.keras.labels import class_count, label_arrays, losses

COMPILED = "m = keras.Sequential()\nm.compile('adam', 'mse')\n"

LABELS = [
    ("m.fit(x, np.zeros((5, 3)))", ["np float64 (5, 3)"]),
    ("m.fit(x, y=np.zeros((5, 3)), validation_data=(x, np.ones(4)))", ["np float64 (5, 3)", "np float64 (4)"]),
    ("m.fit(tf.data.Dataset.from_tensor_slices((np.zeros((5, 3)), np.ones(5))))", ["tf float64 (3)", "tf float64 ()"]),
    ("m.fit(x, y)", []),
]


@pytest.mark.parametrize(("program", "expected"), LABELS)
def test_arrays_that_are_given_as_labels(program: str, expected: list[str]) -> None:
    file = model_of(COMPILED + program)
    assert [shown(each) for each in label_arrays(file.call(file.calls_by_word["fit"][0]))] == expected


LOSSES = [
    (COMPILED + "m.fit(x, y)", ["'mse'"]),
    (COMPILED + "m.compile('adam', loss='mae')\nm.fit(x, y)", ["'mse'", "'mae'"]),
    (COMPILED + "o = keras.Sequential()\no.compile('adam', 'mae')\nm.fit(x, y)", ["'mse'"]),
    (COMPILED + "unknown.fit(x, y)", ["'mse'"]),
    ("keras.Sequential().fit(x, y)", []),
]


@pytest.mark.parametrize(("program", "expected"), LOSSES)
def test_losses_of_a_model(program: str, expected: list[str]) -> None:
    file = model_of(program)
    assert [shown(each) for each in losses(file, file.call(file.calls_by_word["fit"][0]))] == expected


BUNDLED = "(x, y), _ = keras.datasets.reuters.load_data()\n"

COUNTS = [
    (BUNDLED + "probe(y)", 46),
    (BUNDLED + "keras.layers.Dense(7, activation='softmax')\nprobe(y)", 46),
    ("keras.layers.Dense(7, activation='softmax')\nkeras.layers.Dense(9)\nprobe(y)", 7),
    ("keras.layers.Dense(7, 'softmax')\nkeras.layers.Dense(n, tf.nn.softmax)\nprobe(y)", None),
    ("(x, y), _ = keras.datasets.boston_housing.load_data()\nprobe(y)", None),
]


@pytest.mark.parametrize(("program", "expected"), COUNTS)
def test_classes_that_labels_tell_apart(program: str, expected: int | None) -> None:
    file = model_of(program)
    assert class_count(file, file.value(file.calls_by_word["probe"][0].args[0].value)) == expected
