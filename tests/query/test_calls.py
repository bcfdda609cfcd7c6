"""Which calls some code makes: the last function of each program is asked."""

import pytest
from programs import model_of, shown

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


BOUND = [
    ("kept = []\npush = kept.append\npush(3)", "append", ["kept.append"]),
    ("class A:\n    def __init__(self):\n        self.tag = load().predict\n    def f(self, x):\n        self.tag(x)",
     "predict", ["load().predict"]),
    ("push, add = kept.append, other.append\nadd(3)", "append", ["other.append"]),
    ("f().x = kept.append\ng().h(3)", "append", []),
    ("class A:\n    def f(self):\n        self.add = kept.append\n        self.add: object = None\n        self.add(3)",
     "append", []),
    ("push, add = make()\nadd(3)", "append", []),
    ("self.push, self.add = pair.append\nself.add(3)", "append", []),
    ("zeros = tf.zeros\nzeros(3)", "zeros", ["zeros"]),
    ("def f(push):\n    push(3)\npush = kept.append", "append", []),
    ("push = kept.append\npush = other.append\npush(3)", "append", []),
]  # fmt: skip


@pytest.mark.parametrize(("program", "word", "expected"), BOUND)
def test_a_bound_method_is_called_by_its_own_word_too(program: str, word: str, expected: list[str]) -> None:
    file = model_of(program)
    assert [file.text(file.called(node)) for node in file.calls_by_word.get(word, ())] == expected


def test_a_list_grows_by_another_name_of_its_method() -> None:
    file = model_of("kept = [1]\npush = kept.append\nfor x in y:\n    push(x)\nprobe(len(kept))")
    assert "kept" in file.grown


def test_the_object_of_a_bound_method_in_an_attribute_is_that_of_the_method() -> None:
    program = """
    class A:
        def __init__(self):
            self.tag = keras.models.load_model("m").predict
        def f(self, x):
            return self.tag(x)
    """
    call = next(model_of(program).calls("tf.keras.Model.predict"))
    assert shown(call.receiver) == "tf.keras.Model object"
