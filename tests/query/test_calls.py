"""Which calls some code makes: the last function of each program is asked."""

import pytest
from programs import model_of

from tfmemlint.query.calls import calls

FOUND = [
    ("def f():\n    tf.zeros(3)\n    tf.ones(3)", ("tf.zeros",), ["tf.zeros(3)"]),
    ("def f():\n    [tf.zeros(3) for x in y]", ("tf.zeros",), ["tf.zeros(3)"]),
    ("def f():\n    tf.zeros(3)\n    unknown()", (), ["tf.zeros(3)", "unknown()"]),
    ("def f():\n    tf.random.normal([3])\n    tf.zeros(3)", ("tf.random.",), ["tf.random.normal([3])"]),
    ("def f():\n    other.clear_session()", ("clear_session",), ["other.clear_session()"]),
    ("def f():\n    other.clear_session()", ("tf.keras.backend.clear_session",), []),
    ("def f():\n    def g():\n        tf.zeros(3)", ("tf.zeros",), []),
    ("def f():\n    def g():\n        tf.zeros(3)\n    g()", ("tf.zeros",), ["tf.zeros(3)"]),
    ("def f():\n    call(lambda: tf.zeros(3))", ("tf.zeros",), ["tf.zeros(3)"]),
    ("def g():\n    tf.zeros(3)\ndef f():\n    g()\n    g()", ("tf.zeros",), ["tf.zeros(3)"]),
    ("def g():\n    tf.zeros(3)\n    f()\ndef f():\n    g()", ("tf.zeros",), ["tf.zeros(3)"]),
    ("class A:\n    def __init__(self):\n        tf.zeros(3)\ndef f():\n    A()", ("tf.zeros",), ["tf.zeros(3)"]),
    ("def a():\n    tf.zeros(3)\ndef b():\n    a()\ndef c():\n    b()\ndef f():\n    c()", ("tf.zeros",), []),
]


@pytest.mark.parametrize(("program", "names", "expected"), FOUND)
def test_calls_are_found_through_functions(program: str, names: tuple[str, ...], expected: list[str]) -> None:
    file = model_of(program)
    function = file.module.body[-1]
    assert [file.text(call.node) for call in calls(file, function, *names, through=2)] == expected


def test_functions_are_gone_into_on_demand_alone() -> None:
    file = model_of("def g():\n    tf.zeros(3)\ndef f():\n    g()")
    assert [call.method for call in calls(file, file.module.body[-1])] == ["g"]
