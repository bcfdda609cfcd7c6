"""The arguments by which a function comes to the flagged place: those that the conditions around it ask for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.syntax.scopes import FUNCTIONS
from tfmemlint.syntax.tree import Node

LITERALS = (cst.SimpleString, cst.Integer, cst.Float)


def switched(file: File, parameter: cst.Param, function: cst.FunctionDef, flagged: Node) -> str | None:
    """Code for a parameter of a function that holds the flagged place, so that a condition around that is met, as
    `"train"` for `mode` of `if mode == "train":`. None where none asks for it, or where it is so by default."""
    if file.contexts.function(flagged) is not function:
        return None
    word = parameter.name.value
    found = next((code for test, holds in _around(file, flagged) if (code := _asked(test, word, holds))), None)
    return None if found is not None and _is_default(parameter, found) else found


def is_refused(file: File, parameter: cst.Param, function: cst.FunctionDef) -> bool:
    """Whether a function cannot do without a parameter: it has no default, or one with which the function raises at
    once, as `if not classes: raise` does of 0."""
    if parameter.default is None:
        return True
    default = file.text(parameter.default)
    first = function.body.body if isinstance(function.body, cst.IndentedBlock) else ()
    raising = (each for each in first if isinstance(each, cst.If) and _raises(each.body))
    return any(_refuses(file, each.test, parameter.name.value, default) for each in raising)


def _raises(body: cst.BaseSuite) -> bool:
    last = body.body[-1] if body.body else None
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Raise)


def _refuses(file: File, test: cst.BaseExpression, word: str, default: str) -> bool:
    """Whether a test holds for a name that has its default."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.Or):
        return any(_refuses(file, each, word, default) for each in (test.left, test.right))
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return file.text(test.expression) == word and default in ("None", "0", "False", "''", '""')
    if not isinstance(test, cst.Comparison) or file.text(test.left) != word:
        return False
    operator, other = test.comparisons[0].operator, test.comparisons[0].comparator
    return isinstance(operator, (cst.Is, cst.Equal)) and file.text(other) == default


def _is_default(parameter: cst.Param, code: str) -> bool:
    default = parameter.default
    if not isinstance(default, (*LITERALS, cst.Name)):
        return False
    same = isinstance(default, LITERALS) and default.evaluated_value == ast.literal_eval(code)
    return same or default.value == code


def _around(file: File, flagged: Node) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """The conditions around a place, up to its function, and whether each has to hold."""
    inner = flagged
    for above in file.tree.ancestors(flagged):
        if isinstance(above, FUNCTIONS):
            return
        if isinstance(above, (cst.If, cst.IfExp)):
            if inner is above.body:
                yield above.test, True
            elif inner is above.orelse:
                yield above.test, False
        inner = above


def _asked(test: cst.BaseExpression, word: str, holds: bool) -> str | None:
    """Code for a name by which a test holds, or does not."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _asked(test.expression, word, not holds)
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And if holds else cst.Or):
        return _asked(test.left, word, holds) or _asked(test.right, word, holds)
    if isinstance(test, cst.Name):
        return str(holds) if test.value == word else None
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    name, operator, other = test.left, test.comparisons[0].operator, test.comparisons[0].comparator
    if not isinstance(name, cst.Name) or name.value != word:
        return None
    if isinstance(operator, (cst.In, cst.NotIn)) and isinstance(other, (cst.Tuple, cst.List)) and other.elements:
        other = other.elements[0].value
    equal = isinstance(operator, (cst.Equal, cst.In))
    unequal = isinstance(operator, (cst.NotEqual, cst.NotIn))
    wanted = equal if holds else unequal
    return other.value if wanted and isinstance(other, LITERALS) else None
