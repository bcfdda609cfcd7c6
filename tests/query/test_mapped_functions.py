"""What functions do that are mapped over elements, run as generators, or called in a loop."""

from __future__ import annotations

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.model.values import Step
from tfmemlint.query.keras import copies
from tfmemlint.query.pipelines import generators, mapped
from tfmemlint.query.tracing import results

START = """
a = tf.data.Dataset.from_tensor_slices((np.zeros((100, 8), np.float32), np.zeros(100)))
v = tf.Variable(0)
def scale(x, y):
    return tf.cast(x, tf.float32) / 255.0, y
def divide(x, y):
    x /= 255
    return x, y
def counts(x, y):
    v.assign_add(1)
    return x, y
"""


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("scale", "cheap elementwise"),
        ("divide", "cheap elementwise"),
        ("lambda x, y: (x * 2, y)", "cheap elementwise"),
        ("lambda x, y: (tf.transpose(x), y)", "cheap only_regroups"),
        ("lambda x, y: (tf.stack([x, x]), tf.cast(y, tf.float32))", "cheap only_regroups takes_batch_apart"),
        ("lambda x, y: dict(image=tf.expand_dims(x[0], -1), label=y)", "cheap only_regroups takes_batch_apart"),
        ("lambda x, y: (tf.stack([x * 2, x]), y)", "cheap takes_batch_apart"),
        ("lambda x, y: (tf.reduce_mean(x), y)", "takes_batch_apart"),
        ("lambda x, y: (tf.nn.softmax(x), y)", ""),
        ("lambda x, y: (tf.reshape(x, [tf.shape(x)[0], -1]), y)", "only_regroups takes_batch_apart"),
        ("lambda x, y: (x[1:] * 2, y)", "cheap"),
        ("lambda x, y: (x * 2 if y > 1 else x, y)", "cheap"),
        ("lambda x, y: (x, y)", "cheap only_regroups"),
        ("lambda x, y: (y, x[-1])", "cheap only_regroups"),
        ("lambda x, y: x[0]", "cheap only_regroups takes_batch_apart"),
        ("lambda x, y: x['image'] * 2", "cheap elementwise"),
        ("lambda x, y: x + tf.random.normal([8])", ""),
        ("counts", "changes_outside"),
        ("unknown", ""),
    ],
)
def test_what_mapped_functions_do(function: str, expected: str) -> None:
    file = model_of(f"{START}a.map({function})")
    step = Step("map", file.call(file.calls_by_word["map"][0]))
    names = ("cheap", "elementwise", "only_regroups", "takes_batch_apart", "changes_outside")
    assert " ".join(name for name in names if getattr(mapped, name)(step)) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def g():\n    yield tf.zeros(3)", ["tf.zeros(3)"]),
        ("def g():\n    yield np.zeros(3)", []),
        ("def g():\n    h()\n    yield 1\ndef h():\n    tf.print(1)\n    tf.ones(3)", ["tf.ones(3)"]),
        ("def g():\n    for x in a:\n        yield x", ["for x in a:"]),
        ("def g():\n    d = a.batch(2)\n    for x in d:\n        yield x", ["a.batch(2)", "for x in d:"]),
        ("def g():\n    for x in a:\n        yield x\n    tf.zeros(3)", ["for x in a:", "tf.zeros(3)"]),
        ("def h():\n    yield tf.zeros(3)\ng = lambda: h()", ["tf.zeros(3)"]),
        ("class G:\n    def __call__(self):\n        yield tf.zeros(3)\ng = G()", ["tf.zeros(3)"]),
        ("def g():\n    m = keras.Sequential()\n    yield m(1)", ["m(1)"]),
    ],
)
def test_ops_that_generators_run(program: str, expected: list[str]) -> None:
    file = model_of(f"{START}{program}\ntf.data.Dataset.from_generator(g, tf.float32)")
    source = file.call(file.calls_by_word["from_generator"][0])
    found = [op for each in generators.generator_functions(file, source) for op in generators.ops_in(file, each)]
    assert [file.text(getattr(op, "node", op)).partition("\n")[0] for op in found] == expected


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("self.model.get_weights()", True),
        ("self.model.get_weights()[0]", True),
        ("self.model.get_weights()[0][0, 0]", False),
        ("[w.numpy() for w in self.model.trainable_variables]", True),
        ("[w.name for w in self.model.weights]", False),
        ("self.model.predict(x)", True),
        ("self.model(x)", True),
        ("keras.Sequential().predict(x)", True),
        ("other.predict(x)", False),
        ("{'w': model.get_weights()}", True),
        ("np.copy(tf.zeros((9, 9)))", True),
        ("tf.zeros((9, 9))", True),
        ("tf.reduce_mean(tf.zeros((9, 9)))", False),
        ("3", False),
        ("unknown(x)", False),
        ("logs['loss']", False),
        ("logs['outputs']", True),
    ],
)
def test_what_is_as_large_as_weights_or_outputs(item: str, expected: bool) -> None:
    file = model_of(f"class C:\n    def hook(self, batch, logs):\n        kept = {item}\n        probe(kept)")
    assert copies.copies_weights(file, file.calls_by_word["probe"][0].args[0].value) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("for x in a:\n    probe(tf.square(x))", "tensor"),
        ("for x in a:\n    probe(net(x).numpy())", "fetched"),
        ("for x in a:\n    r = net(x).numpy()\n    probe(r)", "fetched"),
        ("for x in range(9):\n    probe(z.numpy())", ""),
        ("import torch\nfor x in a:\n    probe(net(x).numpy())", ""),
        ("t = tf.ones(3)\nfor x in a:\n    probe(net.predict(t))", "of tensor"),
        ("for x in a:\n    probe(f(x))", ""),
    ],
)
def test_results_of_tensorflow(program: str, expected: str) -> None:
    file = model_of(START.replace("a = tf", "b = tf") + program)
    part = file.calls_by_word["probe"][0].args[0].value
    (loop,) = file.tree.of(cst.For)
    answers = {
        "tensor": results.is_tensor(file, part),
        "of tensor": results.made_of_tensor(file, part),
        "fetched": results.fetched_in_loop(file, part, loop),
    }
    assert next((name for name, holds in answers.items() if holds), "") == expected


@pytest.mark.parametrize(
    ("method", "arguments", "expected"),
    [
        ("map", "scale", True),
        ("map", "counts", False),
        ("map", "unknown", False),
        ("map", "lambda x, y: x + tf.random.normal([8])", False),
        ("map", "lambda x, y: tf.numpy_function(f, [x], tf.float32)", False),
        ("interleave", "lambda x, y: tf.data.Dataset.from_tensors(x), cycle_length=4", True),
        ("interleave", "lambda x, y: tf.data.Dataset.from_tensors(x)", False),
    ],
)
def test_functions_that_several_calls_may_run_at_once(method: str, arguments: str, expected: bool) -> None:
    file = model_of(f"{START}a.{method}({arguments})")
    call = file.call(file.calls_by_word[method][-1])
    assert mapped.runs_in_parallel(Step(method, call)) is expected


READERS = [
    ("tf.data.TFRecordDataset", None),
    ("lambda p: tf.data.TFRecordDataset(p, buffer_size=1 << 20)", 1 << 20),
    ("lambda p: tf.data.TFRecordDataset(p, None, 4096).map(f)", 4096),
    ("lambda p: tf.data.TFRecordDataset(p)", None),
    ("lambda p: tf.data.TFRecordDataset(p, buffer_size=n)", None),
    ("lambda p: tf.data.Dataset.range(p)", None),
    ("functools.partial(tf.data.TFRecordDataset, buffer_size=4096)", 4096),
    ("functools.partial(tf.data.TFRecordDataset)", None),
    ("functools.partial(read, buffer_size=4096)", None),
    ("unknown", None),
]


@pytest.mark.parametrize(("function", "expected"), READERS)
def test_what_the_readers_of_an_interleave_keep_ready(function: str, expected: int | None) -> None:
    file = model_of(f"import functools\nd = tf.data.Dataset.list_files('*').interleave({function})")
    assert mapped.read_buffer(file.call(file.calls_by_word["interleave"][0])) == expected
