"""Probes dtypes: what creation functions make by default, and what arithmetic gives for each pair of operands.

Runs only inside a probe's child process.
"""

from __future__ import annotations

import itertools
import operator
import re
import warnings
from importlib import import_module
from typing import Any

from tfmemlint.dev.probe.namespace import namespace

WHOLE = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
FLOATS = ("float16", "float32", "float64")
ARRAYS = ("bool", *WHOLE, *FLOATS, "complex64", "complex128")
TENSORS = (*WHOLE, "float16", "bfloat16", *FLOATS[1:], "complex64", "complex128")
SCALARS = {"bool": True, "int": 2, "float": 2.0, "complex": 2j, "str": "a"}

OPERATORS = {
    "*": operator.mul, "+": operator.add, "-": operator.sub, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow,
}  # fmt: skip

MADE = """
tf.zeros([2])
tf.ones([2])
tf.eye(2)
tf.one_hot([1], 3)
tf.fill([2], X)
tf.range(X)
tf.linspace(X, X, 3)
tf.constant(X)
tf.constant([X])
tf.convert_to_tensor(X)
tf.convert_to_tensor([X])
tf.Variable(X)
tf.identity(X)
tf.zeros_like(X)
tf.ones_like(X)
tf.stack([X])
tf.concat([[X], [X]], 0)
tf.reshape(X, [1])
tf.sqrt(X)
tf.reduce_mean([X])
tf.reduce_sum([X])
tf.argmax([X])
tf.where([True])
tf.shape([1])
tf.size([1])
tf.sequence_mask([1])
tf.ragged.constant([[X]])
tf.sparse.eye(2)
tf.random.normal([2])
tf.random.uniform([2])
tf.random.truncated_normal([2])
tf.random.gamma([2], 1.0)
tf.random.poisson([2], 1.0)
tf.random.categorical([[0.0]], 1)
tf.random.stateless_normal([2], [1, 2])
tf.random.stateless_uniform([2], [1, 2])
tf.random.Generator.normal: tf.random.Generator.from_seed(1).normal([2])
tf.random.Generator.uniform: tf.random.Generator.from_seed(1).uniform([2])
tf.signal.hann_window(4)
tf.io.decode_raw(b"abcd", "uint8")
tf.io.decode_jpeg(tf.io.encode_jpeg(BYTES))
tf.io.decode_png(tf.io.encode_png(BYTES))
tf.io.decode_image(tf.io.encode_png(BYTES))
tf.audio.decode_wav(tf.audio.encode_wav([[0.0]], 100))[0]
tf.image.resize(PIXELS, [2, 2])
tf.image.resize_with_pad(PIXELS, 2, 2)
tf.image.resize_with_crop_or_pad(PIXELS, 2, 2)
tf.image.crop_to_bounding_box(PIXELS, 0, 0, 1, 1)
tf.image.convert_image_dtype(PIXELS, "float32")
tf.image.per_image_standardization(PIXELS)
tf.image.flip_left_right(PIXELS)
tf.image.rgb_to_grayscale(PIXELS)
tf.image.adjust_brightness(PIXELS, 0.1)
tf.data.Dataset.range(2)
tf.data.Dataset.random()
tf.data.Dataset.counter()
tf.data.Dataset.from_tensors(X)
tf.data.Dataset.from_tensor_slices([X])
tf.experimental.numpy.zeros(2)
tf.experimental.numpy.ones(2)
tf.experimental.numpy.array(X)
tf.experimental.numpy.asarray(X)
tf.experimental.numpy.arange(X)
tf.experimental.numpy.linspace(0, 1, 3)
tf.experimental.numpy.full(2, X)
tf.experimental.numpy.eye(2)
tf.experimental.numpy.random.rand(2)
tf.experimental.numpy.random.randn(2)
tf.keras.ops.convert_to_tensor(X)
tf.keras.ops.array(X)
tf.keras.ops.zeros([2])
tf.keras.ops.ones([2])
tf.keras.ops.full([2], X)
tf.keras.ops.arange(X)
tf.keras.ops.linspace(X, X, 3)
tf.keras.ops.one_hot([1], 3)
tf.keras.ops.eye(2)
tf.keras.random.normal([2])
tf.keras.random.uniform([2])
tf.keras.utils.to_categorical([0, 1])
tf.keras.utils.normalize([[X]])
tf.keras.utils.pad_sequences([[1]])
tf.keras.utils.img_to_array(BYTES)
tf.keras.Input([2])
tf.keras.layers.Rescaling(0.1)(PIXELS)
tf.keras.layers.Dense(2)(ROW)
np.array(X)
np.array([X])
np.asarray(X)
np.zeros(2)
np.ones(2)
np.empty(2)
np.eye(2)
np.identity(2)
np.full(2, X)
np.zeros_like(X)
np.ones_like(X)
np.full_like(X, X)
np.arange(X)
np.linspace(X, X, 3)
np.logspace(X, X, 3)
np.geomspace(X, X, 3)
np.tri(2)
np.fromfunction(lambda i: i, (2,))
np.indices((2, 2))
np.meshgrid([X])[0]
np.concatenate([[X], [X]])
np.stack([X])
np.sqrt(X)
np.exp(X)
np.log(X)
np.sin(X)
np.mean([X])
np.std([X])
np.var([X])
np.median([X])
np.sum([X])
np.cumsum([X])
np.prod([X])
np.max([X])
np.dot([X], [X])
np.matmul([X], [X])
np.clip(X, 0, 1)
np.round(X)
np.abs(X)
np.argmax([X])
np.histogram([1])[1]
np.hanning(3)
np.fft.fft([X])
np.linalg.inv([[X]])
np.random.rand(2)
np.random.randn(2)
np.random.random(2)
np.random.random_sample(2)
np.random.ranf(2)
np.random.sample(2)
np.random.randint(2, size=2)
np.random.normal(size=2)
np.random.standard_normal(2)
np.random.uniform(size=2)
np.random.beta(1, 1, 2)
np.random.gamma(1, size=2)
np.random.exponential(size=2)
np.random.poisson(size=2)
np.random.binomial(1, 0.5, 2)
np.random.laplace(size=2)
np.random.lognormal(size=2)
np.random.logistic(size=2)
np.random.multivariate_normal([0], [[1]])
np.random.permutation(3)
np.random.choice([1], 2)
np.random.Generator.random: np.random.default_rng(1).random(2)
np.random.Generator.normal: np.random.default_rng(1).normal(size=2)
np.random.Generator.standard_normal: np.random.default_rng(1).standard_normal(2)
np.random.Generator.uniform: np.random.default_rng(1).uniform(size=2)
np.random.Generator.integers: np.random.default_rng(1).integers(2, size=2)
np.random.Generator.exponential: np.random.default_rng(1).exponential(size=2)
np.random.Generator.poisson: np.random.default_rng(1).poisson(size=2)
np.random.Generator.beta: np.random.default_rng(1).beta(1, 1, 2)
np.random.Generator.permutation: np.random.default_rng(1).permutation(3)
"""
"""Calls that make something; `X` stands for a value whose kind decides the dtype, `PIXELS` for an image of such."""


def dtype_tables() -> dict[str, dict[str, Any]]:
    """Default dtypes of what is made, and dtypes of arithmetic."""
    warnings.simplefilter("ignore")
    import_module("numpy").seterr(all="ignore")
    made: dict[str, Any] = {}
    for keras in (3, 2):
        for name, found in _made(keras).items():
            if keras == 3:
                made[name] = found
            elif found != made.get(name) and name.startswith("tf.keras.") and not name.startswith("tf.keras.ops."):
                made[f"{name} keras2"] = found
    return {"dtypes": shared(made), "promotions": shared(_promotions())}


def shared(table: dict[str, Any]) -> dict[str, Any]:
    """The table with `= KEY` for an entry that is the same as an earlier one."""
    first: dict[str, str] = {}
    found: dict[str, Any] = {}
    for key, entry in table.items():
        text = repr(entry)
        found[key] = f"= {first[text]}" if isinstance(entry, dict) and text in first else entry
        first.setdefault(text, key)
    return found


def _made(keras: int) -> dict[str, Any]:
    names = namespace(keras)
    np = names["np"]
    names["ROW"] = np.ones((1, 2), "float64")
    table: dict[str, Any] = {}
    for line in MADE.split("\n"):
        if not line:
            continue
        named = re.match(r"([\w.]+): (.*)", line)
        name, text = (named[1], named[2]) if named else (line[: line.index("(")], line)
        if re.search(r"\bX\b", text):
            kinds = {**SCALARS, **{f"np.{d}": np.ones((), d)[()] for d in ARRAYS}}
            found = {kind: _dtype(text, {**names, "X": value}) for kind, value in kinds.items()}
        elif "PIXELS" in text:
            found = {f"np.{d}": _dtype(text, {**names, "PIXELS": np.ones((2, 2, 3), d)}) for d in ARRAYS}
        else:
            found = {"": _dtype(text, names)}
        key = f"{name} []" if "[X]" in text and f"{name} []" not in table and name in table else name
        table[key] = _short(found)
    return {name: found for name, found in table.items() if found}


def _short(found: dict[str, str | None]) -> Any:
    """One text where nothing decides the dtype, else the kinds of value -> dtype."""
    known = {kind: dtype for kind, dtype in found.items() if dtype is not None}
    return known.get("") or known


def _dtype(text: str, names: dict[str, Any]) -> str | None:
    """The dtype of what an expression makes; None where it raises or makes something without one."""
    try:
        value = eval(text, names)
    except Exception:
        return None
    if hasattr(value, "element_spec"):
        value = value.element_spec
    return _name(value)


def _name(value: Any) -> str | None:
    dtype = getattr(value, "dtype", None)
    word = getattr(dtype, "name", dtype)
    if isinstance(word, str):
        return word if not word.startswith(("str", "bytes")) else "string"
    return type(value).__name__ if isinstance(value, (bool, int, float, complex)) else None


def _promotions() -> dict[str, Any]:
    """`OPERATOR LEFT` -> result dtype -> the right operands that give it; what raises is left out."""
    np, tf = import_module("numpy"), import_module("tensorflow")
    operands: dict[str, Any] = {kind: value for kind, value in SCALARS.items() if kind != "str"}
    operands.update({f"np.{d}": np.ones(1, d) for d in ARRAYS})
    operands.update({f"tf.{d}": tf.ones([1], d) for d in TENSORS})
    table: dict[str, dict[str, str]] = {}
    for symbol, left in itertools.product(OPERATORS, operands):
        found: dict[str, list[str]] = {}
        for right in operands:
            if left in SCALARS and right in SCALARS:
                continue
            try:
                dtype = _name(OPERATORS[symbol](operands[left], operands[right]))
            except Exception:
                continue
            if dtype is not None:
                found.setdefault(dtype, []).append(right)
        table[f"{symbol} {left}"] = {dtype: " ".join(rights) for dtype, rights in found.items()}
    return {key: row for key, row in table.items() if row}
