"""Parameters that were made up as the wrong kind of thing: what errors say of them."""

from __future__ import annotations

import pytest

from tfmemlint.verify.plan.misfits import ARRAY, FUNCTION, NUMBER, OBJECT, TEXT, Made, code_of, misfit, of_kind
from tfmemlint.verify.run.runs import Failure

ROWS = Made("rows", frozenset({"self.rows"}), 'tfmemlint_array("float32", (31, 37))')
COUNT = Made("count", frozenset(), "10")
LOGS = Made("logs", frozenset(), "None")
MADE = ((1, ROWS), (2, COUNT), (3, LOGS))


@pytest.mark.parametrize(
    ("kind", "message", "line", "found"),
    [
        ("TypeError", "only integer scalar arrays can be converted to a scalar index", "for n in range(rows):", 1),
        ("TypeError", "only integer scalar arrays can be converted", "for n in range(self.rows[0]):", 1),
        ("ValueError", "index: Tensor conversion requested dtype int64 for Tensor with dtype float32", "f(rows)", 1),
        ("TypeError", "'int' object is not iterable", "first, second = count", 2),
        ("AttributeError", "'int' object has no attribute 'shape'", "count.shape[0]", 2),
        ("AttributeError", "'NoneType' object has no attribute 'get'", "logs.get(rows[0])", 3),
        ("TypeError", "'int' object is not callable", "count(3)", 2),
        ("TypeError", "Only integers, slices (`:`) are valid indices, got <tf.Tensor: shape=(3,)>", "x[:, rows]", 1),
        ("TypeError", "expected str, bytes or os.PathLike object, not int", "open(count)", 2),
        ("ValueError", "'size' must be a 1-D Tensor of 2 elements: new_height, new_width", "resize(image, count)", 2),
    ],
)
def test_an_error_tells_which_parameter_is_of_another_kind(kind: str, message: str, line: str, found: int) -> None:
    told = misfit(Failure(kind, message=message), ("train(rows, count)", line), MADE)
    assert told is not None and told[0] == found
    assert of_kind(code_of(told[1], "thing")) == told[1]


@pytest.mark.parametrize(
    ("kind", "message", "line"),
    [
        ("TypeError", "'int' object is not iterable", "first, second = other"),
        ("TypeError", "unsupported operand type(s) for +: 'str' and 'list'", "rows.name + count.name"),
        ("TypeError", "only integer scalar arrays can be converted to a scalar index", "range(count)"),
        ("FileNotFoundError", "expected str", "open(count)"),
        ("ValueError", "no", "rows + count"),
    ],
)
def test_an_error_that_tells_of_none_or_of_several_changes_none(kind: str, message: str, line: str) -> None:
    made = MADE if "rows" not in line else ((1, COUNT), (2, ROWS))
    assert misfit(Failure(kind, message=message), (line,), made) is None


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("10", NUMBER),
        ("-1", NUMBER),
        ("True", NUMBER),
        ("'text'", TEXT),
        ('tfmemlint_tensor("float32", (3,))', ARRAY),
        ('tfmemlint_settings("args")', OBJECT),
        ('tfmemlint_function("f")', FUNCTION),
        ("(64, 64)", "two numbers"),
    ],
)
def test_code_is_of_a_kind(code: str, kind: str) -> None:
    assert of_kind(code) == kind
