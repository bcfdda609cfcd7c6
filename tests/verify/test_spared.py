"""Which libraries a program can do without, that Keras imports wherever they are installed."""

from __future__ import annotations

import importlib
import sys

import pytest

from tfmemlint.verify.child import preloaded
from tfmemlint.verify.run.spared import spared

ALL = frozenset({"matplotlib", "pandas", "sklearn"})


@pytest.mark.parametrize(
    ("source", "without"),
    [
        ("import os\nimport tensorflow as tf\nfrom tqdm import tqdm\n", ALL),
        ("import matplotlib.pyplot as plt\n", ALL - {"matplotlib"}),
        ("import keras\nkeras.utils.plot_model(model)\n", ALL - {"matplotlib"}),
        ("import pandas as pd\n", ALL - {"pandas"}),
        ("import tensorflow as tf\n# a DataFrame of pandas comes in\n", ALL - {"pandas"}),
        ("from keras.wrappers import SKLearnClassifier\n", ALL - {"sklearn"}),
        ("import seaborn as sns\n", frozenset()),
        ("from . import tables\n", frozenset()),
        ("import importlib\nimportlib.import_module(name)\n", frozenset()),
        ("print 3\n", frozenset()),
    ],
)
def test_libraries_are_spared_that_nothing_names(source: str, without: frozenset[str]) -> None:
    assert spared(source, ()) == without


def test_what_own_modules_name_counts() -> None:
    assert spared("import data.tables\n", [("data/tables.py", "import pandas\n")]) == ALL - {"pandas"}
    assert spared("import data.tables\n", [("data/tables.py", "import polars\n")]) == frozenset()


def test_a_library_is_found_again_after_the_import_that_went_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with preloaded._without(["colorsys"]), pytest.raises(ModuleNotFoundError, match="colorsys"):
        importlib.import_module("colorsys")
    assert importlib.import_module("colorsys").__name__ == "colorsys"
