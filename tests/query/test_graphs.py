"""Which expressions add a node to the default graph: the argument of `probe(...)` is asked."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.tracing.graphs import (
    begins_graph,
    graph_functions,
    graph_runs,
    in_graph_program,
    in_own_graph,
    is_outermost_op,
    makes_op,
    ops_built,
)

OPS = [
    ("tf.reduce_mean(x)", True),
    ("tf.constant(1) + 2", True),
    ("-tf.constant(1)", True),
    ("not tf.constant(1)", False),
    ("1 + 2", False),
    ("tf.Variable(1).assign(2)", True),
    ("tf.Variable(1).name", False),
    ("tf.compat.v1.train.Saver()", True),
    ("tf.compat.v1.global_variables_initializer()", True),
    ("tf.compat.v1.global_variables()", False),
    ("tf.compat.v1.Session()", False),
    ("tf.compat.v1.summary.FileWriter('logs')", False),
    ("tf.train.Example()", False),
    ("tf.data.Dataset.range(3)", False),
    ("tf.compat.as_str('a')", False),
    ("unknown(x)", False),
    ("tf.constant([1])[0]", True),
    ("unknown[0]", False),
    ("[tf.constant(1)][0]", False),
    ("keras.Sequential([]).output[:, 0]", True),
    ("tf.compat.v1.trainable_variables()[0].assign(3)", True),
    ("unknown[0].assign(3)", False),
    ("keras.backend.gradients(x, y)", True),
    ("keras.backend.clear_session()", False),
]


@pytest.mark.parametrize(("expression", "expected"), OPS)
def test_ops_are_told_from_other_calls(expression: str, expected: bool) -> None:
    file = model_of(f"probe({expression})")
    assert makes_op(file, file.calls_by_word["probe"][0].args[0].value) is expected


def test_an_op_within_another_is_not_the_outermost() -> None:
    file = model_of("tf.reduce_mean(tf.cast([tf.square(x)], tf.int32))")
    calls = {word: file.calls_by_word[word][0] for word in ("reduce_mean", "cast", "square")}
    assert {word: is_outermost_op(file, call) for word, call in calls.items()} == {
        "reduce_mean": True, "cast": False, "square": False,
    }  # fmt: skip


BUILT = [
    ("for i in n:\n    y = tf.square(tf.cast(i, tf.int32))", ["tf.square(tf.cast(i, tf.int32))"]),
    ("for i in tf.range(3):\n    run(i)", []),
    ("for i in n:\n    if i == 0:\n        y = tf.square(x)", []),
    ("def f():\n    return tf.square(x)\nfor i in n:\n    f()", ["tf.square(x)"]),
    ("def f():\n    def g():\n        tf.square(x)\nfor i in n:\n    f()", []),
    ("def f():\n    with tf.Graph().as_default():\n        tf.square(x)\nfor i in n:\n    f()", []),
    ("def f():\n    tf.square(x)\n    f()\nfor i in n:\n    f()", ["tf.square(x)"] * 3),
]


@pytest.mark.parametrize(("program", "expected"), BUILT)
def test_ops_that_each_iteration_builds(program: str, expected: list[str]) -> None:
    file = model_of(program)
    loop = file.tree.of(cst.For)[0]
    assert [file.text(op) for op in ops_built(file, loop)] == expected


BEGINNING = [
    ("with tf.Graph().as_default(): pass", True),
    ("with graph.as_default(): pass", True),
    ("tf.compat.v1.reset_default_graph()", True),
    ("with tf.compat.v1.Session().as_default(): pass", False),
    ("with tf.summary.create_file_writer('logs').as_default(): pass", False),
    ("def f():\n    tf.Graph()\nf()", False),
]


@pytest.mark.parametrize(("program", "expected"), BEGINNING)
def test_code_begins_a_graph_by_itself(program: str, expected: bool) -> None:
    file = model_of(program)
    assert begins_graph(file, file.module) is expected


OWN = [
    ("for i in n:\n    with tf.Graph().as_default():\n        probe()", True),
    ("for i in n:\n    with tf.compat.v1.Session(graph=tf.Graph()):\n        probe()", True),
    ("with tf.Graph().as_default():\n    for i in n:\n        probe()", False),
    ("for i in n:\n    with tf.device('cpu'):\n        probe()", False),
]


@pytest.mark.parametrize(("program", "expected"), OWN)
def test_each_iteration_may_have_a_graph(program: str, expected: bool) -> None:
    file = model_of(program)
    assert in_own_graph(file, file.calls_by_word["probe"][0], file.tree.of(cst.For)[0]) is expected


LISTED = [
    ("for v in tf.compat.v1.global_variables(): v.assign(3)", True),
    ("for i, (v, n) in enumerate(zip(model.weights, values)): v.assign(n)", True),
    ("for n, v in zip(values, model.weights): n.assign(v)", False),
    ("weights = tf.compat.v1.trainable_variables()\nfor v in weights: v.assign(3)", True),
    ("for v in seats: v.assign(3)", False),
]


@pytest.mark.parametrize(("program", "expected"), LISTED)
def test_items_of_lists_of_variables_are_assigned_by_an_op(program: str, expected: bool) -> None:
    file = model_of(program)
    assert makes_op(file, file.calls_by_word["assign"][0]) is expected


OLD = "import tensorflow.compat.v1 as tf\n"

RUNS = [
    (f"{OLD}tf.Session().run(x)", 1),
    (f"{OLD}unknown.run(tf.assign(v, 3))", 1),
    (f"{OLD}step = tf.assign(v, 3)\nunknown.run(step)", 1),
    (f"{OLD}unknown.run(x)", 0),
    (f"{OLD}g = tf.gradients(y, x)\nunknown.run(g, {{x: 3}})", 1),
    (f"{OLD}unknown.run([x, tf.assign(v, 3)])", 1),
    (f"{OLD}unknown.run(tf.assign(v, 3))\nunknown.run(x)\nother.run(x)", 2),
    (f"{OLD}def f(s, t):\n    s.run(tf.assign(v, 3))\n    t.run(x)\n    s.run(x)", 2),
    (f"{OLD}def f(s):\n    s.run(tf.assign(v, 3))\n    s = other()\n    s.run(x)", 1),
    (f"{OLD}def f(s):\n    s.run(tf.assign(v, 3))\ndef g(s):\n    s.run(x)", 1),
    (f"{OLD}def f(self):\n    self.s.run(tf.assign(v, 3))\n    self.s.run(x)\n    self.run(x)", 2),
    (f"{OLD}made().run(tf.assign(v, 3))\nmade().run(x)", 1),
    (f"{OLD}def run(x): pass\nrun(tf.assign(v, 3))", 0),
    ("unknown.run(tf.constant(3))", 0),
]


@pytest.mark.parametrize(("program", "expected"), RUNS)
def test_what_runs_a_graph(program: str, expected: int) -> None:
    assert len(graph_runs(model_of(program))) == expected


FUNCTIONS = [
    ("tf.gradients(y, x)", 0),
    ("keras.backend.gradients(y, x)\nkeras.backend.function(x, y)", 1),
    ("@tf.function\ndef f(x):\n    return tf.gradients(x, x)\nkeras.backend.function(x, y)", 0),
    ("keras.backend.function(x, y)", 0),
    ("tf.compat.v1.disable_eager_execution()\nkeras.backend.function(x, y)", 1),
]


@pytest.mark.parametrize(("program", "expected"), FUNCTIONS)
def test_functions_that_run_a_programs_graph(program: str, expected: int) -> None:
    assert len(graph_functions(model_of(program))) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def f(x): pass", False),
        ("def f(x):\n    return tf.compat.v1.layers.dense(x, 3)", True),
        ("class A:\n    def f(self): pass\n    def g(self):\n        tf.compat.v1.get_variable('w')", True),
        ("tf.compat.v1.disable_v2_behavior()\ndef f(x): pass", True),
        ("import tensorflow as tf\ntf.placeholder(tf.float32)\ndef f(x): pass", True),
    ],
)
def test_functions_of_graph_programs(program: str, expected: bool) -> None:
    file = model_of(program)
    assert in_graph_program(file, file.tree.of(cst.FunctionDef)[0]) is expected
