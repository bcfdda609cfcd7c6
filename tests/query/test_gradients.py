"""Where sparse gradients of embedding tables go."""

import pytest
from programs import model_of

from tfmemlint.query.gradients.gradients import sparse_gradients
from tfmemlint.query.gradients.held import work_while_held
from tfmemlint.query.gradients.tapes import tapes

SETUP = """
table, w = tf.Variable(tf.zeros([9, 4])), tf.Variable(tf.zeros([4]))
layer = keras.layers.Embedding(9, 4)
model = keras.Sequential([keras.layers.Embedding(9, 4), keras.layers.Dense(1)])
with tf.GradientTape() as t:
    y = f(tf.gather(table, x), w, layer(x), model(x))
"""

USES = [
    ("g = t.gradient(y, table)\ng + 1", ["g"]),
    ("t.gradient(y, w) + 1", []),
    ("g = t.gradient(y, layer.embeddings)\nh(g)", ["g"]),
    ("a, b = t.gradient(y, [table, w])\na + 1\nb + 1", ["a"]),
    ("gs = t.gradient(y, [w, table])\ngs[0] + 1\ngs[1] + 2", ["gs[1]"]),
    ("gs = t.gradient(y, [w, table])\nfor g in gs:\n    h(g)", ["g"]),
    ("gs = t.gradient(y, [w, table])\nfor v, g in zip([w, table], gs):\n    h(g)", ["g"]),
    ("gs = t.gradient(y, [w, table])\nfor i in range(2):\n    h(gs[i])", ["gs[i]"]),
    ("gs = t.gradient(y, model.trainable_variables)\n[h(g) for g in gs]", ["g"]),
    ("gs = t.gradient(y, model.trainable_variables)\nh(gs[0])", []),
    ("gs = t.gradient(y, layer.trainable_variables)\nh(gs[0])", ["gs[0]"]),
    ("gs = t.gradient(y, other.trainable_variables)\n[h(g) for g in gs]", []),
]


@pytest.mark.parametrize(("program", "expected"), USES)
def test_uses_of_sparse_gradients(program: str, expected: list[str]) -> None:
    file = model_of(SETUP + program)
    (gradient,) = file.calls("tf.GradientTape.gradient")
    assert [file.text(use.node) for use in sparse_gradients(file, gradient)] == expected


def test_a_table_that_is_read_in_another_way_has_a_dense_gradient() -> None:
    file = model_of(SETUP + "    z = y + tf.reduce_sum(table)\nt.gradient(z, table) + 1")
    (gradient,) = file.calls("tf.GradientTape.gradient")
    assert list(sparse_gradients(file, gradient)) == []


HELD = """
model, critic, v = keras.Sequential([keras.layers.Dense(1)]), keras.Sequential([keras.layers.Dense(1)]), tf.ones([9])
def improve(network, x):
    with tf.GradientTape() as inner:
        z = network(x)
    return inner.gradient(z, network.trainable_variables)
def step(x, data, optimizer):
    for batch in data:
        BEFORE
        with tf.GradientTape(persistent=True) as tape:
            y = model(batch)
        a, b = tape.gradient(y, model.trainable_variables), tape.gradient(y, batch)
        AFTER
"""

MEANWHILE = [
    ("", "improve(critic, batch)", "improve(critic, batch)"),
    ("improve(critic, batch)", "", "improve(critic, batch)"),
    ("", "model.fit(batch, y)", "model.fit(batch, y)"),
    ("", "optimizer.apply_gradients(zip(a, model.trainable_variables))", None),
    ("", "model(batch)", None),
    ("", "model.evaluate(data)", None),
    ("", "validate(model)", None),
    ("tape = make()", "improve(critic, batch)", "improve(critic, batch)"),
    ("tape = improve(critic, batch)", "", None),
    ("", "tape = improve(critic, batch)", None),
]


@pytest.mark.parametrize(("before", "after", "expected"), MEANWHILE)
def test_what_needs_memory_while_a_persistent_tape_is_held(before: str, after: str, expected: str | None) -> None:
    file = model_of(HELD.replace("BEFORE", before or "pass").replace("AFTER", after or "pass"))
    tape = next(tape for tape in tapes.of(file) if tape.persistent)
    work = work_while_held(file, tape)
    assert (file.text(work.node) if work is not None else None) == expected
