"""Which expressions add a node to the default graph: the argument of `probe(...)` is asked."""

import pytest
from programs import model_of

from tfmemlint.query.tracing.graphs import is_outermost_op, makes_op

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
