"""Windows of series: parts of a table, one behind the other, that a list collects and an array stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.scopes import written

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.query.tensors.arrays import Entering

STACKS = frozenset({"np.array", "np.asarray", "np.stack"})
SCALERS = "sklearn.preprocessing."


def is_of_series(file: File, entering: Entering) -> bool:
    """Whether an array of unknown size that enters TensorFlow is certainly stacked of parts of a table that is read
    from a file, as it is or scaled by scikit-learn: prices, weather, passengers, of which there are mostly a few
    thousand rows. False where it is the table itself, in another shape."""
    array, origin = entering.array, entering.array.origin
    made = origin.value if origin is not None else None
    if origin is None or (isinstance(made, Array) and made.bytes is not None):
        return False
    if not (origin.name or "").startswith(SCALERS) and not knowledge.in_group(origin.name, "reads_data"):
        return False
    given = (arg.value for arg in entering.taker.node.args)
    return any(_is_stacked(file, node, FOLLOWED_CALLS) for node in given if _gives(file, node, array))


def _gives(file: File, node: cst.BaseExpression, array: Array) -> bool:
    return any(option == array for option in file.value(node).options)


def _is_stacked(file: File, node: cst.BaseExpression, left: int) -> bool:
    """Whether an expression is an array of a list, in whatever shape."""
    if isinstance(node, cst.Name):
        found = written(file.definitions(node)) if left else []
        values = [_at(made.value, made.path) for made in found]
        return bool(values) and all(value is not None and _is_stacked(file, value, left - 1) for value in values)
    if not isinstance(node, cst.Call):
        return False
    call = file.call(node)
    if call.name in STACKS:
        given = call.arg(0)
        return given is not None and not isinstance(given.value, Array)
    if not knowledge.in_group(call.name, "keeps_array"):
        return False
    if isinstance(node.func, cst.Attribute) and (call.name or "").startswith("np.ndarray."):
        return _is_stacked(file, node.func.value, left)
    return bool(node.args) and _is_stacked(file, node.args[0].value, left)


def _at(value: cst.CSTNode | None, path: tuple[int | slice, ...]) -> cst.BaseExpression | None:
    """The part of a display that a name is bound to."""
    for index in path:
        if not isinstance(value, (cst.Tuple, cst.List)) or isinstance(index, slice) or index >= len(value.elements):
            return None
        value = value.elements[index].value
    return value if isinstance(value, cst.BaseExpression) else None
