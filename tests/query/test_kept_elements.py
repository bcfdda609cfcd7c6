"""Which places keep every element of a pipeline, and which pipelines are small."""

from __future__ import annotations

import pytest
from programs import model_of

from tfmemlint.model.calls import Call
from tfmemlint.model.values import Dataset
from tfmemlint.query.pipelines.elements import is_label
from tfmemlint.query.pipelines.keeping import kept_elements, shown_to_person
from tfmemlint.query.pipelines.small import is_small, names_or_indices, run_through

START = """
a = tf.data.Dataset.from_tensor_slices((np.zeros((1000, 80), np.float32), np.zeros(1000)))
r = tf.data.TFRecordDataset("r")
keyed = r.map(lambda d: {"any": tf.zeros((80, 80)), "image": tf.size(d), "name": tf.strings.lower(d)})
"""

KEPT = [
    ("list(a)", ["list"]),
    ("np.array(list(a.as_numpy_iterator()))", ["list"]),
    ("sorted(unknown)", []),
    ("list(a if c else unknown)", []),
    ("[x for x, y in a]", ["[x for x, y in a]"]),
    ("[y for x, y in a]", []),
    ("[x.numpy() / 255 for x, y in a]", ["[x.numpy() / 255 for x, y in a]"]),
    ("[f(x) for x, y in a]", []),
    ("[x[0, 0] for x, y in a]", []),
    ("def f(v):\n    return (v.numpy() - 3) / 5\n[f(x) for x, y in a]", ["[f(x) for x, y in a]"]),
    ("def f(v):\n    w = v.numpy()\n    return w / 5\n[f(v=x) for x, y in a]", ["[f(v=x) for x, y in a]"]),
    ("def g(v):\n    return v\ndef f(n, v):\n    return g(v)\n[f(1, x) for x, y in a]", ["[f(1, x) for x, y in a]"]),
    ("def f(v):\n    return (v.numpy() - 3) / 5\n[f(y) for x, y in a]", []),
    ("def f(v):\n    return np.mean(v)\n[f(x) for x, y in a]", []),
    ("def f(v):\n    if c:\n        v = h(v)\n    return v\n[f(x) for x, y in a]", []),
    ("def f(v, n):\n    return n * 2\n[f(x, 3) for x, y in a]", []),
    ("np.stack([x for x, y in a])", ["stack"]),
    ("[d['image'] for d in r]", []),
    ("[d['any'] for d in keyed]", ["[d['any'] for d in keyed]"]),
    ("[d['image'] for d in keyed]", []),
    ("[d['name'] for d in keyed]", []),
    ("{i: x for i, x in enumerate(r)}", ["{i: x for i, x in enumerate(r)}"]),
    ("sum(x for x in r)", []),
    ("tuple(x for x in r)", ["tuple"]),
    ("zip(*a)", ["zip"]),
    ("[*a]", ["*a"]),
    ("kept = []\nfor x, y in a:\n    kept.append(x)", ["append"]),
    ("kept = []\nfor x, y in a:\n    kept.append(y)", []),
    ("kept = []\nfor x, y in a:\n    if c:\n        kept.append(x)", []),
    ("kept = []\nfor x, y in a:\n    kept.append(x)\n    if c:\n        break", []),
    ("kept = []\nfor x, y in a:\n    kept.append(x)\n    kept.pop()", []),
    ("kept = []\nfor x, y in a:\n    x = f(x)\n    kept.append(x)", []),
    ("kept = []\nfor x, y in a:\n    if c:\n        x = f(y)\n    kept.append(x)", []),
    ("[y for y, x in tf.data.Dataset.from_tensor_slices((np.zeros(1000), np.zeros((1000, 80))))]", []),
]


@pytest.mark.parametrize(("program", "expected"), KEPT)
def test_places_that_keep_every_element(program: str, expected: list[str]) -> None:
    file = model_of(START + program)
    found = [kept.where for kept in kept_elements.of(file)]
    shown = [where.method or "" if isinstance(where, Call) else file.text(where) for where in found]
    assert shown == expected


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        ("a", False),
        ("a.take(3)", True),
        ("a.take(90).batch(3)", True),
        ("a.take(1000)", False),
        ("a.shard(4, 1)", True),
        ("r", False),
        ("r.take(9)", True),
        ("r.map(f)", False),
        ("r.map(lambda x, y: y)", True),
        ("r.map(lambda d: d['image'])", True),
        ("keyed.map(lambda d: d['image'])", True),
        ("keyed.map(lambda d: d['any'])", False),
        ("tf.data.Dataset.list_files('*')", True),
        ("tf.data.Dataset.list_files('*').map(f)", False),
        ("tf.data.Dataset.from_tensor_slices(image_paths)", True),
        ("tf.data.Dataset.from_tensor_slices(images)", False),
        ("tf.data.TextLineDataset('t')", True),
        ("tf.data.Dataset.range(9)", True),
    ],
)
def test_small_pipelines(pipeline: str, expected: bool) -> None:
    file = model_of(START + f"probe({pipeline})")
    ds = run_through(file.value(file.calls_by_word["probe"][0].args[0].value))
    assert isinstance(ds, Dataset)
    assert is_small(ds) is expected


def test_a_look_at_a_few_counts_only_where_it_is_asked() -> None:
    file = model_of(START + "probe(r.take(9).map(f))")
    ds = run_through(file.value(file.calls_by_word["probe"][0].args[0].value))
    assert ds is not None and is_small(ds) and not is_small(ds, peeks=False)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("tf.data.Dataset.list_files('*').shuffle(9)", True),
        ("tf.data.Dataset.list_files('*').map(tf.io.read_file).shuffle(9)", False),
        ("tf.data.Dataset.range(9).shuffle(9)", True),
        ("tf.data.Dataset.range(9).map(f).shuffle(9)", False),
        ("tf.data.Dataset.from_tensor_slices(['a', 'b']).shuffle(9)", True),
        ("tf.data.Dataset.from_tensor_slices(np.arange(9)).shuffle(9)", True),
        ("tf.data.Dataset.from_tensor_slices(paths).shuffle(9)", True),
        ("tf.data.Dataset.from_tensor_slices(dict(urls)).shuffle(9)", True),
        ("tf.data.Dataset.from_tensor_slices(rows).shuffle(9)", False),
        ("tf.data.Dataset.from_tensor_slices(rows).shuffle(9).map(tf.io.read_file)", True),
        ("a.shuffle(9)", False),
    ],
)
def test_steps_that_handle_names_or_indices(step: str, expected: bool) -> None:
    file = model_of(START + step)
    assert names_or_indices(file, file.call(file.calls_by_word["shuffle"][0])) is expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("d['label']", True),
        ("d['image']", True),
        ("d['any']", False),
        ("d[1].numpy()", True),
        ("d[0]", False),
        ("d[key]", True),
        ("d", False),
    ],
)
def test_labels(expression: str, expected: bool) -> None:
    file = model_of(START + f"probe({expression})\nprobe(list(keyed))")
    part, of = (node.args[0].value for node in file.calls_by_word["probe"])
    ds = run_through(file.call(of).value_of(0))
    assert ds is not None and is_label(part, ds.element) is expected


VIEWERS = [
    ("rows = list(r)\nwhile True:\n    print(rows[int(input())])", True),
    ("import sys\nrows = list(r)\nprint(rows[int(sys.stdin.readline())])", True),
    ("rows = list(r.map(tf.io.decode_jpeg))\nprint(rows[int(input())])", False),
    ("rows = list(a)\nprint(rows[int(input())])", False),
    ("rows = list(r)\nprint(rows[int(form.input())])", False),
]


@pytest.mark.parametrize(("program", "expected"), VIEWERS)
def test_records_that_a_person_looks_at(program: str, expected: bool) -> None:
    file = model_of(START + program)
    (kept,) = kept_elements.of(file)
    assert shown_to_person(file, kept.dataset) is expected
