"""What becomes of the strategies that programs make."""

import pytest
from programs import model_of

from tfmemlint.query.runtime.strategies import Strategy, current_strategy, in_scope, is_replicated, strategies

MIRRORED = "s = tf.distribute.MirroredStrategy()\n"


def _fate(strategy: Strategy) -> str:
    words = [word for word in ("entered", "entered_by_hand", "leaves") if getattr(strategy, word)]
    return ", ".join(words) or "nothing"


FATES = [
    (MIRRORED, "nothing"),
    (MIRRORED + "print(s.num_replicas_in_sync)", "nothing"),
    (MIRRORED + "if s is not None: pass", "nothing"),
    (MIRRORED + "with s.scope(): pass", "entered"),
    (MIRRORED + "with s.scope() if c else other(): pass", "entered"),
    (MIRRORED + "scope = s.scope()\nwith scope: pass", "entered"),
    (MIRRORED + "scope = s.scope()\nscope.__enter__()", "entered, entered_by_hand"),
    (MIRRORED + "stack.enter_context(s.scope())", "entered, entered_by_hand"),
    (MIRRORED + "s.run(step)", "entered"),
    (MIRRORED + "unknown(s)", "leaves"),
    (MIRRORED + "def f(t):\n    with t.scope(): pass\nf(s)", "entered"),
    (MIRRORED + "def f():\n    with s.scope(): pass", "entered"),
    (MIRRORED + "kept = [s]", "leaves"),
    ("def f():\n    return tf.distribute.MirroredStrategy()\nt = f()\nwith t.scope(): pass", "entered"),
    ("def f():\n    return tf.distribute.MirroredStrategy()", "leaves"),
    ("s = tf.distribute.MirroredStrategy() if c else None\nwith s.scope(): pass", "entered"),
    ("class A:\n    def __init__(self):\n        self.s = tf.distribute.MirroredStrategy()\n    def f(self):\n"
     "        with self.s.scope(): pass", "entered"),
    ("class A:\n    def __init__(self):\n        self.s = tf.distribute.MirroredStrategy()", "nothing"),
    ("class A:\n    def __init__(self):\n        self.s = tf.distribute.MirroredStrategy()\na = A()\n"
     "with a.s.scope(): pass", "leaves"),
    ("class A:\n    def __init__(self):\n        self.s = tf.distribute.MirroredStrategy()\nclass B(A):\n"
     "    def f(self):\n        with self.s.scope(): pass", "leaves"),
    ("def f():\n    global s\n    s = tf.distribute.MirroredStrategy()\ndef g():\n    with s.scope(): pass", "entered"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), FATES)
def test_what_becomes_of_a_strategy(program: str, expected: str) -> None:
    (strategy,) = strategies.of(model_of(program))
    assert _fate(strategy) == expected


def test_a_strategy_is_known_where_the_program_gets_it() -> None:
    (strategy,) = strategies.of(model_of("def f():\n    return tf.distribute.MirroredStrategy()\ns = f()"))
    assert (strategy.made.method, strategy.given.method, strategy.name) == ("MirroredStrategy", "f", "s")


def test_the_default_strategy_is_none_for_several_devices() -> None:
    assert strategies.of(model_of("s = tf.distribute.get_strategy()\nt = tf.distribute.OneDeviceStrategy('x')")) == []


@pytest.mark.parametrize(
    ("program", "scope", "replicated"),
    [
        ("work()", False, False),
        ("with s.scope():\n    work()", True, False),
        ("with s.scope() if s else other():\n    work()", True, False),
        ("with other():\n    work()", False, False),
        ("def f():\n    work()\nwith s.scope():\n    f()", False, False),
        ("def f():\n    work()\ns.run(f)", False, True),
        ("def f():\n    work()\ndef g():\n    f()\ns.run(g)", False, True),
        ("def f():\n    work()\nf()", False, False),
    ],
)
def test_what_runs_under_a_strategy(program: str, scope: bool, replicated: bool) -> None:
    file = model_of(program)
    node = file.calls_by_word["work"][0]
    assert (in_scope(file, node), is_replicated(file, node)) == (scope, replicated)


TRAINS = [
    (MIRRORED + "m = keras.Model(i, o)\nm.fit(x)", [True]),
    (MIRRORED + "def f():\n    with tf.GradientTape() as tape: pass", [True]),
    (MIRRORED, [False]),
    (f"def f():\n    {MIRRORED}    m = keras.Model(i, o)\n    m.fit(x)\ndef g():\n    {MIRRORED}", [True, False]),
]


@pytest.mark.parametrize(("program", "expected"), TRAINS)
def test_strategies_of_programs_that_train(program: str, expected: list[bool]) -> None:
    assert [strategy.trains for strategy in strategies.of(model_of(program))] == expected


CENTRAL = "t = tf.distribute.experimental.CentralStorageStrategy()\n"

CURRENT = [
    ("probe()\n" + MIRRORED, None),
    (MIRRORED + "probe()", "MirroredStrategy"),
    (MIRRORED + "probe()\n" + CENTRAL, "MirroredStrategy"),
    (MIRRORED + CENTRAL + "probe()", "CentralStorageStrategy"),
    (MIRRORED + "def f():\n    probe()", None),
]


@pytest.mark.parametrize(("program", "expected"), CURRENT)
def test_the_strategy_that_is_current_at_a_place(program: str, expected: str | None) -> None:
    file = model_of(program)
    found = current_strategy(file, file.calls_by_word["probe"][0])
    assert (found.made.method if found is not None else None) == expected


BUILDS = [
    ("with s.scope():\n    m = keras.Sequential()", True),
    ("with s.scope() as inside:\n    m = keras.Sequential()", True),
    ("scope = s.scope()\nwith scope:\n    m = keras.Sequential()", True),
    ("def build():\n    return keras.Sequential()\nwith s.scope():\n    m = build()", True),
    ("with s.scope():\n    m = unknown()", True),
    ("with s.scope():\n    m = keras.metrics.Mean()", False),
    ("with s.scope():\n    print(s.num_replicas_in_sync)\nm = keras.Sequential()", False),
]


@pytest.mark.parametrize(("program", "expected"), BUILDS)
def test_strategies_in_whose_scope_a_model_may_be_built(program: str, expected: bool) -> None:
    (strategy,) = strategies.of(model_of(MIRRORED + program))
    assert strategy.builds() is expected


TRAINS = [
    ("m.fit(x)\n" + MIRRORED, False),
    (MIRRORED + "m.fit(x)", True),
    ("def f():\n    m.fit(x)\n" + MIRRORED, True),
]


@pytest.mark.parametrize(("program", "expected"), TRAINS)
def test_strategies_behind_which_is_trained(program: str, expected: bool) -> None:
    (strategy,) = strategies.of(model_of("m = keras.Sequential()\n" + program))
    assert strategy.trains is expected
