"""What rules say of cards that the program hides from TensorFlow: nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import tfmemlint_fixtures

from tfmemlint.config.settings import Config
from tfmemlint.lint.linter import Linter

FIXTURES = Path(tfmemlint_fixtures.__path__[0])
HIDES = 'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "-1"\n'
CHOOSES = HIDES.replace("-1", "0")
LATE = f"import tensorflow as tf\ntf.zeros([3])\n{HIDES}"
RULES = ("TFM103", "TFM104", "TFM108", "TFM109", "TFM113")


def found(code: str, head: str) -> bool:
    (folder,) = FIXTURES.glob(f"{code}-*")
    text = (folder / "measure_bad.py").read_text("utf-8")
    result = Linter(Config(select=(code,))).lint((head + text).encode(), "train.py")
    return [each.code for each in result.findings] == [code]


@pytest.mark.parametrize("code", RULES)
def test_nothing_is_said_of_hidden_cards(code: str) -> None:
    assert [found(code, head) for head in ("", CHOOSES, HIDES)] == [True, True, False]


def test_cards_that_are_hidden_too_late_are_there() -> None:
    assert found("TFM109", LATE)
