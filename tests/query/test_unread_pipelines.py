"""Pipelines of which nothing is ever read."""

from __future__ import annotations

import pytest
from programs import model_of

from tfmemlint.query.pipelines.unread import never_runs

START = "a = tf.data.Dataset.from_tensor_slices(np.zeros((100, 8), np.float32))\n"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("a.shuffle(9)", True),
        ("a.shuffle(9).batch(2)", True),
        ("a = a.shuffle(9)", False),
        ("print(a.shuffle(9))", False),
        ("a.shuffle(9).reduce(0, add)", False),
        ("def f(ds, mix):\n    if mix:\n        ds = ds.shuffle(9)\n    return ds\nf(a, False)", True),
        ("def f(ds, mix):\n    if mix:\n        ds = ds.shuffle(9)\n    return ds\nf(a, True)", False),
    ],
)
def test_pipelines_that_never_run(program: str, expected: bool) -> None:
    file = model_of(START + program)
    found = [file.call(node) for node in file.calls_by_word["shuffle"]]
    assert [never_runs(file, call) for call in found] == [expected]
