"""Data that gets longer in a loop in which a model is trained with all of it."""

from __future__ import annotations

import pytest
from programs import model_of

from tfmemlint.query.repetition.growing_data import growing_data

LIST = "xs = []\nfor row in rows:\n    xs.append(row)\n    "
DATA = [
    (LIST + "m.fit(np.array(xs))", ("np.array(xs)", "xs.append(row)")),
    (LIST + "x = np.stack(xs).astype('float32')\n    m.fit(x)", ("np.stack(xs)", "xs.append(row)")),
    (LIST + "m.fit(np.reshape(np.array(xs), (-1, 4)))", ("np.array(xs)", "xs.append(row)")),
    (LIST + "m.fit((a, tf.stack(xs)))", ("tf.stack(xs)", "xs.append(row)")),
    (LIST + "m.fit(np.array(xs[-9:]))", None),
    (LIST + "m.fit(np.array(random.sample(xs, 9)))", None),
    (LIST + "xs.pop(0)\n    m.fit(np.array(xs))", None),
    (LIST + "xs = xs[-9:]\n    m.fit(np.array(xs))", None),
    (LIST + "if len(xs) == 9:\n        m.fit(np.array(xs))", None),
    (LIST + "m = keras.Model()\n    m.fit(np.array(xs))", None),
    (LIST + "pass\nm.fit(np.array(xs))", None),
    ("xs, ys = [], []\nfor row in rows:\n    ys.append(row)\n    m.fit(a, np.array(ys))",
     ("np.array(ys)", "ys.append(row)")),
    ("xs = collections.deque()\nfor row in rows:\n    xs.append(row)\n    m.fit(np.array(xs))",
     ("np.array(xs)", "xs.append(row)")),
    ("xs = collections.deque(maxlen=9)\nfor row in rows:\n    xs.append(row)\n    m.fit(np.array(xs))", None),
    ("for e in r:\n    xs = []\n    for row in rows:\n        xs.append(row)\n    m.fit(np.array(xs))", None),
    ("for i in range(4):\n    m.fit(x)\n    x = np.concatenate([x, a])", None),
    ("for i in range(40):\n    m.fit(x)\n    x = np.concatenate([x, a])",
     ("np.concatenate([x, a])", "np.concatenate([x, a])")),
    ("xs = []\ndef f(row):\n    xs.append(row)\n    m.fit(np.array(xs))\nfor row in rows:\n    f(row)",
     ("np.array(xs)", "xs.append(row)")),
    ("xs = []\ndef f(row):\n    if len(xs) < 99:\n        xs.append(row)\n    m.fit(np.array(xs))\n"
     "for row in rows:\n    f(row)", None),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), DATA)
def test_growing_data(program: str, expected: tuple[str, str] | None) -> None:
    file = model_of("import collections, random\nm = keras.Model()\n" + program)
    (fit,) = (file.call(node) for node in file.calls_by_word["fit"])
    found = growing_data(file, fit)
    assert (found and (file.text(found.made.node), file.text(found.added.node))) == expected
