"""What a prefetch keeps ready, and which steps should stand before it."""

import pytest
from programs import model_of

from tfmemlint.query.pipelines.prefetching import kept_batches, work_after

START = "n = 32\na = tf.data.Dataset.from_tensor_slices(np.zeros((2000, 8), np.float32))\n"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("d = a.batch(2).prefetch(1)", None),
        ("d = a.batch(2).prefetch(9)", None),
        ("d = a.batch(2).prefetch(10)", (10, 640)),
        ("d = a.batch(n).prefetch(n)", (32, 32768)),
        ("d = a.batch(2).prefetch(2)", None),
        ("def f(m):\n    return a.batch(m).prefetch(m)", (None, None)),
        ("def f(m):\n    return a.batch(m).prefetch(m)\nf(-1)\nf(64)", (None, None)),
        ("def f(m):\n    return a.batch(m).prefetch(m)\nf(1)\nf(2)", None),
        ("d = a.prefetch(100)", None),
        ("d = a.batch(2).prefetch(100).batch(2)", None),
        ("d = unknown.batch(2).prefetch(100)", None),
        ("a.batch(2).prefetch(10)", None),
        ("d = a.batch(100).prefetch(1000)", (20, 64000)),
        ("d = a.batch(500).prefetch(1000)", None),
        ("d = a.repeat().batch(500).prefetch(1000)", (1000, 16000000)),
        ("a.batch(2).prefetch(10).take(3)", None),
        ("d = a.batch(2).cache().shuffle(5).prefetch(100)", None),
        ("d = a.batch(2).cache('file').prefetch(100)", (100, 6400)),
        ("d = a.batch(2).cache().map(lambda v: v * 2).prefetch(100)", (100, 6400)),
    ],
)
def test_batches_that_are_kept(program: str, expected: tuple[int | None, int | None] | None) -> None:
    file = model_of(START + program)
    kept = kept_batches(file, file.call(file.calls_by_word["prefetch"][0]))
    assert (kept and (kept.count, kept.bytes)) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("d = a.prefetch(1).batch(2).repeat()", ["batch", "repeat"]),
        ("d = a.batch(2).prefetch(1).take(3)", []),
        ("d = a.prefetch(1).batch(2).prefetch(1)", []),
        ("d = a.prefetch(0).batch(2)", []),
        ("d = a.batch(2).prefetch(1).map(lambda v: {'rows': v})", []),
        ("d = a.batch(2).prefetch(1).map(lambda v: v * 2)", ["map"]),
        ("d = a.prefetch(1).map(lambda v: (v, v)).batch(2)", ["batch"]),
    ],
)
def test_work_that_comes_after(program: str, expected: list[str]) -> None:
    file = model_of(START + program)
    after = work_after(file, file.call(file.calls_by_word["prefetch"][0]))
    assert sorted(call.method or "" for call in after) == expected


AGAIN = """
class Data:
    def __init__(self, path):
        self.ds = tf.data.TFRecordDataset(path)
    def split(self):
        self.ds = self.ds.shuffle(9)
        self.ds = self.ds.prefetch(2)
"""


def test_steps_of_the_next_call_do_not_come_after() -> None:
    file = model_of(AGAIN)
    assert work_after(file, file.call(file.calls_by_word["prefetch"][0])) == []


def test_steps_of_the_next_iteration_come_after() -> None:
    file = model_of("d = tf.data.TFRecordDataset('a')\nfor f in names:\n    d = d.map(f)\n    d = d.prefetch(2)\n")
    (after,) = work_after(file, file.call(file.calls_by_word["prefetch"][0]))
    assert after.method == "map"
