"""Operations on a whole data set: which data is seen to be one, and the bytes of what is made of it."""

import pytest
from programs import model_of

from tfmemlint.query.tensors.whole_ops import whole_ops

HEAD = "(x, y), (v, w) = tf.keras.datasets.cifar10.load_data()\n(d, _), _ = tf.keras.datasets.mnist.load_data()\n"

OPS = [
    ("tf.image.resize(x, (64, 64))", [50_000 * 64 * 64 * 3 * 4]),
    ("tf.image.resize(x[:100], (64, 64))", [100 * 64 * 64 * 3 * 4]),
    ("tf.image.resize(x[i:j], (64, 64))", []),
    ("tf.image.resize(x, size)", []),
    ("tf.cast(d, tf.float32) / 255", [60_000 * 28 * 28 * 4]),
    ("tf.one_hot(y, 10)", [50_000 * 10 * 4]),
    ("tf.image.grayscale_to_rgb(tf.cast(d, tf.float32)[..., None])", [60_000 * 28 * 28 * n * 4 for n in (3, 1)]),
    ("tf.image.flip_left_right(v)", [10_000 * 32 * 32 * 3]),
    ("tf.keras.layers.Resizing(16, 8)(v)", [10_000 * 16 * 8 * 3 * 4]),
    ("layer = tf.keras.layers.Rescaling(2.0)\nlayer(v)", [10_000 * 32 * 32 * 3 * 4]),
    ("tf.keras.layers.Dense(2)(v)", []),
    ("tf.image.resize(read(), (64, 64))", []),
    ("tf.data.Dataset.from_tensor_slices(x).map(lambda e: tf.cast(e, tf.float32))", []),
]


@pytest.mark.parametrize(("program", "expected"), OPS)
def test_bytes_of_what_is_computed_of_all_examples(program: str, expected: list[int]) -> None:
    assert [each.bytes for each in whole_ops.of(model_of(HEAD + program))] == expected
