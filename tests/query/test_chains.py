"""Calls that carry a pipeline on: which may trade places, which go on with the same pipeline."""

from __future__ import annotations

import pytest
from programs import model_of

from tfmemlint.model.calls import Call
from tfmemlint.model.file import File
from tfmemlint.model.values import Dataset
from tfmemlint.query.pipelines import chains
from tfmemlint.query.pipelines.together import steps_by_pipeline

START = "a = tf.data.Dataset.from_tensor_slices(np.zeros((100, 8), np.float32))\n"


def calls_in(program: str, *words: str) -> tuple[File, list[Call]]:
    file = model_of(START + program)
    return file, [file.call(node) for word in words for node in file.calls_by_word.get(word, ())]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("d = a.map(f).batch(2)", True),
        ("d = a.map(f)\nd = d.batch(2)", True),
        ("d = a.map(f)\nprint(d)\nd = d.batch(2)", False),
        ("d = a.map(f)\ne = d.batch(2)\ng = d.cache()", False),
        ("d = a.map(f)\nx = 1\nd = d.batch(2)", False),
        ("if c:\n    d = a.map(f)\nd = d.batch(2)", False),
    ],
)
def test_links_that_may_trade_places(program: str, expected: bool) -> None:
    file, (first, second) = calls_in(program, "map", "batch")
    assert (chains.links(file, [first, second]) is not None) is expected
    assert chains.links(file, [first, None]) is None


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("d = a.map(f).batch(2).cache()", ["batch", "cache"]),
        ("d = a.map(f)\nd = d.batch(2)\nd = d.cache()", ["batch", "cache"]),
        ("d = a.map(f)\nd = d.batch(2)\nuse(d)\nd = d.cache()", ["batch"]),
        ("for x in a.map(f).as_numpy_iterator(): pass", []),
    ],
)
def test_the_steps_that_follow(program: str, expected: list[str]) -> None:
    file, (call,) = calls_in(program, "map")
    assert [each.method for each in chains.following(file, call)] == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("d = a.map(f).batch(2)", True),
        ("d = a.map(f)\nd = d.batch(2)", True),
        ("d = a.map(f)\ne = d.batch(2)", False),
        ("def g(a):\n    d = a.map(f)\n    e = d.batch(2)\n    return e\ng(a)", True),
    ],
)
def test_names_that_stay_what_they_were(program: str, expected: bool) -> None:
    file, calls = calls_in(program, "map", "batch")
    assert chains.keeps_names(file, calls) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("d = a.prefetch(1).batch(2)", ["batch"]),
        ("d = a.prefetch(1)\nd = d.map(f).batch(2)", ["batch", "map"]),
        ("d = a.prefetch(1)\ne = d.batch(2)\nfor x in d: pass", []),
        ("d = a.prefetch(1)\ne = d.take(9).batch(2)\ng = d.skip(9).batch(2)", ["batch", "batch"]),
        ("def f():\n    return a.prefetch(1)\nd = f().batch(2)", ["batch"]),
        ("def f():\n    return a.prefetch(1)\nd = f().batch(2)\ne = f()", []),
        ("def f(d):\n    d = d.batch(2)\n    return d\nd = f(a.prefetch(1))", ["batch"]),
        ("def f(d):\n    d = d.batch(2)\n    return d\nd = a.prefetch(1)\ne = f(d)\nuse(d)", []),
        ("def f(d):\n    return d.batch(2)\nd = f(a.prefetch(1))", []),
        ("d = a.prefetch(1)\nfor n in sizes:\n    e = d.batch(n)", []),
    ],
)
def test_steps_that_go_on_with_the_same_pipeline(program: str, expected: list[str]) -> None:
    file, (call,) = calls_in(program, "prefetch")
    assert [each.method for each in chains.later_steps(file, call, "batch", "map")] == expected


def test_steps_that_may_go_on() -> None:
    file, (call,) = calls_in("d = a.prefetch(1)\ne = d.batch(2)\nfor x in d: pass", "prefetch")
    assert [each.method for each in chains.possible_later_steps(file, call, "batch")] == ["batch"]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("d = a.map(f).batch(2)", "a.map(f).batch(2)"),
        ("d = a.apply(tf.data.experimental.shuffle_and_repeat(9))",
         "a.apply(tf.data.experimental.shuffle_and_repeat(9))"),
        ("d = a", "tf.data.Dataset.from_tensor_slices(np.zeros((100, 8), np.float32))"),
    ],
)  # fmt: skip
def test_the_last_call_of_a_pipeline(program: str, expected: str) -> None:
    file = model_of(START + program + "\nprobe(d)")
    ds = file.value(file.calls_by_word["probe"][0].args[0].value)
    assert isinstance(ds, Dataset)
    last = chains.last_call(file, ds)
    assert last is not None and file.text(last.node) == expected


@pytest.mark.parametrize(
    ("program", "derived", "expected"),
    [
        ("d = make().batch(2)", True, ["make().batch(2)"]),
        ("d = make()\nd = d.batch(2)", True, ["make()", "d.batch(2)"]),
        ("d = make()\ne = d.batch(2)\ng = e.cache()", True, ["make()", "d.batch(2)", "e.cache()"]),
        ("d = make()\ne = d.batch(2)", False, ["make()"]),
        ("d = make()\nx = d.name", True, ["make()"]),
    ],
)
def test_the_parts_of_a_pipeline(program: str, derived: bool, expected: list[str]) -> None:
    program = program.replace("make()", "tf.data.Dataset.range(9)")
    file, (source,) = calls_in(program, "range")
    parts = chains.pipeline_parts(file, source, file.module, derived=derived)
    assert [file.text(part).replace("tf.data.Dataset.range(9)", "make()") for part in parts] == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("d = a.map(f).batch(2).map(g)", [["f", "g"]]),
        ("d = a.map(f)\nd = d.map(g)\ne = a.map(h)", [["f", "g"], ["h"]]),
        ("d = a.map(f)\ne = d.map(g)\nk = d.map(h)", [["f", "g", "h"]]),
        ("def end(d):\n    return d.map(h)\nd = end(a.map(f))\ne = end(a.map(g))", [["f", "g", "h"]]),
        ("def make():\n    return a.map(f)\nd = make().map(g)", [["f", "g"]]),
        ("d = tf.data.Dataset.zip((a.map(f), a.map(g))).map(h)", [["f"], ["g"], ["h"]]),
        ("d = unknown.map(f).map(g)", []),
    ],
)
def test_the_steps_of_one_pipeline(program: str, expected: list[list[str]]) -> None:
    file = model_of(START + program)
    groups = [[file.text(call.node.args[0]) for call in steps] for steps in steps_by_pipeline("map").of(file)]
    assert sorted(groups) == expected
