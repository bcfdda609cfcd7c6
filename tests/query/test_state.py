"""What makes variables, which conditions decide about code, which functions run for each step, what they capture."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.flow.captures import captured_arrays
from tfmemlint.query.ordering.conditions import conditions, entered_by_choice, runs_by_choice
from tfmemlint.query.repetition.steps import step_functions
from tfmemlint.query.tracing.state import creates_state, outermost_state, state_made_by
from tfmemlint.syntax.tree import walk

BEARING = "class {0}(layers.Layer):\n    def build(self, shape):\n        self.w = self.add_weight()\n"


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("tf.Variable(3.0)", "a variable"),
        ("layers.Dense(3)", "a layer's weights"),
        ("layers.Normalization()", "a layer's weights"),
        ("layers.RandomBrightness(0.2)", None),
        ("layers.Flatten()", None),
        ("layers.TimeDistributed(layers.Flatten())", None),
        ("layers.TimeDistributed(layers.Dense(3))", "a layer's weights"),
        ("layers.TimeDistributed(dense)", None),
        ("layers.RNN(cell)", None),
        ("layers.RNN(layers.LSTMCell(3))", "a layer's weights"),
        ("keras.Sequential([])", "a model"),
        ("keras.Model(x, y)", "a model"),
        ("keras.Model(inputs=net.input, outputs=net.get_layer('last').output)", None),
        ("keras.Model([net.inputs], [net.output])", None),
        ("keras.applications.ResNet50()", "a model"),
        ("keras.applications.resnet50.preprocess_input(x)", None),
        ("keras.optimizers.Adam()", "an optimizer"),
        ("keras.optimizers.schedules.ExponentialDecay(1, 2, 3)", None),
        ("keras.metrics.Mean()", "a metric"),
        ("keras.losses.Huber()", None),
        ("tf.zeros(3)", None),
        ("unknown(3)", None),
        (f"{BEARING.format('A')}A()", "a layer's weights"),
        ("class A(layers.Layer):\n    pass\nA()", None),
        (f"{BEARING.format('A')}class B(A):\n    pass\nB()", "a layer's weights"),
        ("class A(keras.Model):\n    pass\nA()", "a model"),
        ("class A(Unknown):\n    pass\nA()", None),
        ("if new:\n    class A(layers.Layer):\n        pass\nelse:\n    class A(layers.Layer):\n        x = 1\n"
         "class B(A):\n    pass\nB()", None),
        ("class A(layers.Layer):\n    def f(self):\n        B()\n"
         "class B(layers.Layer):\n    def f(self):\n        A()\nA()", None),
    ],
)  # fmt: skip
def test_what_creates_state(program: str, kind: str | None) -> None:
    file = model_of(f"from tensorflow.keras import layers\n{program}")
    last = file.module.body[-1]
    assert creates_state(file, file.call(next(walk(last, cst.Call)))) == kind


def test_the_outermost_creation_stands_for_those_in_it() -> None:
    file = model_of("keras.Sequential([keras.layers.Dense(3)])\nf(keras.layers.Dense(3))")
    assert outermost_state(file, file.call(file.calls_by_word["Sequential"][0]))
    assert [outermost_state(file, file.call(call)) for call in file.calls_by_word["Dense"]] == [False, True]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("tf.Variable(1)", ["tf.Variable(1)"]),
        ("make()", ["keras.layers.Dense(3)"]),
        ("if x: tf.Variable(1)", []),
        ("for i in x: tf.Variable(1)", ["tf.Variable(1)"]),
        ("if x: make()", []),
    ],
)
def test_state_that_a_function_makes(body: str, expected: list[str]) -> None:
    file = model_of(f"def make():\n    return keras.layers.Dense(3)\ndef f(x):\n    {body}")
    function = list(walk(file.module, cst.FunctionDef))[-1]
    assert [file.text(call.node) for call in state_made_by(file, function)] == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("probe()", []),
        ("if a:\n    probe()", ["if a"]),
        ("if probe():\n    pass", []),
        ("if a:\n    pass\nelif probe():\n    pass", ["if a"]),
        ("x = probe() if a else b", ["probe("]),
        ("if __name__ == '__main__':\n    probe()", []),
        ("if a:\n    def f():\n        probe()", ["if a"]),
        ("while a:\n    probe()", []),
        ("try:\n    probe()\nexcept E:\n    pass", ["try:\n"]),
        ("try:\n    pass\nexcept E:\n    probe()", ["except", "try:\n"]),
    ],
)
def test_conditions_around_code(program: str, expected: list[str]) -> None:
    file = model_of(program)
    found = [file.text(each) for each in conditions(file, file.calls_by_word["probe"][0])]
    assert len(found) == len(expected)
    assert all(text.startswith(start) for text, start in zip(found, expected, strict=True))


def test_conditions_outside_are_left_out() -> None:
    file = model_of("if a:\n    def f():\n        if b:\n            probe()")
    function = next(walk(file.module, cst.FunctionDef))
    assert len(list(conditions(file, file.calls_by_word["probe"][0], function))) == 1


@pytest.mark.parametrize(
    ("calls", "some", "all_of_them"),
    [
        ("f()", False, False),
        ("if a:\n    f()", True, True),
        ("f()\nif a:\n    f()", True, False),
        ("try:\n    f()\nexcept E:\n    pass", False, False),
        ("try:\n    pass\nexcept E:\n    f()", True, False),
        ("def g():\n    f()\nif a:\n    g()", True, True),
        ("if __name__ == '__main__':\n    f()", False, False),
    ],
)
def test_functions_that_are_entered_by_choice(calls: str, some: bool, all_of_them: bool) -> None:
    file = model_of(f"def f():\n    probe()\n{calls}")
    assert entered_by_choice(file, next(walk(file.module, cst.FunctionDef))) is some
    assert runs_by_choice(file, file.calls_by_word["probe"][0]) is all_of_them


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("@tf.function\ndef f(x): pass", ["f TRACED"]),
        ("@tf.function\ndef build(x): pass", []),
        ("@tf.function\ndef f(x): pass\nif first:\n    f(3)", []),
        ("class A(keras.layers.Layer):\n    def call(self, x): pass\n    def other(self): pass", ["call CALL"]),
        ("def f(x):\n    with tf.GradientTape() as tape: pass", []),
        ("def train_step(x):\n    with tf.GradientTape() as tape: pass", []),
        ("def f(x):\n    with tf.GradientTape() as tape: pass\n    opt.apply_gradients(g)", []),
        ("def f():\n    with tf.GradientTape() as tape: pass\n    opt.apply_gradients(g)", []),
        ("def f(x):\n    with tf.GradientTape() as tape: pass\n    opt.apply_gradients(g)\nf(3)", []),
        ("def f(x):\n    with tf.GradientTape() as tape: pass\nfor x in data:\n    f(x)", ["f STEP"]),
        ("def f(x):\n    for b in x:\n        with tf.GradientTape() as t: pass\n        opt.apply_gradients(g)", []),
        ("def f(x): return x\nds = tf.data.Dataset.range(3).map(f)", []),
    ],
)
def test_functions_that_run_for_each_step(program: str, expected: list[str]) -> None:
    found = step_functions.of(model_of(program))
    assert [f"{step.function.name.value} {step.runs.name}" for step in found] == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return tf.gather(table, x)", [("table", "table = np.zeros(9)")]),
        ("return tf.gather(table, x) + table", [("table", "table = np.zeros(9)")]),
        ("return table.shape", []),
        ("return len(table)", []),
        ("return f(table=x)", []),
        ("return tables['mean']", [("tables['mean']", None)]),
        ("return tensor", []),
        ("table = x\n    return table", []),
        ("return inner(lambda y: table)", []),
    ],
)
def test_arrays_that_a_function_captures(body: str, expected: list[tuple[str, str | None]]) -> None:
    outside = "table = np.zeros(9)\ntables = {'mean': np.zeros(9)}\ntensor = tf.zeros(9)\n"
    file = model_of(f"{outside}def f(x):\n    {body}")
    function = next(walk(file.module, cst.FunctionDef))
    found = list(captured_arrays(file, function))
    made = [file.text(file.tree.statement(each.made)).strip() if each.made is not None else None for each in found]
    assert [(each.path, statement) for each, statement in zip(found, made, strict=True)] == expected


def test_arrays_in_attributes_and_defaults_are_captured() -> None:
    program = "class A:\n    def __init__(self):\n        self.table = np.zeros(9)\n    def f(self, x):\n        "
    file = model_of(f"{program}return self.table + x\ntable = np.zeros(9)\ng = lambda x, t=table: x + t")
    method = list(walk(file.module, cst.FunctionDef))[-1]
    assert [each.path for each in captured_arrays(file, method)] == ["self.table"]
    given = next(walk(file.module, cst.Lambda))
    assert [each.path for each in captured_arrays(file, given)] == []
    assert [each.path for each in captured_arrays(file, given, defaults=True)] == ["table"]
