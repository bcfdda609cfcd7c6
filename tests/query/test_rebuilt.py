"""Which loop builds a pipeline again and again, the same each time."""

from __future__ import annotations

import re

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
    (
        "while True:\n    try:\n        d = tf.data.Dataset.range(n)\n        break\n    except OSError:\n        c()",
        None,
    ),
    (
        "while not ok:\n    try:\n        d = tf.data.Dataset.range(n)\n        ok = True\n    finally:\n        c()",
        None,
    ),
    (
        "while i < n:\n    try:\n        d = tf.data.Dataset.range(m)\n    finally:\n        i += 1",
        "range(m) while i < n",
    ),
    ("def f(k):\n    return tf.data.Dataset.range(k)\nfor e in range(9):\n    f(n)", "f(n) for e"),
    ("def f(k):\n    return tf.data.Dataset.range(k)\nfor e in range(9):\n    f(e)", None),
    ("def f(k):\n    tf.data.Dataset.range(5)\n    return k\nfor e in range(9):\n    f(e)", "f(e) for e"),
    ("def f():\n    m = keras.Sequential()\n    d = tf.data.Dataset.range(5)\nfor e in range(9):\n    f()", None),
    ("def f():\n    yield tf.data.Dataset.range(5)\nfor e in range(9):\n    f()", None),
]

F = "def f(k):\n    return tf.data.Dataset.range(k)\n"
A = "class A:\n    def f(self):\n        tf.data.Dataset.range(self.k)\n    def g(self, e):\n        c(self.f())\n"
RUN = "    def h(self):\n        for e in range(9):\n            self.g(e)"

DEEPER = [
    (F + "def g(e, k):\n    c(e, f(k))\nfor e in range(9):\n    g(e, n)", "g(e, n) for e"),
    (F + "def g(e, k):\n    c(f(e))\nfor e in range(9):\n    g(e, n)", None),
    (F + "def g():\n    c(f(n))\nfor e in range(9):\n    g()\n    n = e", None),
    (F + "def g(k):\n    keras.Sequential()\n    c(f(k))\nfor e in range(9):\n    g(n)", None),
    (F + "def g(k):\n    c(f(k))\ndef h(k):\n    g(k)\nfor e in range(9):\n    h(n)", "h(n) for e"),
    (A + RUN, "self.g(e) for e"),
    (A + RUN + "\n            self.k = e", None),
    (A + "        self.k += 1\n" + RUN, None),
]


@pytest.mark.parametrize(("program", "expected"), BUILT + DEEPER)
def test_pipelines_that_a_loop_builds_again(program: str, expected: str | None) -> None:
    file = model_of(program)
    word = "tf.data.Dataset."
    source = next(file.call(node) for node in file.calls_by_word["range"] if file.text(node).startswith(word))
    found = rebuilt(file, source)
    loop = re.split(" in|:", file.text(found.loop))[0] if found is not None else None
    assert (f"{file.text(found.place.node).removeprefix(word)} {loop}" if found is not None else None) == expected
