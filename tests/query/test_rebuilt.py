"""Which loop builds a pipeline again and again, the same each time."""

from __future__ import annotations

import pytest
from programs import model_of

from tfmemlint.query.repetition.rebuilt import rebuilt

BUILT = [
    ("for e in range(9):\n    d = tf.data.Dataset.range(n).batch(2)", "range(n) for e"),
    ("for e in range(3):\n    d = tf.data.Dataset.range(n).batch(2)", None),
    ("for e in range(9):\n    d = tf.data.Dataset.range(e).batch(2)", None),
    ("for e in range(9):\n    d = tf.data.Dataset.range(n).batch(e)", None),
    ("for e in range(9):\n    d = tf.data.Dataset.range(n)\n    d = d.skip(e)", None),
    ("for e in range(9):\n    for i in range(9):\n        d = tf.data.Dataset.range(n)", "range(n) for i"),
    ("for e in range(9):\n    for i in range(2):\n        d = tf.data.Dataset.range(n)", "range(n) for e"),
    ("d = None\nfor e in range(9):\n    if d is None:\n        d = tf.data.Dataset.range(n)", None),
    ("for e in range(9):\n    tf.random.set_seed(e)\n    d = tf.data.Dataset.range(n)", None),
    ("for e in range(9):\n    with tf.Graph().as_default():\n        d = tf.data.Dataset.range(n)", None),
    ("for s in scopes:\n    with s:\n        d = tf.data.Dataset.range(n)", None),
    ("while True:\n    try:\n        d = tf.data.Dataset.range(n)\n    except OSError:\n        pass", None),
    ("def f(k):\n    return tf.data.Dataset.range(k)\nfor e in range(9):\n    f(n)", "f(n) for e"),
    ("def f(k):\n    return tf.data.Dataset.range(k)\nfor e in range(9):\n    f(e)", None),
    ("def f(k):\n    tf.data.Dataset.range(5)\n    return k\nfor e in range(9):\n    f(e)", "f(e) for e"),
    ("def f():\n    m = keras.Sequential()\n    d = tf.data.Dataset.range(5)\nfor e in range(9):\n    f()", None),
    ("def f():\n    yield tf.data.Dataset.range(5)\nfor e in range(9):\n    f()", None),
]


@pytest.mark.parametrize(("program", "expected"), BUILT)
def test_pipelines_that_a_loop_builds_again(program: str, expected: str | None) -> None:
    file = model_of(program)
    word = "tf.data.Dataset."
    source = next(file.call(node) for node in file.calls_by_word["range"] if file.text(node).startswith(word))
    found = rebuilt(file, source)
    loop = file.text(found.loop).partition(" in")[0] if found is not None else None
    assert (f"{file.text(found.place.node).removeprefix(word)} {loop}" if found is not None else None) == expected
