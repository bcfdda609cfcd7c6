"""What the model knows about pipelines: source, steps, element, count, batches."""

from __future__ import annotations

import libcst as cst
import pytest

from tfmemlint.config.settings import Config
from tfmemlint.model.file import File
from tfmemlint.model.transfer.table import structure_bytes
from tfmemlint.model.values import Dataset, Value
from tfmemlint.query.pipelines.pipelines import all_bytes, batched, draws_at_random, element_bytes, source_draws
from tfmemlint.text.read import read_source
from tfmemlint.units import AtLeast

HEADER = """
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow import keras
from tensorflow.data import Dataset
x = np.zeros((100, 8), np.float32)
y = np.zeros((100,), np.int64)
a = Dataset.from_tensor_slices((x, y))
b = tf.data.TFRecordDataset("b")
def load(path):
    return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), [10, 10])
def noisy(v):
    return v + tf.random.normal([8])
def indirect(v):
    return noisy(v)
"""


def value_of(code: str) -> Value:
    """The value of the name `ds` at the end of a program."""
    source = read_source((HEADER + code).encode(), "program.py")
    file = File(source, cst.parse_module(source.text), Config())
    definitions = file.flow(file.module).end.get("ds")
    assert len(definitions) == 1
    return file.values.definition(definitions[0], None)


def pipeline(code: str) -> Dataset:
    found = value_of(code)
    assert isinstance(found, Dataset), found
    return found


@pytest.mark.parametrize(
    ("code", "source", "steps"),
    [
        ("ds = a.shuffle(4).batch(2)", "from_tensor_slices", "shuffle batch"),
        ("ds = a\nds = ds.repeat()\nds = ds.prefetch(1)", "from_tensor_slices", "repeat prefetch"),
        ("ds = tf.compat.v1.data.Dataset.range(3).map(noisy)", "range", "map"),
        ("ds = Dataset.zip((a, b)).batch(2)", "zip", "batch"),
        ("ds = Dataset.zip(a, b)", "zip", ""),
        ("ds = a.concatenate(a).cache()", "concatenate", "cache"),
        ("ds = Dataset.sample_from_datasets([a, a], weights=[0.5, 0.5]).batch(2)", "sample_from_datasets", "batch"),
        ("ds = tf.data.experimental.sample_from_datasets([a, b])", "sample_from_datasets", ""),
        ("ds = Dataset.list_files('*').interleave(tf.data.TFRecordDataset)", "list_files", "interleave"),
        ("ds = b.apply(tf.data.experimental.shuffle_and_repeat(100))", "TFRecordDataset", "shuffle repeat"),
        ("ds = b.apply(tf.data.experimental.map_and_batch(load, 8))", "TFRecordDataset", "map batch"),
        ("ds = b.apply(unknown)", "TFRecordDataset", "apply"),
        ("def end(d):\n    return d.batch(2).prefetch(1)\nds = a.apply(end)", "from_tensor_slices", "batch prefetch"),
        ("def end(d):\n    return d.batch(2)\nds = end(a)", "from_tensor_slices", "batch"),
        ("ds = tfds.load('mnist', split='train').batch(2)", "load", "batch"),
        ("ds = tfds.load('mnist')['train']", "load", ""),
        ("(ds, test), info = tfds.load('mnist', split=['train', 'test'], with_info=True)", "load", ""),
        ("builder = tfds.builder('mnist')\nds = builder.as_dataset(split='train')", "load", ""),
        ("ds = keras.utils.image_dataset_from_directory('d').cache()", "image_dataset_from_directory", "cache"),
        ("ds = keras.preprocessing.image_dataset_from_directory('d')", "image_dataset_from_directory", ""),
        ("ds, val = keras.utils.image_dataset_from_directory('d', subset='both', seed=1)",
         "image_dataset_from_directory", ""),
        ("ds = tf.data.experimental.make_csv_dataset('c', 8).take(1)", "make_csv_dataset", "take"),
        ("ds = {'train': a.batch(2), 'test': b}['train']", "from_tensor_slices", "batch"),
        ("sets = {}\nsets['train'] = a.batch(2)\nds = sets['train'].prefetch(1)",
         "from_tensor_slices", "batch prefetch"),
        ("pair = (a, b.batch(3))\n_, ds = pair", "TFRecordDataset", "batch"),
        ("def two():\n    return a.batch(2), b\nds, _ = two()", "from_tensor_slices", "batch"),
        ("class L:\n    def __init__(self):\n        self.d = a.cache()\n"
         "    def get(self):\n        return self.d.batch(2)\n"
         "ds = L().get()", "from_tensor_slices", "cache batch"),
        ("s = tf.distribute.MirroredStrategy()\nds = s.experimental_distribute_dataset(a.batch(2))",
         "from_tensor_slices", "batch distribute"),
    ],
)  # fmt: skip
def test_source_and_steps(code: str, source: str, steps: str) -> None:
    found = pipeline(code)
    assert found.source is not None
    assert found.source.rpartition(".")[2] == source
    assert " ".join(found.names()) == steps


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ds = a", False),
        ("ds = a.batch(2)", True),
        ("ds = a.padded_batch(2).shuffle(3).prefetch(1)", True),
        ("ds = a.batch(2).unbatch()", False),
        ("ds = a.window(2)", None),
        ("ds = a.apply(unknown)", None),
        ("ds = a.map(unknown)", None),
        ("ds = a.map(lambda v, w: (v[None], w))", None),
        ("ds = a.map(lambda v, w: (v / 2, w))", False),
        ("ds = Dataset.from_generator(unknown, tf.float32)", None),
        ("ds = keras.utils.image_dataset_from_directory('d')", True),
        ("ds = keras.utils.image_dataset_from_directory('d', batch_size=None)", False),
        ("ds = keras.utils.timeseries_dataset_from_array(x, y, 3)", True),
        ("ds = tfds.load('mnist', split='train')", False),
        ("ds = tfds.load('mnist', split='train', batch_size=8)", True),
        ("ds = tf.data.experimental.make_csv_dataset('c', 8)", True),
        ("ds = Dataset.zip((a.batch(2), a.batch(2)))", True),
        ("ds = Dataset.zip((a.batch(2), a))", None),
        ("ds = Dataset.list_files('*').interleave(tf.data.TFRecordDataset)", False),
        ("ds = Dataset.list_files('*').interleave(lambda p: tf.data.TFRecordDataset(p).batch(3))", True),
        ("ds = Dataset.list_files('*').flat_map(unknown)", None),
        ("ds = b.apply(tf.data.experimental.map_and_batch(load, 8))", True),
        ("ds = Dataset.load('saved')", None),
    ],
)
def test_batched(code: str, expected: bool | None) -> None:
    assert batched(pipeline(code)) is expected


@pytest.mark.parametrize(
    ("code", "count", "size"),
    [
        ("ds = a", 100, 40),
        ("ds = a.batch(32)", 4, 32 * 40),
        ("ds = a.batch(32, drop_remainder=True)", 3, 32 * 40),
        ("ds = a.repeat(3)", 300, 40),
        ("ds = a.repeat()", None, 40),
        ("ds = a.take(7).skip(2)", 5, 40),
        ("ds = a.map(lambda v, w: v)", 100, 32),
        ("ds = a.map(lambda v, w: tf.cast(v, tf.float16))", 100, 16),
        ("ds = Dataset.from_tensors(x)", 1, 3200),
        ("ds = Dataset.range(5)", 5, 8),
        ("ds = a.concatenate(a)", 200, 40),
        ("ds = Dataset.zip((a, Dataset.range(5)))", 5, 48),
        ("ds = a.filter(lambda v, w: w > 0)", None, 40),
        ("ds = Dataset.list_files('*').map(load)", None, 1200),
        (
            "ds = keras.utils.image_dataset_from_directory('d', batch_size=4, image_size=(10, 10))",
            None,
            4 * 1200 + 4 * 4,
        ),
        (
            "ds = keras.utils.image_dataset_from_directory('d', batch_size=None, label_mode=None, image_size=(10, 10))",
            None,
            1200,
        ),
        (
            "def g():\n    yield 1\nds = Dataset.from_generator(g, output_signature=tf.TensorSpec([4], tf.float32))",
            None,
            16,
        ),
        ("ds = a.padded_batch(4)", 25, None),
        ("ds = a.map(unknown)", 100, None),
        ("ds = a.map(lambda v, w: (w, unknown(v)))", 100, None),
    ],
)
def test_count_and_bytes(code: str, count: int | None, size: int | None) -> None:
    found = pipeline(code)
    assert (found.count, structure_bytes(found.element)) == (count, size)


@pytest.mark.parametrize(
    ("code", "each", "whole"),
    [
        ("ds = a.map(lambda v, w: (tf.zeros([1024]), unknown(v)))", AtLeast(4096), AtLeast(409600)),
        ("ds = a.map(lambda v, w: {0: tf.zeros([1024]), 1: tf.as_string(w)})", AtLeast(4096), AtLeast(409600)),
        ("ds = a.map(lambda v, w: (tf.zeros([1024]), unknown(v))).batch(10)", AtLeast(40960), AtLeast(409600)),
        ("ds = a.map(lambda v, w: (tf.zeros([1024]), unknown(v))).repeat()", AtLeast(4096), None),
        ("ds = a.map(lambda v, w: tf.zeros([1024]))", 4096, 409600),
    ],
)
def test_an_element_with_unknown_parts_weighs_at_least_the_others(code: str, each: int, whole: int | None) -> None:
    found = [element_bytes([pipeline(code)]), all_bytes([pipeline(code)])]
    assert found == [each, whole]
    assert [type(size) for size in found] == [type(each), type(whole)]


def test_of_equal_pipelines_one_with_unknown_parts_gives_a_lower_bound() -> None:
    exact, bound = pipeline("ds = a.map(lambda v, w: tf.zeros([1024]))"), pipeline(
        "ds = a.map(lambda v, w: (tf.zeros([1024]), unknown(v)))"
    )
    assert isinstance(element_bytes([exact, bound]), AtLeast)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ds = a.shuffle(3)", True),
        ("ds = a.map(noisy)", True),
        ("ds = a.map(indirect)", True),
        ("ds = a.map(lambda v, w: (tf.image.random_flip_left_right(v), w))", True),
        ("ds = a.map(lambda v, w: (tf.image.stateless_random_flip_left_right(v, (1, 2)), w))", False),
        ("m = keras.Sequential([keras.layers.RandomFlip()])\nds = a.map(lambda v, w: (m(v), w))", True),
        ("m = keras.Sequential([keras.layers.Rescaling(2.0)])\nds = a.map(lambda v, w: (m(v), w))", False),
        ("ds = b.map(load)", False),
        ("ds = b.map(unknown)", None),
        ("ds = b.map(lambda v: tf.py_function(unknown, [v], tf.float32))", None),
        ("ds = a.batch(2)", False),
    ],
)
def test_randomness_of_the_last_step(code: str, expected: bool | None) -> None:
    assert draws_at_random(pipeline(code).steps[-1]) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ds = a", False),
        ("ds = b", False),
        ("ds = Dataset.list_files('*')", True),
        ("ds = Dataset.list_files('*', shuffle=False)", False),
        ("ds = Dataset.sample_from_datasets([a, b])", True),
        ("ds = a.concatenate(a.shuffle(3))", True),
        ("ds = tfds.load('mnist', split='train')", None),
    ],
)
def test_randomness_of_the_source(code: str, expected: bool | None) -> None:
    assert source_draws(pipeline(code)) is expected


@pytest.mark.parametrize(
    "code",
    [
        "class Deck:\n    def batch(self, n):\n        return self\nds = Deck().batch(2)",
        "def f(d):\n    return d.batch(2)\nds = f(unknown)",
        "ds = np.zeros(3).repeat(2)",
        "ds = tfds.load('mnist', **options)",
    ],
)
def test_what_is_no_pipeline(code: str) -> None:
    assert not isinstance(value_of(code), Dataset)


def test_what_may_have_been_added_to_an_element_has_no_known_size() -> None:
    filled = "def f(v, w):\n    d = {'a': tf.zeros([1024])}\n    for k in keys:\n        d[k] = v\n    return d\n"
    found = element_bytes([pipeline(f"{filled}ds = a.map(f)")])
    assert found is None or isinstance(found, AtLeast)
    assert element_bytes([pipeline("ds = a.map(lambda v, w: {})")]) is None
