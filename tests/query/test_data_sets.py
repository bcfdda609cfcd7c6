"""Python data sets of Keras: what makes one, and what its batches weigh."""

import libcst as cst
import pytest
from programs import model_of, value_in

from tfmemlint.query.keras.data_sets import batch_bytes, makes_data_set

DATA = """
class Data(keras.utils.Sequence):
    def __init__(self):
        {init}
    def __getitem__(self, i):
        {item}
class Other:
    pass
"""


def _data(init: str = "pass", item: str = "pass") -> str:
    return DATA.format(init=init, item=item)


MAKES = [
    (_data() + "Data(workers=2)", True),
    (_data(init="super().__init__(workers=2)"), True),
    (_data() + "Other(workers=2)", False),
    (_data() + "(Data if c else Other)(workers=2)", False),
    ("unknown(workers=2)", False),
]


@pytest.mark.parametrize(("program", "expected"), MAKES)
def test_calls_that_make_a_data_set(program: str, expected: bool) -> None:
    file = model_of(program)
    (call,) = [node for node in file.tree.of(cst.Call) if node.args]
    assert makes_data_set(file, file.call(call)) is expected


SIZES = [
    ("return np.zeros((2, 3), np.float32)", 24),
    ("return np.zeros((2, 3), np.float32), np.zeros(2, np.int64)", 40),
    ("return load(i)", None),
    ("return np.zeros(2) if i else np.zeros(3)", None),
    ("if i:\n            return np.zeros(2)\n        return np.zeros(2)", None),
]


@pytest.mark.parametrize(("item", "expected"), SIZES)
def test_bytes_of_a_batch(item: str, expected: int | None) -> None:
    file = model_of(_data(item=item) + "probe(Data())")
    assert batch_bytes(file, value_in(file)) == expected


def test_only_objects_of_classes_that_are_seen_have_known_batches() -> None:
    file = model_of("probe(unknown())")
    assert batch_bytes(file, value_in(file)) is None
