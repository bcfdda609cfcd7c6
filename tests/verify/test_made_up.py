"""Code that makes up what a value is known to be."""

from __future__ import annotations

import pytest

from tfmemlint.model.values import Array, Const, Dataset, Mapping, OneOf, Sequence, Unknown, Value
from tfmemlint.verify.plan.made_up import ELEMENTS, code_for

ROWS = Array("np", "uint8", (10, 4))
TENSOR = Array("tf", "float32", (2,))
PAIR = Sequence((ROWS, TENSOR))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (Const(3), "3"),
        (Const("a"), "'a'"),
        (ROWS, 'tfmemlint_array("uint8", (10, 4))'),
        (TENSOR, 'tfmemlint_tensor("float32", (2,))'),
        (PAIR, 'tfmemlint_array("uint8", (10, 4)), tfmemlint_tensor("float32", (2,)),'),
        (Sequence((Const(1), Const(2)), "list"), "[1, 2]"),
        (Mapping((("a", Const(1)),)), "{'a': 1}"),
        (Dataset("x", element=PAIR, count=7), 'tfmemlint_dataset([("uint8", (10, 4)), ("float32", (2,))], 7)'),
        (Dataset("x", element=TENSOR), f'tfmemlint_dataset(("float32", (2,)), {ELEMENTS})'),
        (OneOf((Const(1), Const(1.0))), None),
        (Unknown("nobody knows"), None),
        (Array("np", None, (10, 4)), None),
        (Array("np", "uint8", (None, 4)), None),
        (Array("np", "float64", (1 << 20, 1 << 20)), None),
        (Array("keras", "float32", (2,)), None),
        (Array("tf", "float32", (2,), variable=True), None),
        (Sequence((Const(1),), "list", open=True), None),
        (Sequence((Const(1), Unknown("?"))), None),
        (Mapping((("a", Const(1)),), open=True), None),
        (Dataset("x", element=Unknown("?"), count=7), None),
        (Dataset("x", element=TENSOR, count=0), None),
    ],
)
def test_only_what_is_known_whole_is_made_up(value: Value, code: str | None) -> None:
    assert code_for(value) == (code if value is not PAIR else f"({code})")
