"""Which calls give the same for the same arguments: the last call by the name `asked` of each program."""

import pytest
from programs import model_of

from tfmemlint.query.repetition.purity import draws_anew, draws_itself, pure

CALLS = [
    ("np.zeros(3)", "np.zeros", True),
    ("np.random.rand(3)", "rand", False),
    ("tf.image.random_crop(x, [8, 8])", "random_crop", False),
    ("np.load(path)", "load", True),
    ("import cv2\ncv2.resize(cv2.imread(path), (8, 8))", "resize", True),
    ("from PIL import Image\nImage.open(path).convert('RGB')", "convert", True),
    ("from PIL import Image\nImage.open(path).paste(x)", "paste", False),
    ("input()", "input", False),
    ("open(path)", "open", False),
    ("unknown(3)", "unknown", False),
    ("x.reshape(3)", "reshape", True),
    ("x.append(3)", "append", False),
    ("options.get('rate')", "get", True),
    ("queue.get()", "get", False),
    ("def f(x):\n    return np.sqrt(x)\nf(3)", "f", True),
    ("def f(x):\n    print(other(x))\nf(3)", "f", False),
    ("def f(x):\n    global n\n    n = x\nf(3)", "f", False),
    ("def f(n):\n    out = []\n    out.append(n)\n    return out\nf(3)", "f", True),
    ("def f(n):\n    shared.append(n)\nf(3)", "f", False),
    ("def f(n):\n    yield n\nf(3)", "f", False),
    ("def a(x):\n    return abs(x)\ndef b(x):\n    return a(x)\ndef f(x):\n    return b(x)\nf(3)", "f", True),
    ("def f(n):\n    return f(n - 1)\nf(3)", "f", False),
]


@pytest.mark.parametrize(("program", "word", "expected"), CALLS)
def test_pure_calls_give_the_same_for_the_same(program: str, word: str, expected: bool) -> None:
    file = model_of(program)
    assert pure(file, file.calls_by_word[word.rpartition(".")[2]][-1]) is expected


def test_functions_are_followed_so_many_deep() -> None:
    file = model_of("def a(x):\n    return abs(x)\ndef b(x):\n    return a(x)\nb(3)")
    assert pure(file, file.calls_by_word["b"][-1], through=2)
    assert not pure(file, file.calls_by_word["b"][-1], through=1)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def f():\n    return tf.random.normal([3])", True),
        ("def f():\n    return tf.zeros([3])", False),
        ("def f():\n    def g():\n        return tf.random.normal([3])\n    return g", False),
        ("def f(x):\n    return unknown(x)", False),
    ],
)
def test_a_function_draws_in_its_own_code(program: str, expected: bool) -> None:
    file = model_of(program)
    assert draws_itself(file, file.module.body[-1]) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("asked = np.random.rand\nasked(3)", True),
        ("def asked():\n    return tf.random.normal([3])\nasked()", True),
        ("def inner():\n    return tf.random.normal([3])\ndef asked():\n    return inner() + 1\nasked()", True),
        ("def asked():\n    return tf.zeros([3])\nasked()", False),
        ("def asked(d):\n    return d.map(lambda x: tf.random.normal([3]))\nasked(e)", False),
        ("asked(3)", False),
    ],
)
def test_a_call_draws_anew(program: str, expected: bool) -> None:
    file = model_of(program)
    assert draws_anew(file, file.calls_by_word["asked"][-1]) is expected
