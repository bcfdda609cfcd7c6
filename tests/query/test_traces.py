"""Traced functions, what they do with Python values, and what is a tensor or is stored in them."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.model.values import Function
from tfmemlint.query.flow.stores import fills, is_container, outlives, stores, traced_stores
from tfmemlint.query.repetition.repeats import repeats
from tfmemlint.query.tracing.eager import is_asked_for_eagerly, runs_eagerly
from tfmemlint.query.tracing.loop_bodies import chooses_parts, collects_items, computes_tensors, for_graphs
from tfmemlint.query.tracing.python_needs import needs_python
from tfmemlint.query.tracing.symbolic import holds_tensor
from tfmemlint.query.tracing.traces import (
    in_one_trace,
    is_bound_method,
    is_traced_somewhere,
    runs_traced,
    traced_calls,
    tracing_options,
    unrolled_loops,
)
from tfmemlint.syntax.tree import walk

OWN = "class A:\n    def __init__(self):\n        self.kept = []"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("@tf.function\ndef f(): pass\nf()", ["f()"]),
        ("def f(): pass\ng = tf.function(f)\nf()\ng()", ["g()"]),
        ("def f(): pass\nf()", []),
        ("unknown()", []),
        ("def f(): pass\ng = tf.function(f) if fast else f\ng()", []),
    ],
)
def test_calls_of_traced_functions(program: str, expected: list[str]) -> None:
    file = model_of(program)
    assert [file.text(traced.call.node) for traced in traced_calls.of(file)] == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("@tf.function\ndef f(): pass", set()),
        ("@tf.function(jit_compile=True)\ndef f(): pass", {"jit_compile"}),
        ("def f(): pass\ng = tf.function(f, reduce_retracing=True)", {"reduce_retracing"}),
    ],
)
def test_options_of_a_traced_function(program: str, expected: set[str]) -> None:
    file = model_of(program)
    assert tracing_options(file, Function(next(walk(file.module, cst.FunctionDef)))) == expected


SWITCH = "tf.config.run_functions_eagerly(True)"
STEP = "@tf.function\ndef f(x):\n    return x + 1"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (f"{SWITCH}\n{STEP}", True),
        (STEP, False),
        (f"{STEP}\n{SWITCH}", False),
        (f"if debug:\n    {SWITCH}\n{STEP}", False),
        (f"{SWITCH}\n{STEP}\ntf.config.run_functions_eagerly(False)", False),
        (f"tf.config.run_functions_eagerly(eager)\n{STEP}", False),
        (f"{SWITCH}\n{STEP}\nds = tf.data.Dataset.range(9).map(f)", False),
        (f"{SWITCH}\n{STEP}\nds = tf.data.Dataset.range(9).map(lambda x: f(x))", False),
    ],
)
def test_traced_functions_that_run_eagerly(program: str, expected: bool) -> None:
    file = model_of(program)
    assert runs_eagerly(file, next(walk(file.module, cst.FunctionDef)).body.body[0]) is expected


LAYER = "class A(tf.keras.layers.Layer):\n    def call(self, x, late=False):\n        "


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("if not late:\n            return x\n        store(x)\nA()(x, late=True)", True),
        ("if late:\n            store(x)\nA()(x, late=True)", True),
        ("if late:\n            store(x)\nA()(x)", False),
        ("if late:\n            store(x)\n@tf.function\ndef f(x):\n    A()(x, late=True)\nA()(x, late=True)", False),
        ("if late:\n            store(x)\n@tf.function\ndef f(x):\n    A()(x, late=False)\nA()(x, late=True)", True),
        ("if not late:\n            store(x)\nA()(x, late=True)", False),
        ("store(x)\nA()(x, late=True)", False),
    ],
)
def test_what_only_untraced_code_asks_for(program: str, expected: bool) -> None:
    file = model_of(LAYER + program)
    assert is_asked_for_eagerly(file, file.calls_by_word["store"][0]) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for i in range(200): pass", [200]),
        ("while x > 0: pass", [None]),
        ("return [i for i in range(200)]", [200]),
        ("for i in tf.range(200): pass", []),
        ("for row in np.zeros((200, 3)): pass", [200]),
        ("for row in tf.zeros((200, 3)): pass", []),
        ("for row in tf.data.Dataset.range(200): pass", []),
        ("for i in range(200): return i", []),
        ("for layer in [keras.layers.Dense(3) for _ in range(200)]: pass", [200]),  # the comprehension
    ],
)
def test_loops_that_tracing_unrolls(body: str, expected: list[int | None]) -> None:
    traced, eager = model_of(f"@tf.function\ndef f(x):\n    {body}"), model_of(f"def f(x):\n    {body}")
    assert [run.count for run in unrolled_loops.of(traced)] == expected
    assert unrolled_loops.of(eager) == []


@pytest.mark.parametrize(
    ("body", "needs"),
    [
        ("return tf.zeros([n])", True),
        ("return tf.fill([n], 3)", True),
        ("return tf.fill([3], n)", False),
        ("return x[n]", True),
        ("return x[:n]", True),
        ("return x[:n] * 2.0", False),
        ("return x[:n] * 2", True),
        ("return x[:n] / y", False),
        ("return x[:, n:]", False),
        ("return tf.square(x[n : n + 2])", False),
        ("return tf.stack(x[:n])", True),
        ("return tf.ones([9])[:n]", False),
        ("return [1, 2, 3][:n]", True),
        ("rows = [1, 2, 3]\n    return rows[:n] / 2", True),
        ("for i in range(n): pass", True),
        ("return n == 'fast'", True),
        ("return n > 3", False),
        ("return x * n", False),
        ("return 0.5 * n", False),
        ("return n % 2.0", False),
        ("return other(n)", False),
        ("return inner(n)", True),
        ("return n.size", True),
        ("tf.summary.scalar('loss', x, n)", False),
        ("tf.summary.scalar(n, x)", True),
    ],
)
def test_what_a_function_needs(body: str, needs: bool) -> None:
    file = model_of(f"def inner(k):\n    return tf.zeros([k])\ndef f(x, n):\n    {body}")
    function = Function(list(walk(file.module, cst.FunctionDef))[-1])
    assert needs_python(file, function, "n") is needs


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def f(n):\n    for i in tf.range(n): pass", True),
        ("def f(n):\n    for i in range(n): pass", False),
        (
            "def f(n):\n    a = tf.TensorArray(tf.float32, n)\n    for i in range(n):\n        a = a.write(i, 0.0)",
            True,
        ),
        ("def f(n):\n    out = open('log')\n    for i in range(n):\n        out.write(i)", False),
        ("def f(n):\n    for i in tf.range(n): pass\nf(3)", False),
        ("for i in tf.range(3): pass", False),
    ],
)
def test_loops_that_are_written_for_graphs(program: str, expected: bool) -> None:
    file = model_of(program)
    assert for_graphs(file, file.tree.of(cst.For)[0]) is expected


TRACED = "class A:\n    @tf.function\n    def f(self):\n        {}\n    @tf.function\n    def g(self):\n        {}\n"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (TRACED.format("pass", "self.h()") + "    def h(self): pass", [False, False, True]),
        (TRACED.format("self.h()", "self.h()") + "    def h(self): pass", [False, True, True]),
        (TRACED.format("pass", "pass") + "    def h(self): pass", [False, True, True]),
        (TRACED.format("pass", "self.call()") + "    def call(self): pass", [False, True, True]),
        ("class A:\n    def f(self): pass\n    def g(self): pass\n    def h(self): pass", [True, True, True]),
    ],
)
def test_functions_that_one_trace_may_run(program: str, expected: list[bool]) -> None:
    file = model_of(program)
    f, g, h = file.tree.of(cst.FunctionDef)
    assert [in_one_trace(file, *pair) for pair in ((f, g), (f, h), (g, h))] == expected


BOUND = """class A:
    def f(self): pass
    @staticmethod
    def s(): pass
    @tf.function
    def t(self): pass
a, model = A(), keras.Sequential([])
probe({})
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [("a.f", True), ("a.s", False), ("a.t", False), ("model.call", True), ("model.__call__", False),
     ("model.output", False), ("np.random.default_rng().normal", True), ("unknown.f", False), ("A", False)],
)  # fmt: skip
def test_bound_methods_are_new_at_each_access(given: str, expected: bool) -> None:
    file = model_of(BOUND.format(given))
    assert is_bound_method(file.value(file.calls_by_word["probe"][0].args[0].value)) is expected


def test_a_parameter_that_is_not_there_may_be_anything() -> None:
    file = model_of("def f(**options): pass")
    assert needs_python(file, Function(next(walk(file.module, cst.FunctionDef))), "rate")


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("@tf.function\ndef asked(): pass", True),
        ("def asked(): pass", False),
        ("class A:\n    def asked(self): pass\n    @tf.function\n    def g(self):\n        self.asked()", True),
        ("class A:\n    def asked(self): pass\n    def g(self):\n        self.asked()", False),
    ],
)
def test_functions_that_traced_code_runs(program: str, expected: bool) -> None:
    file = model_of(program)
    asked = next(f for f in walk(file.module, cst.FunctionDef) if f.name.value == "asked")
    assert runs_traced(file, asked) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("probe(tf.reduce_sum(x))", True),
        ("probe(np.sum(x))", False),
        ("probe(3)", False),
        ("probe(tf.Variable(3.0))", False),
        ("probe(-tf.exp(x))", True),
        ("probe([tf.exp(x), 3])", True),
        ("probe(not x)", False),
        ("probe(unknown(x))", False),
        ("a = tf.exp(x)\nprobe(a)", True),
        ("a, b = tf.exp(x), 3\nprobe(a)", True),
        ("a, b = tf.exp(x), 3\nprobe(b)", False),
        ("def f(x):\n    return tf.exp(x)\nprobe(f(3))", True),
        ("def f(x):\n    return 3\nprobe(f(3))", False),
        ("for g, v in zip(tape.gradient(x, y), names):\n    probe(g)", False),
        ("for a in [tf.exp(x)]:\n    probe(a)", True),
        ("class L(keras.layers.Layer):\n    def call(self, x, n):\n        probe(x)", True),
        ("class L(keras.layers.Layer):\n    def call(self, x, n):\n        probe(n)", False),
        ("@tf.function\ndef f(x, n):\n    probe(x)", True),
        ("@tf.function\ndef f(x, n):\n    probe(n)", False),
        ("@tf.function\ndef f(x, n):\n    tf.exp(n)\n    probe(n)", True),
        ("@tf.function\ndef f(x):\n    tf.zeros([x])\n    probe(x)", False),
        ("@tf.function\ndef f(x):\n    y = model(x)\n    tf.reduce_sum(y)\n    probe(y)", True),
        ("def f(x):\n    y = model(x)\n    tf.reduce_sum(y)\n    probe(y)", False),
    ],
)
def test_expressions_that_hold_tensors(program: str, expected: bool) -> None:
    file = model_of(program)
    assert holds_tensor(file, file.calls_by_word["probe"][0].args[0].value) is expected


STORED = [
    ("kept = []\ndef f(x):\n    kept.append(x)", ["kept.append(x): kept <- x"]),
    ("def f(x):\n    kept = []\n    kept.append(x)", []),
    ("def f(x):\n    unknown.append(x)", []),
    ("kept = {}\ndef f(x):\n    kept['a'] = x", ["kept['a'] = x: kept <- x"]),
    ("kept = {}\ndef f(x):\n    kept.setdefault('a', []).append(x)", ["kept.setdefault('a', []).append(x): "
                                                                    "kept.setdefault('a', []) <- x"]),
    ("def f(x):\n    global last\n    last = x", ["last = x: last <- x"]),
    ("def f(x):\n    last = x", []),
    ("class A:\n    def f(self, x):\n        self.x = x", ["self.x = x: self.x <- x"]),
    ("class A:\n    def f(self, x):\n        self.x, y = x, 3", ["self.x, y = x, 3: self.x <- x"]),
    ("class A:\n    def f(self, x):\n        self.x += x", ["self.x += x: self.x <- x"]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), STORED)
def test_what_is_stored_outside(program: str, expected: list[str]) -> None:
    file = model_of(program)
    found = [
        f"{file.text(store.node)}: {file.text(store.place)} <- {', '.join(map(file.text, store.items))}"
        for store in stores(file)
    ]
    assert found == expected


def test_stores_of_traced_code() -> None:
    file = model_of("kept = []\n@tf.function\ndef f(x):\n    kept.append(x)\ndef g(x):\n    kept.append(x)")
    assert [file.contexts.function(store.node).name.value for store in traced_stores.of(file)] == ["f"]  # type: ignore


@pytest.mark.parametrize(
    ("program", "container", "outer"),
    [
        ("kept = []\ndef f():\n    probe(kept)", True, True),
        ("def f():\n    kept = []\n    probe(kept)", True, False),
        ("@tf.function\ndef f():\n    kept = []\n    def g():\n        probe(kept)", True, False),
        ("kept = other()\ndef f():\n    probe(kept)", False, False),
        ("class A:\n    kept = []\n    def f(self):\n        probe(self.kept)", True, True),
        (f"{OWN}\n    def f(self):\n        probe(self.kept)", True, True),
        ("class A:\n    def f(self):\n        probe(self.kept)", False, False),
    ],
)
def test_containers(program: str, container: bool, outer: bool) -> None:
    file = model_of(program)
    asked = file.calls_by_word["probe"][0].args[0].value
    assert (is_container(file, asked), outlives(file, asked)) == (container, outer)


@pytest.mark.parametrize(
    ("body", "expected"),
    [("kept[i] = x", True), ("kept.append(x)", True), ("other.append(x)", False), ("x = kept[i]", False)],
)
def test_loops_that_fill_a_container(body: str, expected: bool) -> None:
    file = model_of(f"for i in range(9):\n    {body}")
    assert fills(file, next(walk(file.module, cst.For)), cst.Name("kept")) is expected


BODIES = [
    ("y = 3 + 1", False, False, False),
    ("y = f(i)", True, False, False),
    ("kept.append(3 * 2)", False, True, False),
    ("kept.append(f(i))", True, True, False),
    ("v.assign(f(i))", True, False, False),
    ("pass", False, False, False),
    ("y = layers[i](x)", True, False, True),
    ("layers[i] = f(x)", True, False, False),
    ("y = unknown[i](x)", True, False, False),
    ("y = getattr(self, f'layer_{i}')(x)", True, False, True),
    ("y = model.get_layer(name)(x)", True, False, False),
]


@pytest.mark.parametrize(("body", "computes", "collects", "chooses"), BODIES)
def test_what_the_bodies_of_loops_do(body: str, computes: bool, collects: bool, chooses: bool) -> None:
    file = model_of(f"layers = []\nfor i in range(9):\n    {body}")
    loop = file.tree.of(cst.For)[0]
    run = repeats(file, loop.body.body[0])
    assert run is not None
    found = (computes_tensors(file, loop), collects_items(file, loop), chooses_parts(file, run, loop))
    assert found == (computes, collects, chooses)


CALLED = "class A(tf.keras.{base}):\n    def call(self, x): return x\n"
LOOP = "with tf.GradientTape() as tape: a(x)"


@pytest.mark.parametrize(
    ("base", "rest", "expected"),
    [
        ("Model", "", False),
        ("Model", LOOP, False),
        ("Model", "import re\nre.compile('a')", False),
        ("Model", "A().compile('adam')", True),
        ("Model", "@tf.function\ndef step(x): return A()(x)", True),
        ("Model", "    def train_step(self, data): return data", True),
        ("layers.Layer", "", True),
        ("layers.Layer", LOOP, False),
    ],
)
def test_what_shows_that_a_call_is_traced(base: str, rest: str, expected: bool) -> None:
    file = model_of(f"import tensorflow as tf\n{CALLED.format(base=base)}{rest}")
    assert is_traced_somewhere(file, file.tree.of(cst.FunctionDef)[0]) is expected
