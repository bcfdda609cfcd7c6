"""Where pipelines end, so that one step more reaches each of them once."""

from __future__ import annotations

import pytest
from programs import model_of

from tfmemlint.query.pipelines.ends import consumed, ends

START = """
a = tf.data.Dataset.from_tensor_slices(np.zeros((100, 8), np.float32))
model = keras.Sequential([keras.layers.Dense(1)])
"""

FUNCTION = "def make_dataset(c):\n    d = a.batch(2)\n    if c:\n        d = d.repeat()\n    return d\n"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("d = a.batch(2)\nmodel.fit(d)\nmodel.evaluate(d)", [["a.batch(2)"]]),
        ("d = a.batch(2)\nmodel.fit(d)\nmodel.fit(d.repeat())", [["d", "d.repeat()"]]),
        ("d = a.batch(2)\nif c:\n    d = d.repeat()\nmodel.fit(d)", [["d"]]),
        ("d = a.batch(2) if c else a.batch(3)\nmodel.fit(d)", [["d"]]),
        ("def run(d):\n    model.fit(d)\nrun(a.batch(2))\nrun(a.batch(3))", [["a.batch(2)"], ["a.batch(3)"]]),
        ("model.fit(a.batch(2), validation_data=a.batch(3))", [["a.batch(2)"], ["a.batch(3)"]]),
        ("d = a.batch(2)\nmodel.fit(d)\ne = d.prefetch(1)", [["d"]]),
        ("d = a.batch(2)\nmodel.fit(d)\nfor x in d.take(1): print(x)", [["a.batch(2)"]]),
        ("it = iter(a.batch(2))\nfor i in range(9):\n    x = next(it)\n    model(x)", [["a.batch(2)"]]),
        (FUNCTION + "model.fit(make_dataset(True))", [["d"]]),
        (FUNCTION + "d = make_dataset(True)\nmodel.fit(d.repeat())", [["d.repeat()"]]),
        (FUNCTION + "d = make_dataset(b)\ne = d.repeat()\nit = iter(e)\nfor i in r:\n    x = next(it)\n    model(x)",
         [["d.repeat()"]]),
        ("def make_dataset():\n    return a.batch(2)\nmodel.fit(make_dataset())", [["a.batch(2)"]]),
        ("def make_dataset():\n    return a.batch(2), a.batch(3)", [["a.batch(2)"], ["a.batch(3)"]]),
        ("def make_dataset(d):\n    return d.batch(2, num_parallel_calls=4)", []),
        ("def make_dataset(n):\n    return a.batch(2)\nd = a.interleave(make_dataset)", []),
        ("def run(d=None):\n    d = d or a.batch(2)\n    model.fit(d)", [["a.batch(2)"]]),
        ("def run(d=None):\n    if d is None:\n        d = a.batch(2)\n    model.fit(d)", [["a.batch(2)"]]),
        ("def run(d: tf.data.Dataset = None):\n    if d is None:\n        d = a.batch(2)\n    model.fit(d)",
         [["a.batch(2)"]]),
        ("def run(d: tf.data.Dataset = None):\n    if d is None:\n        d = a.batch(2)\n        if c:\n"
         "            d = d.repeat()\n    model.fit(d)", [[]]),
        ("def run(d):\n    model.fit(d)", []),
        ("model.fit(a)", []),
    ],
)  # fmt: skip
def test_where_a_step_reaches_each_way_of_a_pipeline_once(program: str, expected: list[list[str]]) -> None:
    file = model_of(START + program)
    found = [[file.text(end) for end in ends(file, arrivals)] for arrivals in consumed.of(file)]
    assert found == expected
