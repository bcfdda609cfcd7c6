"""Lists of arrays that are read one by one, and where the array made of them goes."""

import pytest
from programs import model_of

from tfmemlint.query.tensors.collected import collected_arrays

HEAD = """
import os, cv2
from PIL import Image
from sklearn.model_selection import train_test_split
paths = os.listdir("photos")
xs = []
def read(path):
    return cv2.resize(cv2.imread(path), (200, 100))
"""

PLT = "import matplotlib.pyplot as plt\n"
FILL = "for path in paths:\n    xs.append(read(path))\n"

FOUND = [
    (FILL + "x = np.array(xs) / 255.0\nmodel.fit(x, epochs=2)", (60_000, "float64", "fit")),
    (FILL + "x = np.array(xs, np.float32)\nmodel.fit(x, epochs=2)", (60_000, "float32", "fit")),
    (FILL + "x = np.asarray(np.array(xs), dtype=np.float32) / 255\nmodel.fit(x, epochs=2)", (60_000, "float32", "fit")),
    (FILL + "x = np.array(np.array(xs) / 255)\nmodel.fit(x, epochs=2)", (60_000, "float64", "fit")),
    (FILL + "x = np.stack(xs)\nx = x.astype('float32')\nx /= 255\nmodel.fit(x[:9000], epochs=2)",
     (60_000, "float32", "fit")),
    (FILL + "a, b = train_test_split(np.array(xs))\ntf.data.Dataset.from_tensor_slices(b / 255)",
     (60_000, "float64", "from_tensor_slices")),
    ("x = np.array([read(p) for p in paths])\nmodel.fit(x, epochs=2)", (60_000, None, "fit")),
    ("x = np.array(list(map(read, paths))) / 2\nmodel.fit(x, epochs=2)", (60_000, "float64", "fit")),
    ("x = np.array([np.asarray(Image.open(p)) / 255 for p in paths])\nmodel.fit(x, epochs=2)",
     (None, "float64", "fit")),
    (PLT + "x = np.array([plt.imread(p) / 255. for p in paths])\nmodel.fit(x, epochs=2)", (None, "floats", "fit")),
    (PLT + "x = np.array([plt.imread(f'a/{p}.JPG') / 255. for p in paths])\nmodel.fit(x, epochs=2)",
     (None, "float64", "fit")),
    (PLT + "def shot(name):\n    return plt.imread(name)[:9] / 255.\nx = np.array([shot(p + '.jpeg') for p in paths])\n"
     "model.fit(x, epochs=2)", (None, "float64", "fit")),
    (PLT + "x = np.array([plt.imread(p + '.png') for p in paths])\nmodel.fit(x, epochs=2)", (None, "float32", "fit")),
]  # fmt: skip

NOT_FOUND = [
    "x = np.array([read(p) for p in ['a.png', 'b.png']])\nmodel.fit(x, epochs=2)",
    "x = np.array([read(p) for p in paths[:50]])\nmodel.fit(x, epochs=2)",
    "x = np.array([read(p).mean() for p in paths])\nmodel.fit(x, epochs=2)",
    "x = np.array([net.predict(read(p)) for p in paths])\nmodel.fit(x, epochs=2)",
    "x = np.array([read(p) for p in paths])\nmodel.fit(x)",  # of whatever library
    "x = np.array([read(p) for p in paths])\nfor one in x:\n    model.fit(one, epochs=2)",
    "for part in parts:\n    x = np.array([read(p) for p in part])\n    model.fit(x, epochs=2)",
    "def batches():\n    yield np.array([read(p) for p in paths])\nmodel.fit(batches(), epochs=2)",
    "x = np.array([read(p) for p in paths])\nplt.imshow(x[0])",
    "other = []\n" + FILL + "model.fit(np.array(other), epochs=2)",
]


ENDLESS = [
    "for x in xs:\n    xs.append(x)\nmodel.fit(np.array(xs), epochs=2)",
    "ys = []\nwhile True:\n    ys = ys + xs\n    xs = xs + ys\nmodel.fit(np.array(xs), epochs=2)",
    "def f(x):\n    return f(x)\nxs = [f(p) for p in paths]\nmodel.fit(np.array(xs), epochs=2)",
    "x = 1\n" + "if a:\n    x = x + x\n" * 40 + "model.fit(np.array([x for p in paths]), epochs=2)",
]


@pytest.mark.parametrize("program", ENDLESS)
def test_what_leads_back_to_itself_is_nothing(program: str) -> None:
    assert collected_arrays.of(model_of(HEAD + program)) == []


@pytest.mark.parametrize(("program", "expected"), FOUND)
def test_lists_that_become_an_array(program: str, expected: tuple[int | None, str | None, str]) -> None:
    (found,) = collected_arrays.of(model_of(HEAD + program))
    assert (found.each.bytes("uint8"), found.floats, found.taker.method) == expected


@pytest.mark.parametrize("program", NOT_FOUND)
def test_lists_of_a_few_of_features_and_for_one_batch(program: str) -> None:
    assert collected_arrays.of(model_of(HEAD + program)) == []
