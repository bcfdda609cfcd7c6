"""What counts as a unit test."""

import libcst as cst
import pytest

from tfmemlint.config.settings import Config
from tfmemlint.model.file import File
from tfmemlint.model.unittests import is_test
from tfmemlint.text.read import read_source


def looked_at(text: str, path: str = "train.py") -> bool:
    return is_test(File(read_source(text.encode(), path), cst.parse_module(text), Config()))


@pytest.mark.parametrize("path", ["test_train.py", "pkg/train_test.py", "a\\train_tests.py", "test_utils.py"])
def test_by_its_name(path: str) -> None:
    assert looked_at("", path)


@pytest.mark.parametrize("path", ["train.py", "tests/train.py", "latest.py", "contest.py", "testing.py"])
def test_not_by_a_similar_name(path: str) -> None:
    assert not looked_at("", path)


@pytest.mark.parametrize(
    "text",
    [
        "import pytest",
        "import os, pytest",
        "from unittest import TestCase\nclass Trains(TestCase): pass",
        "import tensorflow as tf\nclass Base(tf.test.TestCase): pass\nclass Trains(Base): pass",
        "from absl.testing import parameterized\nclass Trains(parameterized.TestCase): pass",
        '"""Checks."""\nimport keras\ndef test_model():\n    assert keras.Sequential() is not None',
    ],
)
def test_by_what_it_holds(text: str) -> None:
    assert looked_at(text)


@pytest.mark.parametrize(
    "text",
    [
        "import pytest_like",
        "class TestCase: pass\nclass Trains(TestCase): pass",
        "def test_step(x):\n    return model(x)",
        "def test_step(x):\n    assert x\nfor x in ds:\n    test_step(x)",
    ],
)
def test_not_by_similar_things(text: str) -> None:
    assert not looked_at(text)
