"""Modules of libraries that compute in float64 by design are known by their place and by what they import."""

import pytest

from tfmemlint.config.settings import Config
from tfmemlint.lint.engine import lint
from tfmemlint.lint.registry import load_rules

TEXT = "import tensorflow as tf\n{}\n\ndef kernel():\n    return tf.zeros([4096, 4096], dtype=tf.float64)\n"


@pytest.mark.parametrize(
    ("path", "more", "count"),
    [
        ("gpflow/kernels/tree.py", "from ..base import Kernel", 0),
        ("site-packages/gpflow/tree.py", "from .base import Kernel", 0),
        ("gpflow/examples.py", "import json", 1),
        ("app/kernels/tree.py", "from ..base import Kernel", 1),
        ("app/tree.py", "from gpflow.kernels import Kernel", 0),
        ("app/tree.py", "import tensorflow_probability as tfp", 0),
    ],
)
def test_the_package_decides(path: str, more: str, count: int) -> None:
    rules = [rule for rule in load_rules() if rule.code == "TFM201"]
    assert len(lint(TEXT.format(more).encode(), path, Config(), rules).findings) == count
