"""Programs made to be hard end within the budget of evaluations, and the rest of them is still understood."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst
import pytest
from programs import HEADER, model_of

from tfmemlint.config.settings import Config
from tfmemlint.lint.engine import lint
from tfmemlint.lint.registry import load_rules
from tfmemlint.model.file import File
from tfmemlint.model.memo import Memory
from tfmemlint.model.values import Const, Value

END = "\nlast = tf.data.Dataset.range(4).batch(2)\n"


def deep_calls() -> str:
    """A hundred functions, each calling the next."""
    return "".join(f"def f{i}(a):\n    return f{i + 1}(a + 1)\n" for i in range(100)) + "x = f0(1)\n"


def everybody_calls_everybody() -> str:
    functions = range(20)
    calls = " + ".join(f"f{i}(a)" for i in functions)
    return "".join(f"def f{i}(a):\n    return {calls}\n" for i in functions) + "x = f0(1)\n"


def doubling_chains() -> str:
    """Each name is read twice by the next."""
    return "v0 = unknown\n" + "".join(f"v{i + 1} = v{i} + v{i}\n" for i in range(500))


def doubling_functions() -> str:
    """Each function calls the one before twice."""
    return "def f0(a):\n    return a\n" + "".join(
        f"def f{i + 1}(a):\n    return f{i}(a) + f{i}(a + 1)\n" for i in range(200)
    ) + "x = f200(1)\n"  # fmt: skip


def mutual_recursion() -> str:
    return "".join(
        f"def f{i}(n, ds):\n    if n:\n        return f{(i + 1) % 40}(n - 1, ds.map(f{i}))\n    return f{(i + 7) % 40}(n, ds)\n"  # noqa: E501
        for i in range(40)
    ) + "x = f0(3, tf.data.Dataset.range(5))\n"  # fmt: skip


def hundreds_of_functions() -> str:
    """A module of two thousand lines whose functions call their neighbours with pipelines."""
    return "".join(
        f"def build{i}(ds, size={i}):\n    ds = ds.map(lambda v: v + {i})\n    ds = ds.batch(size)\n"
        f"    if size > {i}:\n        return build{(i + 1) % 330}(ds)\n    return build{(i * 7) % 330}(ds, size)\n"
        for i in range(330)
    )


def huge_literal() -> str:
    return f"x = [{', '.join(map(str, range(5_000)))}]\ny = np.array(x)\nz = x[3]\n"


def nested_literal() -> str:
    return "x = " + "[" * 80 + "1" + "]" * 80 + "\ny = np.array(x)\n"


def long_branches() -> str:
    return "a = 0\nif c0:\n    a = 0\n" + "".join(f"elif c{i}:\n    a = {i}\n" for i in range(1, 400)) + "b = a + a\n"


def many_branches() -> str:
    """Alternatives that would multiply."""
    return "a = 0\n" + "".join(f"if c{i}:\n    a = a + {i}\n" for i in range(300))


def nested_loops() -> str:
    lines, names = [], [f"v{i}" for i in range(12)]
    lines += [f"{name} = 0" for name in names]
    for depth in range(12):
        lines.append(" " * depth + f"for i{depth} in items:")
    lines += [" " * 12 + f"{name} = {names[(i + 1) % 12]} + {names[(i + 5) % 12]}" for i, name in enumerate(names)]
    return "\n".join(lines) + "\n"


def long_chain() -> str:
    return "ds = tf.data.Dataset.range(5)" + ".map(abs)" * 120 + "\n"


def self_reference() -> str:
    return "class A:\n    def __init__(self):\n        self.a = self.b\n        self.b = self.c\n        self.c = self.a\nx = A().a\n"  # noqa: E501


def nested_lambdas() -> str:
    return "f = " + "lambda g: " * 60 + "g\nx = f" + "(f)" * 60 + "\n"


PROGRAMS = [
    deep_calls, everybody_calls_everybody, doubling_chains, doubling_functions, mutual_recursion, hundreds_of_functions,
    huge_literal, nested_literal, long_branches, many_branches, nested_loops, long_chain, self_reference, nested_lambdas,  # noqa: E501
]  # fmt: skip


def _evaluated(text: str) -> File:
    file = model_of(text + END)
    for calls in file.calls_by_word.values():
        for node in calls:
            assert file.call(node).value is not None
    return file


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_evaluation_ends_within_its_budget(make: Callable[[], str]) -> None:
    file = _evaluated(make())
    assert 0 < file.values.memo.spent <= file.values.memo.budget
    again = file.values.memo.spent
    for calls in file.calls_by_word.values():
        for node in calls:
            file.value(node)
    assert file.values.memo.spent - again <= len(file.tree)  # remembered: a second look costs next to nothing


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_the_order_of_effects_ends_too(make: Callable[[], str]) -> None:
    file = model_of(make() + "tf.zeros([2])\nlast()\n")
    order = file.effects.order(
        "any call of tf.zeros", lambda node: "made" if getattr(node, "name", "") == "tf.zeros" else None
    )
    happened = order.before(file.calls_by_word["last"][0], "made")
    assert happened is None or happened.certain


@pytest.mark.parametrize("make", [doubling_functions, mutual_recursion, nested_loops], ids=lambda make: make.__name__)
def test_rules_end_and_say_nothing(make: Callable[[], str]) -> None:
    result = lint((HEADER + make()).encode(), "hostile.py", Config(), load_rules())
    assert [f.code for f in result.findings if f.code.startswith("TFM0")] == []


def test_the_budget_grows_with_the_program() -> None:
    small, large = model_of("x = 1\n"), model_of("x = 1\n" * 5000)
    assert small.values.memo.budget < large.values.memo.budget
    assert large.values.memo.budget <= small.values.memo.budget + 10 * len(large.tree)


@pytest.mark.parametrize(
    "expression",
    [
        "range(10 ** 19)", "range(-(2 ** 63), 2 ** 63)", "range(0, 5, 0)", "tf.range(2 ** 64)", "tf.range(0, 5, 0)",
        "tf.data.Dataset.range(10 ** 19)", "tf.data.Dataset.range(0, 5, 0)", "np.zeros(10 ** 25)[3:]", "[1, 2][::0]",
        "np.zeros(10)[::0]", "np.arange(0, float('inf'))", "np.arange(0, 1, 1e-320)", "np.arange(float('nan'), 1)",
        "9 ** 9 ** 9", "1 << 10 ** 6", "[0] * 10 ** 18", "'a' * 10 ** 12", "1 // 0", "int(float('inf'))",
        "round(float('nan'))", "pow(10, 10 ** 6)", "math.sqrt(-1)", "len('a' * 5)",
    ],
)  # fmt: skip
def test_no_constant_makes_a_rule_fail(expression: str) -> None:
    """Counts beyond a machine word, endless ranges and steps of nothing are values like any other, or not known."""
    program = f"{HEADER}\nx = {expression}\nfor i in {expression}:\n    y = tf.constant(x)\n{END}"
    found = lint(program.encode(), "program.py", Config(), load_rules()).findings
    assert [finding.message for finding in found if finding.code == "TFM000"] == []


def test_what_fails_for_one_rule_is_looked_at_anew_for_the_next() -> None:
    memory = Memory(nodes=1)

    def fails() -> Value:
        raise KeyError("a hole in the model")

    with pytest.raises(KeyError):
        memory.once((1, 0), lambda: memory.once((2, 0), fails))
    assert memory.once((1, 0), lambda: memory.once((2, 0), lambda: Const(5))) == Const(5)


def test_constructors_that_call_those_of_libraries_make_no_circle() -> None:
    """What `super` is does not depend on who makes the objects: each node is evaluated once at most."""
    classes = (
        f"class Layer{i}(tf.keras.layers.Layer):\n"
        f"    def __init__(self):\n        super(Layer{i}, self).__init__()\n"
        f"        self.dense = tf.keras.layers.Dense(3)\n"
        for i in range(20)
    )
    file = model_of("".join(classes))
    for node in file.tree.of(cst.Call):
        assert file.call(node).names
    assert file.values.memo.spent <= len(file.tree)
