"""Which arrays that enter TensorFlow are a few numbers."""

import pytest
from programs import model_of

from tfmemlint.query.tensors.arrays import arrays_entering
from tfmemlint.query.tensors.little import is_little

TABLE = "t = np.loadtxt('t.csv')\n"
NARROW = "m = keras.Sequential([keras.layers.Dense(1, input_shape=(8,))])\n"
WIDE = "m = keras.Sequential([keras.layers.Dense(1, input_shape=(784,))])\n"
BARE = "m = keras.Sequential([keras.layers.Dense(1)])\n"
FUNCTIONAL = "i = keras.Input((8,))\nm = keras.Model(i, keras.layers.Dense(1)(i))\n"
SERIES = "s = np.loadtxt('s.csv').reshape(-1, 6)\nw = []\n"
LITTLE = [
    (f"{SERIES}for i in range(90, 1242):\n    w.append(s[i - 90 : i])\ntf.constant(np.array(w))", True),
    (f"{SERIES}for i in range(90, 9242):\n    w.append(s[i - 90 : i])\ntf.constant(np.array(w))", False),
    (f"{SERIES}for i in range(90, n):\n    w.append(s[i - 90 : i])\ntf.constant(np.array(w))", True),
    (f"{SERIES}for i in range(k, n):\n    w.append(s[i - k : i])\nv = np.array(w)\ntf.constant(v.reshape(p))", True),
    (f"{SERIES}for i in range(900, n):\n    w.append(s[i - 900 : i])\ntf.constant(np.array(w))", False),
    (f"{SERIES}tf.constant(s.reshape(-1, 90, 6))", False),
    ("tf.constant(np.random.rand(100, 96, 96))", True),
    ("tf.constant(np.random.rand(100, 128, 128))", False),
    ("tf.constant(np.random.rand(101, 96, 96))", False),
    (f"{SERIES}for i in range(90, n):\n    w.append(s[i - 90 : i, 0])\ntf.constant(np.array(w))", True),
    ("tf.constant(np.zeros((n, 100)))", True),
    ("tf.constant(np.zeros((n, 101)))", False),
    ("tf.constant(np.random.rand(n, k))", True),
    ("tf.constant(np.pad(np.random.rand(64, 1024, 1024), w))", False),
    ("tf.constant(np.random.rand(n, k, 3))", False),
    ("tf.constant(np.random.rand(32, k))", True),
    ("tf.constant(np.random.rand(33, k))", True),
    ("m = keras.Sequential([])\nm.predict([y, np.zeros((n, k))])", True),
    ("m = keras.Sequential([])\nx = np.zeros((n, k))\nx[i] = 1\nm.predict(x)", True),
    ("m = keras.Sequential([])\nm.predict(np.random.rand(n, k))", True),
    ("m = keras.Sequential([])\nm.predict(np.random.normal(size=(10_000, 256)))", True),
    ("m = keras.Sequential([])\nm.predict(np.random.rand(n, 784))", False),
    ("m = keras.Sequential([])\nm.predict(np.random.rand(100_000, 256))", False),
    ("m = keras.Sequential([])\nm.predict(np.random.rand(n, 1, 16, 8))", False),
    ("m = keras.Sequential([])\nm.fit(x, np.zeros((60_000, 10)))", True),
    ("m = keras.Sequential([])\nm.fit(x, y, validation_data=(x, np.zeros((60_000, 10))))", True),
    ("m = keras.Sequential([])\nm.fit(np.zeros((60_000, 10)), y)", False),
    (f"{TABLE}m = keras.Sequential([])\nm.fit(x, t)", True),
    ("m = keras.Sequential([])\nm.fit(x, y.astype(np.float64))", True),
    ("m = keras.Sequential([])\nm.fit(x.astype(np.float64), y)", False),
    (f"{TABLE}{WIDE}m.fit(t, t)", False),
    ("m = keras.Sequential([])\nm.fit(x, np.zeros((60_000, 100)))", False),
    ("m = keras.Sequential([])\nm.fit(x, np.zeros((6_000_000, 1)))", False),
    ("tf.constant(np.zeros((n, k)))", True),
    ("tf.constant(np.zeros((1000, 10)))", False),
    (f"{TABLE}{NARROW}m.fit(t, t)", True),
    (f"{TABLE}{FUNCTIONAL}m.fit(t, t)", True),
    (f"{TABLE}{WIDE}m.fit(t, t)", False),
    (f"{TABLE}{BARE}m.fit(t, t)", False),
    (f"{TABLE}{BARE}m.predict(t)", False),
    (f"{TABLE}{NARROW}m.predict(t)\nload().fit(t)", True),
    (f"{TABLE}{FUNCTIONAL}m.fit(y, t)", True),
]


@pytest.mark.parametrize(("program", "expected"), LITTLE)
def test_arrays_of_which_nobody_knows_that_they_are_large(program: str, expected: bool) -> None:
    file = model_of(program)
    assert next(is_little(file, each) for each in arrays_entering.of(file)) is expected


PASSING = [
    ("for s in steps:\n    tf.constant(np.zeros((n, 100)))", True),
    ("for s in steps:\n    tf.constant(np.zeros((n, 224, 224, 3)))", False),
    ("x = np.zeros((n, 128))\nfor s in steps:\n    tf.constant(x)", False),
    ("class B:\n    def __init__(self):\n        self.x = np.zeros((n, 8))\n    def f(self):\n"
     "        return tf.constant(self.x[i])", False),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), PASSING)
def test_arrays_that_one_step_works_on(program: str, expected: bool) -> None:
    file = model_of(program)
    assert [is_little(file, each) for each in arrays_entering.of(file)] == [expected]


PANDAS = "import pandas as pd\nfrom sklearn.preprocessing import MinMaxScaler as S\nt = pd.read_csv('t.csv')\n"
CHOSEN = [
    ("x = S().fit_transform(t)", False),
    ("x = S().fit_transform(t.drop('label', axis=1).values)", True),
    ("x = S().fit_transform(t.drop(columns=['label', 'id']))", True),
    ("y = t.pop('label')\nx = S().fit_transform(t)", True),
    ("t.drop(['label'], axis=1, inplace=True)\nx = S().fit_transform(t)", True),
    ("y = t['label']\nx = S().fit_transform(t.iloc[:, 1:])", True),
    ("x = S().fit_transform(t[['width', 'height']].values)", True),
    ("y = t[0]\nx = S().fit_transform(t.drop(0, axis=1))", False),
    ("y = pd.read_csv('y.csv')['label']\nx = S().fit_transform(t)", False),
    ("x = t.drop('label', axis=1).values / 255", False),
    ("s = S().fit_transform(t[['close']].values.reshape(-1, 1))\nx = np.array([s[i : i + n, 0] for i in days])", True),
    ("t = pd.read_csv('t.csv', names=['a', 'b'])\nx = ((t - t.mean()) / t.std()).values", True),
    ("t = pd.read_csv('t.csv', names=['a', 'b'])\nx = (t / 255).values", False),
    ("x = ((t - t.mean()) / t.std()).values", False),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), CHOSEN)
def test_tables_whose_columns_the_code_calls_by_their_names(program: str, expected: bool) -> None:
    file = model_of(f"{PANDAS}{program}\n{BARE}m.fit(x)")
    assert [is_little(file, each) for each in arrays_entering.of(file)] == [expected]
