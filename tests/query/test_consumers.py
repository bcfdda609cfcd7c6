"""What takes the elements of pipelines: methods of models, training loops, functions that return them."""

from __future__ import annotations

import pytest
from programs import model_of

from tfmemlint.query.pipelines.consumers import consumptions
from tfmemlint.query.pipelines.model_inputs import feeds_model, model_arguments, used_as_model

START = """
a = tf.data.Dataset.from_tensor_slices(np.zeros((100, 8), np.float32))
model = keras.Sequential([keras.layers.Dense(1)])
"""

CONSUMED = [
    ("model.fit(a)", ["model.fit(a) -> fit"]),
    ("model.fit(a, validation_data=a.batch(2))", ["model.fit(a, validation_data=a.batch(2)) and validation -> fit"]),
    ("model.fit(x)", []),
    ("model.fit(a if c else x)", []),
    ("m = make()\nm.compile(optimizer='adam')\nm.fit(a)", ["m.fit(a) -> fit"]),
    ("m = make()\nm.fit(a)", []),
    ("for x in a:\n    model(x)", ["for x in a: -> model"]),
    ("for i, (x, y) in enumerate(a):\n    model(x)", ["for i, (x, y) in enumerate(a): -> model"]),
    ("for x in a:\n    print(x)", []),
    ("def step(x):\n    model(x)\nfor x in a:\n    step(x)", ["for x in a: -> step"]),
    ("def step(x):\n    model(x[None])\nfor x in a:\n    step(x)", ["for x in a: -> None"]),
    ("for x in a:\n    with tf.GradientTape() as tape:\n        f(x)", ["for x in a: -> None"]),
    ("it = iter(a)\nfor i in range(9):\n    x = next(it)\n    model(x)", ["next(it) -> model"]),
    ("it = iter(a)\nx = next(it)\nmodel(x)", []),
    ("def make_dataset():\n    return a.batch(2)", ["def make_dataset(): returned"]),
    ("def make_dataset():\n    return a.batch(2)\nd = make_dataset().prefetch(1)", []),
    ("def helper():\n    return a.batch(2)", ["def helper(): returned"]),
    ("def part():\n    return a.batch(2)\nd = tf.data.Dataset.zip((part(), part()))", []),
    ("def both():\n    return tf.data.Dataset.zip((a.batch(2), a.batch(2)))", ["def both(): returned"]),
    ("def step(ds):\n    return ds.map(f)\nstep(a).batch(2)", []),
    ("def load_data():\n    if c:\n        return None\n    return a.batch(2)", []),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), CONSUMED)
def test_places_that_consume_pipelines(program: str, expected: list[str]) -> None:
    file = model_of(START + program)
    shown = []
    for use in consumptions.of(file):
        node = file.text(getattr(use.node, "node", use.node)).partition("\n")[0]
        taker = "returned" if use.returned else f"-> {use.taker.method if use.taker is not None else None}"
        shown.append(f"{node}{' and validation' if use.validation.datasets else ''} {taker}")
    assert shown == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("m.fit(x, epochs=3)", True),
        ("m.fit(x)", False),
        ("m.compile('adam')", True),
        ("m.compile(optimizer=o)", True),
        ("grads = tape.gradient(loss, m.trainable_variables)", True),
        ("m = Trainer()\nm.fit(x, epochs=3)", False),
        ("m = keras.layers.Dense(3)\nm.trainable_variables", False),
        ("def other(m):\n    m.compile('adam')", False),
    ],
)
def test_what_is_used_as_only_a_model_is(program: str, expected: bool) -> None:
    file = model_of("m = make()\n" + program + "\nprobe(m)")
    assert used_as_model(file, file.calls_by_word["probe"][0].args[0].value) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("model(x)", True),
        ("model.train_on_batch(x)", True),
        ("model.summary()", False),
        ("class M(keras.Model): pass\nM()(x)", True),
        ("net(x, training=True)", True),
        ("Net(x, training=True)", False),
        ("net(x)", False),
        ("keras.layers.Dense(3)(x)", False),
    ],
)
def test_calls_that_feed_a_model(program: str, expected: bool) -> None:
    file = model_of(START + program)
    last = file.module.body[-1].body[0].value  # type: ignore[union-attr]
    assert feeds_model(file, file.call(last)) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def take(a, b):\n    model(b)\ntake(x, y)", ["y"]),
        ("def take(a, b):\n    model(tf.cast(a, tf.float32) / 255)\ntake(x, y)", ["x"]),
        ("def take(a, b):\n    model(a[None])\ntake(x, y)", []),
        ("def take(a, b):\n    images = a['image']\n    model(images)\ntake(x, y)", ["x"]),
        ("def take(a, b):\n    inner(b)\ndef inner(c):\n    model(c)\ntake(x, y)", ["y"]),
        ("take(x, y)", []),
    ],
)
def test_arguments_that_reach_a_model(program: str, expected: list[str]) -> None:
    file = model_of(START + program)
    call = file.call(file.calls_by_word["take"][0])
    assert [file.text(arg.value) for arg in model_arguments(file, call)] == expected
