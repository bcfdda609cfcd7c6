"""Where float64 is written, asked for and made, and which modules want it."""

import pytest
from programs import model_of

from tfmemlint.query.tensors.dtypes import (
    divided_integers,
    dtype_compared,
    float64_asked_for,
    float64_by_design,
    given_float64,
)
from tfmemlint.query.tensors.precision import wants_digits
from tfmemlint.query.tensors.together import float64_beside, float64_together

GIVEN = [
    ("tf.zeros([2], tf.float64)", ["zeros"]),
    ("tf.zeros([2], dtype='float64')", ["zeros"]),
    ("tf.cast(x, np.float64)", ["cast"]),
    ("from numpy import float64\ntf.zeros([2], float64)", ["zeros"]),
    ("DTYPE = tf.float64\ntf.zeros([2], DTYPE)", []),
    ("tf.zeros([2], tf.float32)", []),
    ("keras.layers.Dense(2, dtype=keras.mixed_precision.Policy('float64'))", ["Dense"]),
    ("tf.TensorSpec([2], tf.float64)", []),
    ("np.zeros([2], np.float64)", []),
    ("tf.compat.v1.to_double(x)", ["to_double"]),
]


@pytest.mark.parametrize(("program", "expected"), GIVEN)
def test_calls_that_are_given_float64(program: str, expected: list[str]) -> None:
    assert [given.made.method for given in given_float64.of(model_of(program))] == expected


ASKED = [
    ("if K.floatx() == 'float64':\n    probe()", True),
    ("if dtype in (tf.float64, tf.float32):\n    probe()", True),
    ("x = probe() if dtype == tf.float64 else 1", True),
    ("if K.floatx() != 'float64':\n    probe()", False),
    ("if K.floatx() == 'float64':\n    pass\nelse:\n    probe()", False),
    ("wide = x.dtype == tf.float64\nif wide:\n    probe()", True),
    ("wide = False\nif x.dtype == tf.float64:\n    wide = True\nif wide:\n    probe()", True),
    ("wide = x.dtype != tf.float64\nif wide:\n    probe()", False),
    ("wide = True\nif wide:\n    probe()", False),
    ("probe()", False),
]


@pytest.mark.parametrize(("program", "expected"), ASKED)
def test_code_that_asked_for_float64(program: str, expected: bool) -> None:
    file = model_of(program)
    assert float64_asked_for(file, file.calls_by_word["probe"][0]) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("x = probe()\nassert x.dtype == np.float64", True),
        ("x = probe()\nif np.float64 is not x.dtype: stop()", True),
        ("x = probe()\nprint(x.dtype)\ny = np.zeros(3, x.dtype)", False),
        ("x = probe()\nassert x.shape == y.dtype", False),
    ],
)
def test_code_that_compares_the_dtype_of_an_array(program: str, expected: bool) -> None:
    file = model_of(program)
    assert dtype_compared(file, file.calls_by_word["probe"][0]) is expected


DESIGN = [
    ("keras.backend.set_floatx('float64')", True),
    ("keras.mixed_precision.set_global_policy('float64')", True),
    ("keras.backend.set_floatx('float16')", False),
    ("import tensorflow_probability as tfp", True),
    ("from scipy import linalg", True),
    ("def f():\n    import scipy.optimize\n    return scipy.optimize.minimize", True),
    ("def f():\n    from scipy import optimize as o\n    return o.minimize", True),
    ("from scipy import ndimage", False),
    ("from gpflow.config import default_float", True),
    ("x = 'gpflow'", False),
]


@pytest.mark.parametrize(("program", "expected"), DESIGN)
def test_modules_that_want_float64(program: str, expected: bool) -> None:
    assert float64_by_design(model_of(program)) is expected


DIVIDED = [
    ("tf.fill([4, 2], 3) / 7", ["int32"]),
    ("tf.range(9, dtype=tf.int64) / 3", ["int64"]),
    ("tf.zeros([4]) / 7", []),
    ("tf.fill([4, 2], 3) // 7", []),
    ("np.arange(4) / 7", []),
    ("x / 7", []),
]


@pytest.mark.parametrize(("program", "expected"), DIVIDED)
def test_quotients_of_integer_tensors(program: str, expected: list[str]) -> None:
    assert [division.dtype for division in divided_integers.of(model_of(program))] == expected


A = "a = tf.zeros([9, 9], tf.float64)\n"
B = "b = tf.ones([9, 9], tf.float64)\n"
TOGETHER = [
    (A + "print((a * 2 - 1.0).numpy())", ["zeros"]),
    (A + "a += 1\nif a.shape[0] > 3:\n    print(tf.reduce_sum(-a) < 3.0)", ["zeros"]),
    (A + B + "c = tf.matmul(a, b)\ntf.print(tf.reduce_sum(c))", ["zeros", "ones"]),
    (A + B + "print(tf.concat([a, b], 0))", ["zeros", "ones"]),
    (A + B + "c = a * 2\nd = c + b\nprint(d)", ["zeros", "ones"]),
    (A + "b = tf.constant(np.random.rand(9, 9))\nprint(a * b)", ["zeros", "rand"]),
    (A + "print(a * np.ones(9), tf.matmul(a, np.ones((9, 9))))", ["zeros"]),
    (A + "tf.matmul(np.ones((9, 9)), a)", None),
    (A + "b = tf.cast(a, tf.float32) + x", ["zeros"]),
    (A + "model = keras.Sequential([keras.layers.Dense(3)])\nmodel(a)\nmodel.fit(a, y)", ["zeros"]),
    (A + "tf.matmul(a, x)", None),
    (A + "a * x", None),
    (A + "f(a)", None),
    (A + "f([a])", None),
    (A + "print(a.dtype)", None),
    (A + "tf.Variable(a).assign(x)", None),
    (A + "self.a = a", None),
    (A + "ds = tf.data.Dataset.from_tensors(a).map(f)", None),
    ("def f():\n    return tf.zeros([9, 9], tf.float64)", None),
]


@pytest.mark.parametrize(("program", "expected"), TOGETHER)
def test_what_changes_its_dtype_together(program: str, expected: list[str] | None) -> None:
    file = model_of(program)
    found = float64_together(file, given_float64.of(file)[0].made)
    assert (found and [call.method for call in found]) == expected


DIGITS = [
    (A + "tf.linalg.cholesky(a)", True),
    (A + "tf.linalg.solve(a * 2.0, x)", True),
    (A + "a += x\nb = tf.cast(tf.reduce_mean(a), tf.float32)", True),
    (A + "tf.saturate_cast(tf.round(a), tf.int64)", True),
    (A + "tf.cast(a * x, 'double')", False),
    (A + "tf.matmul(a, a)", False),
    (A + "tf.linalg.cholesky(x)", False),
]


@pytest.mark.parametrize(("program", "expected"), DIGITS)
def test_float64_that_is_chosen_for_its_digits(program: str, expected: bool) -> None:
    file = model_of(program)
    assert wants_digits(file, given_float64.of(file)[0].made) is expected


BESIDE = [
    ("model = keras.Sequential([])\nmodel.fit(np.ones((2, 2)), y)", "fit", []),
    ("a = tf.constant(np.ones((2, 2)))\nprint(a * 2.0)", "constant", []),
    ("a = tf.constant(np.ones((2, 2)))\nb = tf.Variable(np.zeros((2, 2)))\nprint(a @ b)", "constant", ["zeros"]),
    ("a = tf.constant(np.ones((2, 2)))\nprint(a + tf.cast(x, tf.float64))", "constant", ["cast"]),
    ("a = tf.constant(np.ones((2, 2)))\nf(a)", "constant", None),
    ("tf.data.Dataset.from_tensor_slices(np.ones((2, 2))).map(f)", "from_tensor_slices", []),
    ("tf.data.Dataset.from_tensor_slices(np.ones((2, 2))).map(f)\ntf.cast(x, tf.float64)", "from_tensor_slices", None),
]


@pytest.mark.parametrize(("program", "word", "expected"), BESIDE)
def test_what_tensorflow_computes_with_an_array(program: str, word: str, expected: list[str] | None) -> None:
    file = model_of(program)
    found = float64_beside(file, file.call(file.calls_by_word[word][0]))
    assert (found and [call.method for call in found]) == expected
