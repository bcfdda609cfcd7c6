"""Which arrays are one number for each example."""

import pytest
from programs import model_of

from tfmemlint.query.tensors.single_numbers import one_each

NET = (
    "i = keras.Input(shape)\nh = keras.layers.LeakyReLU()(keras.layers.Dense(9)(keras.layers.Flatten()(i)))\n"
    "net = keras.Model(i, keras.layers.Dense({}, activation='sigmoid')(h))\n"
)
TWO = "j = keras.Input(shape)\nboth = keras.Model(j, [keras.layers.Conv2D(3, 3)(j), net(j)])\n"

GIVEN = [
    ("for x, y in ds:\n    work(y.numpy())", True),
    ("for x, y in ds:\n    work(x.numpy())", False),
    ("for i, (x, y) in enumerate(ds):\n    work(np.array(y))", True),
    ("for i, x in enumerate(ds):\n    work(x)", False),
    ("for a, b in zip(left, right):\n    work(b)", False),
    ("for x, y in tf.data.Dataset.from_tensor_slices((tf.zeros([9, 4]), tf.zeros([9, 64, 64]))):\n    work(y)", False),
    ("chosen = np.argmax(scores, axis=1)\nwork(chosen[chosen > 2])", True),
    ("work(model.predict(x).argmax(1).astype('int32'))", True),
    ("work(tf.image.psnr(a, b, 1.0))", True),
    ("work(np.float64(tf.reduce_mean(scores)))", True),
    ("loss = tf.reduce_mean(scores)\nwork(loss.numpy())", True),
    ("loss = tf.reduce_mean(scores, axis=0)\nwork(loss.numpy())", False),
    ("t1 = tf.compat.v1\ncost = tf.reduce_mean(t1.placeholder(tf.float32))\nwork(t1.Session().run(cost))", True),
    ("t1 = tf.compat.v1\nt = t1.placeholder(tf.float32)\nwork(t1.Session().run(t))", False),
    ("work(model.predict(x))", False),
    ("work(x[0])", False),
    (NET.format(1) + "work(net.predict(x))", True),
    (NET.format(1) + "work(net(x).numpy())", True),
    (NET.format(1) + "work(net.predict_on_batch(x)[:, 0])", True),
    (NET.format(10) + "work(net.predict(x))", False),
    (NET.format("n") + "work(net.predict(x))", False),
    (NET.format(1).replace("keras.layers.Flatten()(i)", "i") + "work(net.predict(x))", False),
    (NET.format(1) + TWO + "found = both.predict(x)\nwork(found[1])", True),
    (NET.format(1) + TWO + "found = both.predict(x)\nwork(found[0])", False),
    (NET.format(1) + TWO + "work(both.predict(x))", False),
]


@pytest.mark.parametrize(("program", "expected"), GIVEN)
def test_numbers_of_examples(program: str, expected: bool) -> None:
    file = model_of(program)
    work = file.calls_by_word["work"][0]
    assert one_each(file, work.args[0].value) is expected
