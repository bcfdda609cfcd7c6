"""All of the data or a part: numbers that stand for all of it, what was picked out of it, what stays on disk."""

from __future__ import annotations

import pytest
from programs import model_of, value_in

from tfmemlint.model.calls import Argument, Call
from tfmemlint.model.file import File
from tfmemlint.model.values import Dataset
from tfmemlint.query.pipelines import lengths, whole_data

START = "x = np.zeros((5000, 80), np.float32)\ny = np.zeros(5000)\nd = tf.data.Dataset.from_tensor_slices(x)\n"


def argument(program: str) -> tuple[File, Call, Argument]:
    file = model_of(START + program)
    words = ("batch", "fit", "probe", "shuffle")
    call = next(file.call(file.calls_by_word[word][0]) for word in words if word in file.calls_by_word)
    found = call.arg("batch_size") or call.arg(0)
    assert found is not None
    return file, call, found


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("len(x)", True),
        ("x.shape[0]", True),
        ("int(len(x))", True),
        ("d.cardinality().numpy()", True),
        ("len(unknown)", True),
        ("unknown.shape[0]", True),
        ("unknown.shape[1]", False),
        ("info.splits['train'].num_examples", True),
        ("len(x) // 2", False),
        ("5000", False),
        ("n", False),
    ],
)
def test_lengths_of_all_data(number: str, expected: bool) -> None:
    _, _, found = argument(f"probe({number})")
    assert (lengths.whole_length(found) is not None) is expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [("np.zeros((5000, 80))", False), ("np.zeros(50)", True), ("[1, 2, 3]", True), ("unknown", False)],
)
def test_lengths_of_tiny_data(made: str, expected: bool) -> None:
    _, _, found = argument(f"z = {made}\nprobe(len(z))")
    length = lengths.whole_length(found)
    assert length is not None and lengths.is_tiny(length) is expected


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("d.batch(len(x))", True),
        ("d.batch(5000)", True),
        ("d.batch(4999)", False),
        ("d.batch(100).batch(5000)", False),
        ("d.batch(len(y))", False),
        ("tf.data.Dataset.from_tensor_slices(z).batch(len(z))", True),
        ("tf.data.Dataset.from_tensor_slices(z).batch(len(w))", False),
        ("tfds.load('mnist', split='train').batch(info.splits['train'].num_examples)", True),
    ],
)
def test_steps_that_take_all_elements(step: str, expected: bool) -> None:
    file, call, found = argument(step)
    assert lengths.takes_all(file, found, call.datasets()) is expected


@pytest.mark.parametrize(
    ("choices", "number", "expected"),
    [
        ("d.from_tensor_slices(order).repeat().take(n)", "len(order)", True),
        ("d.from_tensor_slices(order).repeat()", "2 * len(order)", True),
        ("d.from_tensor_slices(order)", "len(order)", False),
        ("d.from_tensor_slices(order).repeat()", "len(x)", False),
        ("unknown", "len(order)", False),
    ],
)
def test_lengths_of_a_pattern_of_choices(choices: str, number: str, expected: bool) -> None:
    of = f"tf.data.Dataset.choose_from_datasets([u, v], {choices})".replace("d.from", "tf.data.Dataset.from")
    _, shuffle, found = argument(f"{of}.shuffle({number})")
    assert lengths.counts_choices(found, shuffle.datasets()) is expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("m.fit(x, y, batch_size=len(x))", True),
        ("m.fit(x, y, batch_size=len(y))", True),
        ("m.fit(x[:100], y, batch_size=len(x))", True),
        ("m.fit(z, w, batch_size=len(z))", True),
        ("m.fit(z, w, batch_size=len(v))", False),
        ("n = len(v)\nm.fit(z, w, batch_size=n)", True),
        ("m.fit(x, y, batch_size=64)", False),
    ],
)
def test_numbers_that_count_the_rows_of_data(call: str, expected: bool) -> None:
    file, fit, found = argument(call)
    data = [arg.value for arg in fit.node.args if arg.keyword is None]
    assert lengths.counts_rows(file, found, data) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("probe(x)", False),
        ("probe(x[10:20])", True),
        ("probe(x[:100])", True),
        ("probe(x[:4000])", False),
        ("probe(x[0])", False),
        ("probe(x[rows])", True),
        ("for x in parts:\n    probe(x)", True),
        ("for train, test in folds.split(x):\n    probe(x[train])", False),
        ("probe([f(v) for v in x])", True),
        ("import random\nprobe(random.sample(x, 32))", True),
        ("probe(buffer.sample(32))", False),
        ("def f(batch):\n    probe(batch)", False),
    ],
)
def test_parts_of_data(program: str, expected: bool) -> None:
    file = model_of(START + program)
    assert whole_data.is_part(file, file.calls_by_word["probe"][0].args[0].value) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("probe(x)", False),
        ("s = memory.replay(32)\nprobe(s)", False),
        ("def f(a):\n    probe(a)", True),
        ("def f(a):\n    probe(np.array(a))", True),
        ("def f(a):\n    probe(a)\nf(x)", False),
        ("class A:\n    def f(self):\n        probe(self.x)", False),
        ("def f():\n    s, t = memory.replay(32)\n    probe(s)", True),
        ("def f():\n    s = np.load('s')\n    probe(s)", False),
        ("def f(a):\n    b = np.stack(a)\n    probe(b)", True),
    ],
)
def test_data_that_comes_from_where_it_is_not_seen(program: str, expected: bool) -> None:
    file = model_of(START + program)
    assert whole_data.is_given(file, file.calls_by_word["probe"][0].args[0].value) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("z = np.load('z.npy')\nmodel.fit(z)\nprobe(z)", True),
        ("z = pd.read_csv('z').values\nmodel.fit(z)\nprobe(z)", True),
        ("f = pd.read_csv('z')\nz = f.values / 2\nmodel.fit(z)\nprobe(z)", True),
        ("z = np.load('z.npy')\nprobe(z)", False),
        ("z = make()\nmodel.fit(z)\nprobe(z)", False),
        ("z = np.load('z.npy')\nfor i in range(9):\n    model.fit(z)\nprobe(z)", False),
        ("model.fit(x)\nprobe(x)", False),
    ],
)
def test_data_that_a_model_is_fitted_to_as_a_whole(program: str, expected: bool) -> None:
    file = model_of(f"{START}import pandas as pd\nmodel = keras.Sequential()\n{program}")
    assert whole_data.fitted_whole(file, file.calls_by_word["probe"][0].args[0].value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("np.load('x.npy', mmap_mode='r')", True),
        ("np.load('x.npy', mmap_mode=None)", False),
        ("np.load('x.npy')", False),
        ("np.memmap('x', np.float32, 'r', shape=(9, 9))", True),
        ("np.asarray(np.memmap('x', np.float32, 'r', shape=(9, 9)))", True),
        ("h5py.File('x')['y']", True),
        ("h5py.File('x')['y'][:]", False),
        ("np.asarray(h5py.File('x')['y'])", False),
        ("np.zeros(9)", False),
    ],
)
def test_data_that_stays_on_disk(value: str, expected: bool) -> None:
    assert whole_data.stays_on_disk(value_in(model_of(f"import h5py\n{value}"))) is expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("len(unknown) // 4", 0.25),
        ("int(0.8 * len(unknown))", 0.8),
        ("round(unknown.shape[0] / 2)", 0.5),
        ("4 * len(unknown)", 4),
        ("n = info.splits['train'].num_examples\nprobe(n // 8)", 0.125),
        ("len(unknown) // size", None),
        ("size // 4", None),
        ("len(unknown) - 4", None),
    ],
)
def test_constant_parts_of_a_length(number: str, expected: float | None) -> None:
    _, _, found = argument(number if "probe" in number else f"probe({number})")
    least = expected if expected is not None else 0.0
    assert (lengths.whole_length(found, share=least) is not None) is (expected is not None)
    assert lengths.whole_length(found, share=least + 0.01) is None


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("names[:100]", 100),
        ("names[20:100]", 80),
        ("names[0:number]", 50),
        ("names[:100]).batch(30", 4),
        ("names[:100]).shuffle(9).filter(f", 100),
        ("names).take(10", 10),
        ("names).batch(4).take(3", 3),
        ("np.zeros((90, 8))).batch(30", 3),
        ("names[::2]", None),
        ("names[:-1]", None),
        ("names[5:]", None),
        ("names", None),
        ("names[:100]).repeat(", None),
        ("names[:100]).flat_map(f", None),
    ],
)
def test_elements_at_the_most(made: str, expected: int | None) -> None:
    ds = value_in(model_of(f"number = 50\ntf.data.Dataset.from_tensor_slices({made})"))
    assert isinstance(ds, Dataset)
    assert lengths.most_elements(ds) == expected
