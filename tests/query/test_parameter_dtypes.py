"""With which dtype a tensor can take the place of a Python number, and what kind of Python value an expression is."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.model.values import Function
from tfmemlint.query.tracing.number_kinds import number_kinds
from tfmemlint.query.tracing.parameter_dtypes import dtype_for
from tfmemlint.syntax.tree import walk

DTYPES = [
    ("return tf.zeros([2]) / (n + 1)", "i", "float32"),
    ("return x / (n + 1)", "i", "float32"),
    ("return x * n", "i", None),
    ("return x * n", "0.5 * i", ""),
    ("return x * n", "unknown(i)", None),
    ("return x - tf.constant(1) * n", "i", ""),
    ("return tf.constant(1, tf.int64) * n", "i", "int64"),
    ("return tf.constant(1.0, tf.float64) * n", "i", "float64"),
    ("return tf.constant(1.0, tf.float64) * n", "0.5 * i", "float64"),
    ("return x * 0.9 ** n", "i", "float32"),
    ("return x * 0.9 ** n + tf.constant(1) * n", "i", None),
    ("return n * n", "i", ""),
    ("return n % 10 == 0", "i", ""),
    ("return n > 2.5", "i", "float32"),
    ("return tf.cast(n, tf.float32) * x", "i", ""),
    ("return tf.multiply(x, n)", "i", None),
    ("return tf.pow(tf.ones([2]), n)", "i", "float32"),
    ("return unknown(n)", "i", None),
    ("return inner(n)", "i", "float32"),
    ("rate = 0.9 ** n\n    return x * rate", "i", "float32"),
    ("rate = n + 1\n    return x * rate", "i", None),
    ("n = n + 1\n    return x * 0.5 * n", "i", None),
    ("if n > 3:\n        return x\n    return -x", "i", ""),
    ("return f'{n}'", "i", None),
    ("return x[:, :n]", "i", ""),
    ("return x[:, :n] * (0.5 * n)", "i", None),
    ("tf.summary.scalar('loss', x, n)", "i", "int64"),
    ("tf.summary.scalar('loss', n, step=x)", "i", ""),
    ("return tf.strings.length(n)", "str(i)", ""),
    ("return tf.strings.join([x, n])", "str(i)", None),
    ("x += n\n    return x", "i / 2", ""),
]


@pytest.mark.parametrize(("body", "value", "expected"), DTYPES)
def test_the_dtype_of_a_tensor_in_place_of_a_number(body: str, value: str, expected: str | None) -> None:
    program = f"def inner(k):\n    return 0.5 * k\ndef f(x, n):\n    {body}\nfor i in range(9):\n    probe({value})"
    file = model_of(program)
    function = Function(list(walk(file.module, cst.FunctionDef))[-1])
    assert dtype_for(file, function, "n", file.calls_by_word["probe"][0].args[0].value) == expected


def test_unknown_tensors_may_be_of_another_float_dtype_that_the_file_names() -> None:
    file = model_of("def f(x, n):\n    return x * n\ny = tf.zeros([2], tf.float16)\nprobe(0.5)")
    function = Function(next(walk(file.module, cst.FunctionDef)))
    assert dtype_for(file, function, "n", file.calls_by_word["probe"][0].args[0].value) is None


KINDS = [
    ("3", {"int"}),
    ("0.5", {"float"}),
    ("True", None),
    ("f'{n}'", {"str"}),
    ("'a' + unknown", None),
    ("'a' + str(unknown)", {"str"}),
    ("unknown / 2", {"float"}),
    ("unknown * 0.5", {"float"}),
    ("unknown * 2", None),
    ("-float(unknown)", {"float"}),
    ("max(1, unknown / 2)", {"int", "float"}),
    ("1 if unknown else 0.5", {"int", "float"}),
    ("unknown()", None),
]


@pytest.mark.parametrize(("expression", "expected"), KINDS)
def test_kinds_of_python_values(expression: str, expected: set[str] | None) -> None:
    file = model_of(f"probe({expression})")
    assert number_kinds(file, file.calls_by_word["probe"][0].args[0].value) == expected


def test_kinds_of_names() -> None:
    file = model_of("n, rate = 0, 1.0\nfor i in range(9):\n    n += 1\n    rate *= 0.9\n    probe(n, rate, i)")
    given = [arg.value for arg in file.calls_by_word["probe"][0].args]
    assert [number_kinds(file, each) for each in given] == [{"int"}, {"float"}, {"int"}]
