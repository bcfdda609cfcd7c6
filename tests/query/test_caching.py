"""What a cache at the end of a pipeline would hold."""

import pytest
from programs import model_of, value_in

from tfmemlint.model.values import Dataset
from tfmemlint.query.pipelines.caching import (
    draws_nothing,
    example_bytes,
    frozen_draw,
    holds_media,
    made_of_memory,
    takes_no_steps,
)

X = "x = np.zeros((100, 8), np.float32)\ntd = tf.data.Dataset\nds = td.from_tensor_slices(x)\n"
RECORDS = "td = tf.data.Dataset\nds = tf.data.TFRecordDataset('f')\n"


def _of(program: str) -> Dataset:
    found = value_in(model_of(program))
    assert isinstance(found, Dataset)
    return found


MADE_OF_MEMORY = [
    (X + "ds", True),
    (X + "ds.batch(2).map(lambda v: v / 2)", True),
    (X + "td.zip((ds, td.range(100)))", True),
    (X + "ds.map(lambda v: tf.numpy_function(f, [v], tf.float32))", False),
    (X + "ds.shuffle(100)", False),
    (RECORDS + "ds", False),
    (RECORDS + "td.zip((ds, ds))", False),
]


@pytest.mark.parametrize(("program", "expected"), MADE_OF_MEMORY)
def test_what_is_in_memory_and_cheap_to_do_again(program: str, expected: bool) -> None:
    assert made_of_memory(_of(program)) is expected


NO_STEPS = [
    (X + "ds", True),
    (X + "td.zip((ds, ds))", True),
    (X + "ds.take(-1)", True),
    (X + "ds.skip(3).map(lambda v: v)", False),
    (X + "ds.batch(2)", False),
    (X + "td.zip((ds, ds.batch(2)))", False),
]


@pytest.mark.parametrize(("program", "expected"), NO_STEPS)
def test_pipelines_that_are_their_source(program: str, expected: bool) -> None:
    assert takes_no_steps(_of(program)) is expected


NOTHING_DRAWN = [
    (X + "ds.map(lambda v: v / 2).batch(2)", True),
    (X + "ds.map(unknown)", False),
    (X + "ds.shuffle(100).batch(2)", False),
    ("tf.data.Dataset.list_files('*').batch(2)", False),
    ("tf.data.Dataset.list_files('*', shuffle=False).batch(2)", True),
]


@pytest.mark.parametrize(("program", "expected"), NOTHING_DRAWN)
def test_pipelines_that_give_the_same_each_time(program: str, expected: bool) -> None:
    assert draws_nothing(_of(program)) is expected


NOISE = "def noisy(v):\n    return v + tf.random.normal([8])\n"
GIVEN = """
def run(v, first, second, training):
    if training:
        v = second(v)
    return first(v)
def given(first, second=None, training=False):
    return ds.map(lambda v: run(v, first, second, training))
"""
DRAWS = [
    (X + "ds.shuffle(100).batch(2)", "shuffle"),
    (X + NOISE + "ds.batch(2).map(noisy)", "map"),
    (X + NOISE + "ds.cache().map(noisy)", None),
    (X + "ds.shuffle(100, reshuffle_each_iteration=False)", None),
    (X + "ds.shuffle(100).take(10)", None),
    ("tf.data.Dataset.list_files('*').shuffle(100)", None),
    (X + "ds.map(unknown)", None),
    (X + NOISE + GIVEN + "given(noisy)", "map"),
    (X + NOISE + GIVEN + "given(noisy)\ngiven(tf.abs)", None),
    (X + NOISE + GIVEN + "given(tf.abs, noisy)", None),
    (X + NOISE + GIVEN + "given(tf.abs, noisy, True)", "map"),
]


@pytest.mark.parametrize(("program", "expected"), DRAWS)
def test_the_draw_that_a_cache_freezes(program: str, expected: str | None) -> None:
    file = model_of(program)
    ds = value_in(file)
    assert isinstance(ds, Dataset)
    found = frozen_draw(file, ds)
    assert (found.name if found is not None else None) == expected


PATHS = "ds = tf.data.Dataset.list_files('f')\n"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (PATHS + "ds.map(lambda p: tf.io.decode_png(tf.io.read_file(p)))", True),
        (PATHS + "ds.map(tf.io.read_file)", False),
        (PATHS + "ds.map(lambda p: tf.numpy_function(lambda q: np.load(q), [p], tf.float32))", False),
        (X + "ds.map(lambda v: tf.image.resize(v, (9, 9)))", False),
        (RECORDS + "ds.map(tf.io.decode_jpeg)", True),
        (RECORDS + "ds.map(lambda r: tf.io.decode_raw(r, tf.uint8))", False),
        ("tfds.load('d', split='train')", False),
        ("tfds.load('d', split='train').map(lambda i: tf.image.resize(i, (9, 9)))", True),
        ("keras.utils.image_dataset_from_directory('d')", True),
        ("keras.utils.image_dataset_from_directory('d').map(lambda x, y: (x / 255.0, y))", True),
        ("keras.utils.image_dataset_from_directory('d').map(lambda x, y: (features(x), y))", False),
        ("keras.utils.text_dataset_from_directory('d')", False),
    ],
)
def test_images_and_sounds_that_were_decoded(program: str, expected: bool) -> None:
    assert holds_media(_of(program)) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [(X + "ds", 32), (X + "ds.batch(4)", 32), (X + "ds.batch(n)", 32), (RECORDS + "ds.batch(4)", None)],
)
def test_the_bytes_of_an_example(program: str, expected: int | None) -> None:
    assert example_bytes(_of(program)) == expected
