"""`# tfmemlint: example` comments."""

from __future__ import annotations

import pytest

from tfmemlint.text.read import read_source
from tfmemlint.verify.plan.examples import ExampleError, read_examples


def code_of(text: str) -> dict[str, str]:
    return {name: example.code for name, example in read_examples(read_source(text.encode(), "a.py")).items()}


def test_arrays_and_literals() -> None:
    text = 'x = 1  # tfmemlint: example x=float32[32, 224,224,3] n=64, name="adam" sizes=(1, 2)\n'
    assert code_of(text) == {
        "x": 'tfmemlint_array("float32", (32, 224, 224, 3))',
        "n": "64",
        "name": "'adam'",
        "sizes": "(1, 2)",
    }


def test_scalars_and_vectors() -> None:
    assert code_of("#tfmemlint:example x=int64[] y=uint8[7]\n") == {
        "x": 'tfmemlint_array("int64", ())',
        "y": 'tfmemlint_array("uint8", (7,))',
    }


def test_data_sets() -> None:
    text = "# tfmemlint: example ds=dataset(float32[28,28,1], int64[]) * 60_000, names=dataset(string[]) n=1\n"
    assert code_of(text) == {
        "ds": 'tfmemlint_dataset([("float32", (28, 28, 1)), ("int64", ())], 60000)',
        "names": 'tfmemlint_dataset(("string", ()), 256)',
        "n": "1",
    }
    assert code_of("# tfmemlint: example ds=dataset(float32[1024,1024])") == {
        "ds": 'tfmemlint_dataset(("float32", (1024, 1024)), 48)'
    }


def test_other_comments_say_nothing() -> None:
    assert code_of("# tfmemlint: ignore[TFM305]\n# example x=float32[1]\ns = '# tfmemlint: example x=int8[1]'\n") == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("x=flot32[3]", "no dtype 'flot32'"),
        ("x=dataset(flot32[3])", "no dtype 'flot32'"),
        ("x=dataset(3)", "is neither dtype[shape] nor a Python literal"),
        ("float32[3]", "is no example; write NAME=dtype[shape]"),
        ("x=open('f')", "is neither dtype[shape] nor a Python literal"),
    ],
)
def test_a_wrong_one_is_named_with_its_line(words: str, said: str) -> None:
    with pytest.raises(ExampleError) as raised:
        code_of(f"import os\n# tfmemlint: example {words}\n")
    assert str(raised.value).startswith("a.py:2: ") and said in str(raised.value)
