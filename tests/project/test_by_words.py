"""The words by which a program may come to functions that use an API, found in texts alone."""

from __future__ import annotations

import pytest

from tfmemlint.project.by_words import Outlines, outline

READS = "def read(path):\n    return tf.keras.models.load_model(path)\n"


@pytest.mark.parametrize(
    ("modules", "words"),
    [
        ((READS,), {"read"}),
        ((READS, "def outer(path):\n    return read(path)\n"), {"read", "outer"}),
        ((READS, "from a import read as fetch\n\ndef outer():\n    fetch('m')\n"), {"read", "fetch", "outer"}),
        (
            (READS, "class Kept:\n    def __init__(self):\n        self.model = read('m')\n"),
            {"read", "__init__", "Kept"},
        ),
        ((READS, "self.reader = data.read\n"), {"read", "reader"}),
        ((READS, "first = second = read\nthird = first\n"), {"read", "first", "second", "third"}),
        ((READS, "run(\n    reader=partial(read, 'm'),\n)\n"), {"read", "reader"}),
        ((READS, "reader = functools.partial(read)\n"), {"read", "reader"}),
        ((READS, "def other(path):\n    return open(path)\n"), {"read"}),
        (("def read(path):\n    def inner():\n        load_model(path)\n    return inner\n",), {"read", "inner"}),
        (("from keras.models import load_model as again\n\ndef read(path):\n    again(path)\n",), {"read"}),
        (("x = load_model('m')\n",), set()),
        (
            ("def one():\n    two()\n\ndef two():\n    three()\n\ndef three():\n    load_model('m')\n",),
            {"two", "three"},
        ),
    ],
)
def test_functions_are_found_backwards(modules: tuple[str, ...], words: set[str]) -> None:
    outlines = Outlines({str(number): outline(each) for number, each in enumerate(modules)})
    found = outlines.leading_to(frozenset({"load_model"}), ["0"], 2)
    assert words <= found
    assert "other" not in found and "one" not in found


def test_a_method_stands_behind_a_dot() -> None:
    text = "def count():\n    return range(9)\n\ndef data():\n    return tf.data.Dataset.range(9)\n"
    outlines = Outlines({"a.py": outline(text)})
    assert outlines.leading_to(frozenset({".range"}), ["a.py"], 3) == {"data"}


def test_what_derives_from_a_class_is_made_by_its_own_name_too() -> None:
    texts = ("class Base:\n    def __init__(self):\n        load_model('m')\n", "class Mine(Base):\n    pass\n")
    outlines = Outlines({str(number): outline(each) for number, each in enumerate(texts)})
    assert {"Base", "Mine"} <= outlines.leading_to(frozenset({"load_model"}), ["0"], 2)
