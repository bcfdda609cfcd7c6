"""Iterators of pipelines that are made again for each element that is taken."""

import pytest
from programs import model_of

from tfmemlint.query.repetition.iterators import iterators_per_step

START = """
a = tf.data.Dataset.from_tensor_slices(np.zeros((50000, 8), np.float32)).shuffle(1000).batch(32)
b = tf.data.TFRecordDataset("b").batch(32)
model = keras.Sequential([keras.layers.Dense(1)])
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    return tape.gradient(loss, model.trainable_variables)
"""


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("for x in b:\n    y = next(iter(a))", ["iter(a)"]),
        ("for x in b:\n    it = iter(a)\n    y = next(it)", ["iter(a)"]),
        ("for x in b:\n    it = iter(a)\n    use(it)\n    y = next(it)", []),
        ("for x in b:\n    if c:\n        y = next(iter(a))", []),
        ("for x in b:\n    y = next(iter(a.skip(n)))", ["iter(a.skip(n))"]),
        ("for i, x in enumerate(b):\n    y = next(iter(a.skip(i)))", []),
        ("def sample():\n    return next(iter(a))\nfor x in b:\n    y = sample()", ["iter(a)"]),
        ("while True:\n    train(next(iter(a)))", ["iter(a)"]),
        ("while True:\n    train(iter(a).get_next())", ["iter(a)"]),
        ("while True:\n    train(iter(a).get_next_as_optional())", []),
        ("def draw():\n    return next(iter(a))\nwhile True:\n    train(draw())", ["iter(a)"]),
        ("def draw():\n    return next(iter(a))\nwhile True:\n    print(draw())", []),
        ("for i in range(n):\n    x = next(iter(a))\n    train(x)", ["iter(a)"]),
        ("for i in range(5):\n    x = next(iter(a))\n    train(x)", []),
        ("for i in range(n):\n    x = next(iter(a))\n    print(model(x))", []),
        ("for i in range(n):\n    for y in b:\n        train(y)\n    x = next(iter(a))\n    train(x)", []),
        ("for i in range(n):\n    model.fit(b)\n    x = next(iter(a))\n    train(x)", []),
        ("for i in range(n):\n    it = iter(a)\n    for j in range(m):\n        train(next(it))", []),
        ("[next(iter(a)) for i in range(n)]", ["iter(a)"]),
        ("[next(iter(d)) for d in (a, b)]", []),
        ("for x in b:\n    y = next(iter([1, 2]))", []),
        ("x = next(iter(a))\ntrain(x)", []),
    ],
)
def test_iterators_that_are_made_for_each_step(program: str, expected: list[str]) -> None:
    file = model_of(START + program)
    assert [file.text(found.made.node) for found in iterators_per_step.of(file)] == expected
