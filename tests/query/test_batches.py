"""Loops over batches, and loops over something else."""

import pytest
from programs import model_of

from tfmemlint.query.repetition.batches import batch_loops

LOOPS = [
    ("for x, y in tf.data.Dataset.range(9).batch(3):\n    f(x)", 1),
    ("for i, x in enumerate(tf.data.Dataset.range(9)):\n    f(x)", 1),
    ("for x in train_ds:\n    f(x)", 1),
    ("for x in tqdm(self.loader.take(10)):\n    f(x)", 1),
    ("for x, y in zip(train_ds, other):\n    f(x + 1)", 1),
    ("for x in train_ds:\n    z = x * 2\n    f(z)", 1),
    ("for x in train_ds:\n    f()", 0),
    ("for x in layers:\n    f(x)", 0),
    ("for x in [tf.zeros([4, 8]), tf.ones([4, 8])]:\n    f(x)", 0),
    ("batches = [tf.zeros([4, 8]), tf.ones([4, 8])]\nfor x in batches:\n    f(x)", 1),
    ("loader = 3\nfor x in loader:\n    f(x)", 0),
    ("[f(x) for x in train_ds]", 1),
    ("sum(f(x) for x in train_ds)", 1),
    ("{x: f(x) for x in train_ds}", 0),
    ("for i in range(0, n, 32):\n    f(data[i : i + 32])", 1),
    ("for i in range(n):\n    a = i * 32\n    b = a + 32\n    f(data[a:b])", 1),
    ("for i in range(n):\n    f(data[i])", 0),
    ("for i in range(n):\n    f(data[:, i : i + 1])", 0),
    ("it = iter(tf.data.Dataset.range(9))\nfor _ in range(3):\n    f(next(it))", 1),
    ("it = iter(train_ds)\nwhile c:\n    f(next(it))", 1),
    ("while c:\n    f(train_ds)", 0),
]


@pytest.mark.parametrize(("program", "count"), LOOPS)
def test_loops_over_batches(program: str, count: int) -> None:
    file = model_of(program)
    assert len(list(batch_loops(file, file.module))) == count
