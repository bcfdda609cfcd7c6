"""Which values a name can have where branches, loops and handlers meet."""

import pytest
from programs import shown_in

BRANCHES = [
    ("a = 1\na = 2\na", "2"),
    ("a = b = 3\nb", "3"),
    ("a = 1\nif flag():\n    a = 2\na", "1 | 2"),
    ("if flag():\n    a = 1\nelse:\n    a = 2\na", "1 | 2"),
    ("if flag():\n    a = 1\nelif flag():\n    a = 1\nelse:\n    a = 1\na", "1"),
    ("if flag():\n    a = 1\nelse:\n    raise ValueError\na", "1"),
    ("if flag():\n    a = 1\na", "1"),
    ("a = 1\nif flag():\n    a = other()\na", "?"),
    ("a = 1\nif __name__ == '__main__':\n    a = 2\na", "2"),
    ("a = 1\nif True:\n    a = 2\na", "2"),
    ("a = 1\nif flag():\n    raise ValueError\n    a = 2\na", "1"),
    ("a = 5 if flag() else 6\na", "5 | 6"),
    ("a = None\nif flag():\n    a = 4\na", "4"),
    ("a = flag() or 3\na", "?"),
    ("a = 0 or 3\na", "3"),
    ("a = 2 and 3\na", "3"),
    ("a = 1\nfor i in range(3):\n    pass\na", "1"),
    ("for a in (1, 2):\n    pass\na", "1 | 2"),
    ("a = 1\ndel a\na", "?"),
    ("a, b = 1, 2\nb", "2"),
    ("(a, b), c = (1, 2), 3\nb", "2"),
    ("[a, *b] = 1, 2, 3\na", "1"),
    ("a, *b, c = 1, 2, 3, 4\nc", "4"),
    ("a, *b, c = 1, 2, 3, 4\nb", "[2, 3]"),
    ("if (n := 10) > 5:\n    pass\nn", "10"),
    ("a: int = 7\na", "7"),
    ("a = 1\na += 2\na *= 5\na", "15"),
    ("a = 1;b = a;a = 2\nb", "1"),
]

HANDLERS = [
    ("try:\n    a = 1\nexcept ValueError:\n    a = 2\na", "1 | 2"),
    ("try:\n    a = 1\nexcept ValueError:\n    raise\na", "1"),
    ("a = 0\ntry:\n    a = 1\nfinally:\n    pass\na", "1"),
    ("try:\n    pass\nfinally:\n    a = 3\na", "3"),
    ("a = 0\ntry:\n    work()\nexcept ValueError:\n    a = 2\nelse:\n    a = 1\na", "1 | 2"),
    ("a = 0\ntry:\n    work()\n    a = 1\nexcept ValueError:\n    pass\na", "0 | 1"),
    ("try:\n    pass\nexcept ValueError as e:\n    pass\ne", "?"),
    ("try:\n    import numpy as other\nexcept ImportError:\n    other = None\nother.zeros(3)", "np float64 (3)"),
    ("try:\n    from tensorflow import keras as k\nexcept ImportError:\n    import keras as k\nk.layers.Dense",
     "tf.keras.layers.Dense"),
    ("with open('f') as f:\n    a = 4\na", "4"),
    ("with tf.device('/GPU:0'):\n    a = tf.zeros([2])\na", "tf float32 (2)"),
    ("with tf.GradientTape() as tape:\n    pass\ntape", "tf.GradientTape object"),
    ("match mode():\n    case 1:\n        a = 1\n    case _:\n        a = 2\na", "1 | 2"),
    ("match mode():\n    case 1:\n        a = 1\n    case other:\n        a = other\na", "?"),
    ("a = 0\nmatch mode():\n    case 1:\n        a = 1\na", "0 | 1"),
]  # fmt: skip

LOOPS = [
    ("a = 1\nwhile flag():\n    a = 2\na", "1 | 2"),
    ("a = 1\nwhile flag():\n    a = a + 1\na", "?"),
    ("a = 1\nwhile True:\n    a = 2\n    if flag():\n        break\na", "2"),
    ("a = 1\nfor i in items():\n    if flag():\n        a = 3\n        break\nelse:\n    a = 4\na", "3 | 4"),
    ("a = 1\nfor i in items():\n    if flag():\n        continue\n    a = 2\na", "1 | 2"),
    ("a = np.zeros((2, 3))\nfor i in items():\n    a = a * 2\na", "np float64 (2, 3)"),
    ("a = np.zeros((2, 3), np.uint8)\nfor i in items():\n    a = a / 255\na",
     "np float64 (2, 3) | np uint8 (2, 3)"),
    ("for i in range(3):\n    a = i\n    probe(a)", "0 | 1 | 2"),
    ("for i in range(3000):\n    probe(i)", "?"),
    ("for i, x in enumerate(np.zeros((5, 2))):\n    probe(x)", "np float64 (2)"),
    ("for x, y in zip(np.zeros((5, 2)), tf.zeros([5])):\n    probe(y)", "tf float32 ()"),
    ("ds = tf.data.Dataset.range(5)\nfor n in range(2):\n    ds = ds.batch(2)\nds",
     "range -> tf int64 () x 5 | range batch -> tf int64 (2) x 3"),
    ("ds = tf.data.Dataset.range(5)\nif flag():\n    ds = ds.cache()\nds = ds.batch(2)\nds",
     "range batch -> tf int64 (2) x 3 | range cache batch -> tf int64 (2) x 3"),
    ("ds = tf.data.Dataset.range(5)\na = ds.map(work)\nb = a.batch(2)\na", "range map -> ? x 5"),
    ("a = tf.data.Dataset\nb = a.range\nb(3)", "range -> tf int64 () x 3"),
    ("a = 1\nfor i in items():\n    def f():\n        return a\nf()", "1"),
    ("x = [i * 2 for i in (1, 2)]\nx", "comprehension of 2 | 4"),
    ("i = 7\nx = [i for i in (1, 2)]\ni", "7"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), [*BRANCHES, *HANDLERS, *LOOPS])
def test_values_where_paths_meet(program: str, expected: str) -> None:
    assert shown_in(program) == expected
