"""Which integer arrays are little, and which rows a list collects: what is divided by 255 is asked."""

from __future__ import annotations

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.model.file import File
from tfmemlint.model.values import Array
from tfmemlint.query.tensors.small_data import is_sample, is_short_column, is_small_picture, rows_collected

START = "import numpy as np\nimport tensorflow as tf\nimport cv2\n"
DIGITS = "(x, y), (a, b) = tf.keras.datasets.mnist.load_data()\n"


def asked(program: str) -> tuple[File, cst.BinaryOperation, Array]:
    """The file, the division and the array that is divided."""
    file = model_of(START + program)
    (node,) = [each for each in file.tree.of(cst.BinaryOperation) if isinstance(each.operator, cst.Divide)]
    (data,) = [each for each in file.value(node.left).options if isinstance(each, Array)]
    return file, node, data


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (f"{DIGITS}x[:5] / 255", True),
        (f"{DIGITS}x / 255", False),
        (f"{DIGITS}x[:5000] / 255", False),
        ("np.zeros((5, 28, 28), np.uint8) / 255", False),
    ],
)
def test_a_few_rows_of_a_bundled_data_set(program: str, expected: bool) -> None:
    assert is_sample(asked(program)[2]) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("cv2.resize(cv2.imread('a.png'), (224, 224)) / 255", True),
        ("cv2.resize(cv2.imread('a.png'), (4096, 4096)) / 255", False),
        ("np.zeros((224, 224, 3), np.uint8) / 255", False),
    ],
)
def test_one_picture_as_models_take_it(program: str, expected: bool) -> None:
    assert is_small_picture(asked(program)[2]) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("t = np.loadtxt('t.csv', dtype=np.int32)\nt[:, 3] / 255", False),
        ("t = np.zeros((n, 8), np.int32)\nt[:, 3] / 255", True),
        ("t = np.zeros((n, 784), np.int32)\nt[:, 3] / 255", False),
    ],
)
def test_a_column_of_a_narrow_table(program: str, expected: bool) -> None:
    assert is_short_column(asked(program)[2]) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (f"{DIGITS}rows = [row / 255 for row in x]", True),
        (f"{DIGITS}rows = []\nfor row in x:\n    rows.append(row / 255)", True),
        (f"{DIGITS}for row in x:\n    print(row / 255)", False),
    ],
)
def test_rows_that_a_list_collects(program: str, expected: bool) -> None:
    file, node, row = asked(program)
    assert (rows_collected(file, node, row) is not None) is expected
