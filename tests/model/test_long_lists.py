"""Lists that are made item by item are those that were written at once."""

import pytest

from tfmemlint.model.values import Const, Sequence


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_list_with_one_item_more(count: int, is_open: bool) -> None:
    items = tuple(Const(number) for number in range(count))
    nested = Sequence(items, "tuple")
    made, written = Sequence(items, "list", is_open).with_item(nested), Sequence((*items, nested), "list", is_open)
    assert made == written
    assert hash(made) == hash(written)
    assert repr(made) == repr(written)
    assert made.weight == written.weight == 2 + 2 * count
