"""What a shuffle buffer holds: which elements a map made, and which are in memory anyway."""

from __future__ import annotations

import pytest
from programs import model_of

from tfmemlint.model.values import Array
from tfmemlint.query.ordering.conditions import is_off_by_default, is_switched_off
from tfmemlint.query.pipelines.shuffling import (
    copied_bytes,
    decoded_by_tfds,
    expanding_map,
    is_saved,
    kept_anyway,
    needs_no_prefetch,
    own_parts,
)

START = """
import tensorflow_datasets as tfds
d = tf.data.Dataset
x, z = np.zeros((500, 64), np.float32), np.zeros((500, 65), np.float32)
y = np.zeros(500, np.int64)
def load(path):
    return tf.image.resize(tf.io.decode_png(tf.io.read_file(path)), (64, 64))
def to_float(image):
    return tf.image.convert_image_dtype(image, tf.float32)
def cropped(image, label):
    image = tf.image.resize_with_pad(to_float(image), 28, 28)
    return tf.image.random_brightness(tf.image.random_crop(image, size=[24, 24, 1]), max_delta=0.1), label
"""

PARTS = [
    ("d.from_tensor_slices(x)", []),
    ("d.from_tensor_slices(z)", [260]),
    ("d.from_tensor_slices((x, y))", [8]),
    ("d.from_tensor_slices(x).skip(3).filter(f).repeat()", []),
    ("d.from_tensor_slices(x).map(lambda v: (v, v))", []),
    ("d.from_tensor_slices(x).map(lambda v: v * 2)", [256]),
    ("d.from_tensor_slices(x).map(lambda v: v * 2).cache().take(9)", []),
    ("d.from_tensor_slices(x).map(lambda v: v * 2).cache('file')", [256]),
    ("d.from_tensor_slices(x).cache().batch(2)", [512]),
    ("d.zip((d.from_tensor_slices(x), d.from_tensor_slices(z)))", [260]),
    ("d.from_tensor_slices(unknown)", []),
    ("d.from_tensor_slices((unknown, y))", []),
    ("d.from_tensor_slices(unknown).map(lambda v: v * 2)", [None]),
    ("tf.data.TFRecordDataset(files)", [None]),
]


@pytest.mark.parametrize(("pipeline", "expected"), PARTS)
def test_parts_that_take_memory_of_their_own(pipeline: str, expected: list[int | None]) -> None:
    file = model_of(f"{START}probe({pipeline}.shuffle(9))")
    datasets = file.call(file.calls_by_word["shuffle"][0]).datasets()
    found = [part.bytes if isinstance(part, Array) else None for ds in datasets for part in own_parts(ds)]
    assert found == expected


COPIED = [
    ("d.from_tensor_slices(x)", 0),
    ("d.from_tensor_slices(z)", 500 * 260),
    ("d.from_tensors(z)", 0),
    ("d.from_tensor_slices(unknown)", None),
    ("d.from_tensor_slices((z, unknown))", None),
]


@pytest.mark.parametrize(("pipeline", "expected"), COPIED)
def test_bytes_that_are_copied_where_elements_are_kept(pipeline: str, expected: int | None) -> None:
    file = model_of(f"{START}probe({pipeline}.shuffle(9))")
    datasets = file.call(file.calls_by_word["shuffle"][0]).datasets()
    assert [copied_bytes(ds) for ds in datasets] == [expected]


NOTHING_AHEAD = [
    ("d.from_tensor_slices((x, y)).repeat().shuffle(9).batch(2)", True),
    ("d.from_tensor_slices(unknown).batch(2).map(lambda v: {'rows': v})", True),
    ("d.zip((d.from_tensor_slices(x), d.from_tensor_slices(z))).batch(2)", True),
    ("d.zip((d.from_tensor_slices(x), tf.data.TFRecordDataset(files))).batch(2)", False),
    ("d.from_tensor_slices(x).map(lambda v: v * 2).batch(2)", False),
    ("d.from_tensor_slices(x).filter(f).batch(2)", False),
    ("d.from_tensor_slices(x).map(f).batch(2)", False),
    ("tf.data.TFRecordDataset(files).batch(2)", False),
    ("tf.data.TextLineDataset(files).shuffle(9).batch(2)", True),
    ("tf.data.experimental.CsvDataset(files, [tf.string, tf.string]).batch(2)", True),
    ("tf.data.TextLineDataset(files).map(f).batch(2)", False),
    ("tf.data.TextLineDataset(files).map(lambda line: tf.io.decode_csv(line, [[0.0]])).batch(4)", True),
    ("tf.data.TextLineDataset(files).map(lambda line: tf.io.decode_csv(line, [[0.0]])).batch(8)", False),
    ("tf.data.TextLineDataset(files).map(load).batch(4)", False),
    ("tfds.load('mnist', split='train', as_supervised=True).shuffle(9).batch(2)", True),
    ("tfds.load('mnist', split='train[:80%]', as_supervised=True).batch(2)", True),
    ("tfds.load('mnist', split='train', as_supervised=True, shuffle_files=True).batch(2)", False),
    ("tfds.load('mnist', split='train', as_supervised=True, read_config=c).batch(2)", False),
    ("tfds.load('mnist', split='train', as_supervised=True).map(f).batch(2)", False),
    ("tfds.load('cats_vs_dogs', split='train', as_supervised=True).batch(2)", False),
    ("tfds.load('tf_flowers', split='train', as_supervised=True).batch(2)", True),
    ("tfds.builder('mnist').as_dataset(split='train').batch(2)", True),
    ("tfds.load('food101', split='train', as_supervised=True).batch(2)", False),
    ("tfds.load('cifar10', split='train').batch(2)", True),
    ("tfds.load('patch_camelyon', split='train').batch(2)", False),
    ("tfds.load('imdb_reviews/subwords8k', split='train', as_supervised=True).padded_batch(2)", True),
    ("tfds.load('imdb_reviews/bytes', split='train', as_supervised=True).padded_batch(2)", False),
    ("tfds.load('iris', split='train').map(lambda e: (e['features'] * 2.0, tf.one_hot(e['label'], 3))).batch(2)", True),
    ("tfds.load('iris', split='train').map(f).batch(2)", False),
    ("tfds.load('mnist', split='train').map(lambda e: (e['image'] * 2, tf.one_hot(e['label'], 9))).batch(2)", False),
]


@pytest.mark.parametrize(("pipeline", "expected"), NOTHING_AHEAD)
def test_pipelines_that_have_nothing_to_do_ahead(pipeline: str, expected: bool) -> None:
    file = model_of(f"{START}probe({pipeline}.shuffle(9))")
    (ds,) = file.call(file.calls_by_word["shuffle"][-1]).datasets()
    assert needs_no_prefetch(ds) is expected


EXPANDS = [
    ("d.list_files('*.png').map(load)", True),
    ("d.list_files('*.png').map(load).cache('file')", True),
    ("d.list_files('*.png').map(load).cache()", False),
    ("d.list_files('*.png').map(load).batch(8)", False),
    ("d.list_files('*.png')", False),
    ("d.from_tensor_slices(x).map(lambda v: v * 2)", False),
    ("d.from_tensor_slices(x).map(lambda v: tf.cast(v, tf.float64))", True),
    ("tfds.load('food101', split='train').map(lambda e: tf.image.resize(e['image'], (224, 224)))", False),
    ("tfds.load('mnist', split='train').map(lambda e: tf.image.resize(e['image'], (224, 224)))", True),
    ("tfds.load('own', split='train').map(lambda e: to_float(e['image']))", True),
    ("tfds.load('own', split='train').map(lambda e: tf.image.resize(to_float(e['image']), (24, 24)))", False),
    ("tfds.load('own', split='train').map(lambda e: tf.image.random_crop(to_float(e['image']), (24, 24, 1)))", False),
    ("tfds.load('stl10', split='train').map(lambda e: to_float(e['image']))", True),
    ("tfds.load('stl10', split='train').map(lambda e: tf.image.resize_with_pad(to_float(e['image']), 24, 24))", False),
    ("tfds.load('smallnorb', split='train', as_supervised=True).map(cropped)", False),
]


@pytest.mark.parametrize(("pipeline", "expected"), EXPANDS)
def test_maps_that_make_elements_larger(pipeline: str, expected: bool) -> None:
    file = model_of(f"{START}probe({pipeline}.shuffle(9))")
    (ds,) = file.call(file.calls_by_word["shuffle"][0]).datasets()
    assert (expanding_map(ds) is not None) is expected


OF_ANY_SIZE = [
    ("'food101', split='train'", True),
    ("'own', split='train'", True),
    ("'food101', split='train', as_supervised=True", True),
    ("'patch_camelyon', split='train'", False),  # 27 KiB each, and a name
    ("'cifar100', split='train', shuffle_files=True", False),
    ("'mnist', split='train'", False),
    ("name, split='train'", False),
]


@pytest.mark.parametrize(("asked", "expected"), OF_ANY_SIZE)
def test_images_of_any_size_that_are_decoded_before_the_buffer(asked: str, expected: bool) -> None:
    file = model_of(f"{START}tfds.load({asked}).shuffle(9).map(lambda e: tf.image.resize(e['image'], (9, 9)))")
    assert (decoded_by_tfds(file, file.call(file.calls_by_word["shuffle"][0])) is not None) is expected


SWITCHES = [
    ("if mix:\n        probe()", "f(x, False)", True),
    ("if mix:\n        probe()", "f(x, mix=False)\nf(x, mix=0)", True),
    ("if mix:\n        probe()", "f(x, False)\nf(x, True)", False),
    ("if mix:\n        probe()", "f(x, flag)", False),
    ("if mix:\n        probe()", "", False),
    ("if mix:\n        pass\n    else:\n        probe()", "f(x, False)", False),
    ("if mix:\n        pass\n    else:\n        probe()", "f(x, True)", True),
    ("if not mix:\n        probe()", "f(x, True)", True),
    ("if other:\n        probe()", "f(x, False)", False),
    ("if mix and x:\n        probe()", "f(x, False)", True),
    ("if mix or x:\n        probe()", "f(x, False)", False),
    ("if mix or x:\n        pass\n    else:\n        probe()", "f(x, True)", True),
    ("if not mix:\n        return x\n    probe()", "f(x, False)", True),
    ("if not mix:\n        return x\n    probe()", "f(x, False)\nf(x)", False),
]


@pytest.mark.parametrize(("body", "calls", "expected"), SWITCHES)
def test_code_that_no_call_asks_for(body: str, calls: str, expected: bool) -> None:
    file = model_of(f"x = 1\ndef f(x, mix=True):\n    {body}\n{calls}")
    assert is_switched_off(file, file.calls_by_word["probe"][0]) is expected


KEPT = "class C:\n    def __init__(self, keep=True):\n        self.keep = keep\n    def f(self):\n"
KEPT += "        if self.keep:\n            probe()\n"


@pytest.mark.parametrize(
    ("made", "expected"),
    [("C(False)\nC(keep=False)", True), ("C(False)\nC()", False), ("C(flags.keep)", False), ("", False)],
)
def test_code_that_no_object_asks_for(made: str, expected: bool) -> None:
    file = model_of(KEPT + made)
    assert is_switched_off(file, file.calls_by_word["probe"][0]) is expected


def test_what_a_method_leaves_out_says_nothing_of_its_callers() -> None:
    made = "class C:\n    def __init__(self):\n        pass\n"
    made += "    def f(self, n=0):\n        if n:\n            probe()\nC()\n"
    file = model_of(made)
    assert not is_switched_off(file, file.calls_by_word["probe"][0])


OPTIONS = [
    ("def f(x, keep=False):\n    if keep:\n        probe()", True),
    ("def f(x, keep=None):\n    if keep and x:\n        probe()\nf(1)\nf(2, keep=False)", True),
    ("def f(x, keep=True):\n    if not keep:\n        probe()", True),
    ("def f(x, keep=False):\n    if keep:\n        probe()\ndef g(keep=False):\n    f(1, keep)\ng()", True),
    ("def f(x, keep=False):\n    if keep:\n        probe()\ndef g(keep=False):\n    f(1, keep)\ng(True)", False),
    ("def f(x, keep=False):\n    if keep:\n        probe()\nf(1, flags.keep)", False),
    ("def f(x, keep=False):\n    if keep:\n        probe()\nf(1)\nf(2, True)", False),
    ("def f(x, keep):\n    if keep:\n        probe()\nf(1, False)", False),
    ("def f(x, keep=True):\n    if keep:\n        probe()", False),
    ("def f(x, keep=False):\n    if x or keep:\n        probe()", False),
    ("class C:\n    def __init__(self, keep=False):\n        self.keep = keep\n    def f(self):\n"
     "        if self.keep:\n            probe()", True),
    ("class C:\n    def __init__(self, keep=False):\n        self.keep = keep\n    def f(self):\n"
     "        if self.keep:\n            probe()\nC(True)", False),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), OPTIONS)
def test_options_that_nobody_asks_for(program: str, expected: bool) -> None:
    file = model_of(program)
    assert is_off_by_default(file, file.calls_by_word["probe"][0]) is expected


KEPT_ANYWAY = [
    ("d.list_files('*.png').map(load).shuffle(9).cache()", True),
    ("d.list_files('*.png').map(load).shuffle(9).prefetch(1).cache()", True),
    ("d.list_files('*.png').map(load).shuffle(9).cache('file')", False),
    ("d.list_files('*.png').map(load).shuffle(9).take(5).cache()", False),
    ("d.list_files('*.png').map(load).shuffle(9).map(to_float).cache()", False),
    ("d.list_files('*.png').map(load).shuffle(9)", False),
]


@pytest.mark.parametrize(("pipeline", "expected"), KEPT_ANYWAY)
def test_elements_that_a_cache_behind_a_shuffle_keeps(pipeline: str, expected: bool) -> None:
    file = model_of(f"{START}probe({pipeline})")
    assert kept_anyway(file, file.call(file.calls_by_word["shuffle"][0])) is expected


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        ("d.range(9).cache('file')", True),
        ("d.range(9).cache('folder/' + name).map(f)", True),
        ("d.range(9).cache()", False),
        ("d.range(9).cache('')", False),
        ("d.range(9)", False),
    ],
)
def test_elements_of_a_cache_in_a_file(pipeline: str, expected: bool) -> None:
    file = model_of(f"{START}probe({pipeline}.shuffle(9))")
    (ds,) = file.call(file.calls_by_word["shuffle"][0]).datasets()
    assert is_saved(ds) is expected
