"""Where NumPy arrays go: into TensorFlow, into casts, to the screen."""

import pytest
from programs import model_of

from tfmemlint.query.flow.uses import uses
from tfmemlint.query.tensors.arrays import arrays_entering, joined_arrays, only_cast, only_of_arrays, only_shown

ENTERING = [
    ("tf.constant(np.zeros(3))", ["constant"]),
    ("tf.constant(np.zeros(3), dtype=tf.float32)", []),
    ("tf.constant(tf.zeros(3))", []),
    ("tf.data.Dataset.from_tensor_slices((np.zeros(3), {'y': np.ones(3)}))", ["from_tensor_slices"] * 2),
    ("m = keras.Sequential([])\nm.fit(np.zeros(3), np.ones(3), validation_data=(np.zeros(2), y))", ["fit"] * 3),
    ("f(np.zeros(3))", []),
]


@pytest.mark.parametrize(("program", "expected"), ENTERING)
def test_arrays_that_enter_tensorflow(program: str, expected: list[str]) -> None:
    assert [entering.taker.method for entering in arrays_entering.of(model_of(program))] == expected


MODEL = "m = keras.Sequential([])\n"
CAST = [
    ("x = probe()\nm.fit(x)", True),
    ("x = probe()\nm.fit(x, validation_data=(x, y))", True),
    ("x = probe()\nprint(x.shape, len(x))\nm.predict(np.expand_dims(x, 0))", True),
    ("x, y = probe(), 1\nm.fit(x[:10])", True),
    ("def f():\n    x = probe()\n    m.fit(np.reshape(x, (3, 4)))", True),
    ("x = probe()\nm.fit(z, callbacks=x)", False),
    ("x = probe()\nm.fit(x)\nx + 1", False),
    ("x = probe()\nm.fit(x)\ng(x)", False),
    ("x = probe()\nm.fit(x)\nx[0]", False),
    ("x = probe()", False),
    ("def f():\n    return probe()", False),
    ("keras.backend.set_floatx('float64')\nx = probe()\nm.fit(x)", False),
]


@pytest.mark.parametrize(("program", "expected"), CAST)
def test_arrays_that_are_only_cast(program: str, expected: bool) -> None:
    file = model_of(MODEL + program)
    assert only_cast(file, file.calls_by_word["probe"][0]) is expected


PLOT = "import matplotlib.pyplot as plt\n"
SHOWN = [
    ("plt.imshow(probe())", True),
    ("x = probe() * 255\nplt.imshow(x)", True),
    ("x = probe()\ny = np.round(x).astype('uint8')", True),
    ("np.uint8(probe())", True),
    ("x = probe()\nfor i in n:\n    x = x * 2\nplt.imshow(x)", True),
    ("x = probe()\nplt.imshow(x)\ntf.constant(x)", False),
    ("probe().astype('float32')", False),
    ("x = probe()", False),
]


@pytest.mark.parametrize(("program", "expected"), SHOWN)
def test_arrays_that_are_only_shown(program: str, expected: bool) -> None:
    file = model_of(PLOT + program)
    assert only_shown(file, file.calls_by_word["probe"][0]) is expected


def test_arrays_of_which_one_is_made() -> None:
    file = model_of("np.concatenate([np.zeros(2), np.ones(3), unknown])\nnp.zeros(4) + 1")
    shapes = [[array.shape for array in arrays] for arrays in joined_arrays(file)]
    assert sorted(shapes, key=len) == [[(4,)], [(2,), (3,)]]


OF_ARRAYS = [
    ("y = f(x)\ny.tolist()", True),
    ("y = f(x)\ny[0] = 3", True),
    ("y = f(x)\ny.T", True),
    ("y = f(x)\ny.shape", False),
    ("y = f(x)\ny.numpy()", False),
    ("y = f(x)\ny[0] + 1", False),
    ("y = f(x)\nnp.argmax(y)", False),
]


@pytest.mark.parametrize(("program", "expected"), OF_ARRAYS)
def test_what_only_arrays_can_do(program: str, expected: bool) -> None:
    file = model_of(program)
    assert any(map(only_of_arrays, uses(file, file.calls_by_word["f"][0]))) is expected
