"""Which consumers of a pipeline gain nothing from a batch that is made ahead."""

from __future__ import annotations

import pytest
from programs import model_of

from tfmemlint.query.pipelines.ends import consumed
from tfmemlint.query.pipelines.waiting import only_looked_at, waits_little

START = """
import matplotlib.pyplot as plt
from steps import run, step
def opened(path):
    return tf.io.decode_png(tf.io.read_file(path))
a = tf.data.Dataset.from_tensor_slices(np.zeros((100, 8), np.float32)).map(lambda v: v * 2)
files = tf.data.Dataset.list_files("*.png").map(opened)
model = keras.Sequential([keras.layers.Dense(1)])
def album():
    return files.batch(2)
"""


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("model.fit(a.batch(2))", [False]),
        ("model.fit(a.batch(100))", [True]),
        ("model.evaluate(a.batch(2))", [True]),
        ("model.predict(a.batch(2))", [True]),
        ("model.predict(files.batch(2))", [False]),
        ("model.predict(files.cache().batch(2))", [True]),
        ("model.fit(b, validation_data=a.batch(2))", [True]),
        ("model.predict(tf.data.Dataset.zip((a, a)).batch(2))", [True]),
        ("model.predict(tf.data.Dataset.zip((a, files)).batch(2))", [False]),
        ("model.predict(a.map(lambda v: tf.numpy_function(f, [v], tf.float32)).batch(2))", [False]),
        ("model.predict(files.take(16).batch(2))", [True]),
        ("model.predict(files.take(20).batch(2))", [False]),
        ("model.predict(files.batch(2), steps=9)", [True]),
        ("model.fit(files.batch(2), steps_per_epoch=9)", [False]),
        ("model.fit(files.repeat().batch(2), steps_per_epoch=1)", [True]),
        ("model.fit(b, validation_data=files.batch(2), validation_steps=9)", [True]),
        ("model.fit(b, validation_data=files.batch(2), steps_per_epoch=9)", [False]),
        ("for x in files.batch(2):\n    plt.imshow(model(x)[0])", [True]),
        ("for x in files.batch(2):\n    plt.imshow(model(x, training=True)[0])", [False]),
        ("model.fit(b)\nmodel.evaluate(files.batch(2))", [False]),
        ("model.fit(files.batch(4))\nmodel.evaluate(files.batch(2))", [False, True]),
        ("model.fit(files.batch(4))\nfor i in range(9):\n    model.evaluate(files.batch(2))", [False, False]),
        ("for x in a.batch(2):\n    model(x)", [True]),
        ("for x in a.batch(2):\n    model(x, training=True)", [False]),
        ("for x in a.batch(2):\n    model.train_on_batch(x)", [False]),
        ("for x in a.batch(2):\n    with tf.GradientTape() as tape:\n        model(x)", [False]),
        ("def step(x):\n    with tf.GradientTape():\n        model(x)\nfor x in a.batch(2):\n    step(x)", [False]),
    ],
)
def test_tests_of_a_model_wait_little(program: str, expected: list[bool]) -> None:
    file = model_of(START.partition("def album")[0] + program)
    assert [waits_little(file, arrival) for arrivals in consumed.of(file) for arrival in arrivals] == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("for page in album():\n    plt.imshow(page[0])", True),
        ("pages = album()\nfor page in pages:\n    first = page[0]\n    plt.imshow(first.numpy())", True),
        ("def show(p):\n    plt.imshow(p)\nfor page in album():\n    show(page[0])", True),
        ("for page in album():\n    print(page.shape)", True),
        ("pages = album()\nfor page in pages.take(2):\n    np.save('page', page.numpy())", True),
        ("album()", False),
        ("seen = [album()]\nplt.imshow(seen[0])", True),
        ("for page in album():\n    step(page)", False),
        ("run(album())", False),
        ("class Shelf:\n    def __init__(self):\n        self.album = album()", False),
        ("if __name__ == '__main__':\n    for page in album():\n        plt.imshow(page[0])", False),
        ("for page in album():\n    plt.imshow(page[0])\nmodel.fit(a.batch(2))", True),
        ("model.fit(album())", True),
    ],
)
def test_what_a_function_returns_waits_little_where_all_callers_are_seen(program: str, expected: bool) -> None:
    file = model_of(START + program)
    returned = [each for arrivals in consumed.of(file) for each in arrivals if each.use.returned]
    assert [waits_little(file, arrival) for arrival in returned] == [expected]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("for row in made.take(3):\n    print(row)", True),
        ("with tf.io.TFRecordWriter('w') as w:\n    for row in made:\n        w.write(row.numpy())", True),
        ("", False),
        ("ready = made.batch(2)", False),
        ("for row in made:\n    step(row)", False),
        ("for row in made:\n    print(row)\nmodel.fit(made)", False),
        ("for row in made:\n    print(row)\nrun(made)", False),
        ("for row in made:\n    tf.print(row)", True),
        ("for row in made:\n    tf.io.write_file('row', tf.io.serialize_tensor(row))", True),
        ("for row in made:\n    tf.reduce_mean(row)", False),
        ("for row in made:\n    print(tf.reduce_mean(row))", False),
    ],
)
def test_pipelines_that_are_only_looked_at(program: str, expected: bool) -> None:
    file = model_of(f"{START}made = tf.data.Dataset.from_generator(f, tf.float32)\n{program}")
    (source,) = file.calls("tf.data.Dataset.from_generator")
    assert only_looked_at(file, source) is expected
