"""Tables whose columns the code calls by their names, which people do with a few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Array, Const, Sequence, Table, Value, constant

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

PICKS = ("pandas.DataFrame.drop", "pandas.DataFrame.pop")
SCALERS = "sklearn.preprocessing."


def has_named_columns(file: File, array: Array) -> bool:
    """Whether an array is what a scaler of scikit-learn gives for a table read from a file, or the numbers of the table
    divided by others of its own, as by the deviation of each column, where the code names columns to choose them or to
    leave them out, or says how all of them are called. Such columns are measured quantities, a few dozen.

    False for what is stacked of parts of it, as the windows of a long series, for pixels, which are divided by a number
    and not scaled by column, and where no column has a name in the code.
    """
    origin = array.origin
    made = origin.value if origin is not None else None
    if origin is not None and isinstance(made, Table):
        return origin.node in _named_tables(file) and _is_standardized(file, origin)
    if origin is None or not isinstance(made, Array) or not (origin.name or "").startswith(SCALERS):
        return False
    if array.shape[1:] != made.shape[1:] if array.shape and made.shape else array.shape != made.shape:
        return False
    given = origin.value_of(0) if origin.arg(0) is not None else origin.value_of("X")
    reads = [_read_by(option) for option in given.options]
    named = _named_tables(file)
    return bool(reads) and all(read is not None and read.node in named for read in reads)


def _read_by(value: Value) -> Call | None:
    """The call that reads the table that a value is, or whose numbers it is."""
    return value.call if isinstance(value, Table) else value.origin if isinstance(value, Array) else None


def _is_standardized(file: File, read: Call) -> bool:
    """Whether the numbers of a table are divided, and by nothing that is one number for all of them."""
    divisors: list[Value] = []
    for node in file.tree.of(cst.BinaryOperation):
        if isinstance(node.operator, cst.Divide):
            divided = file.value(node.left).options
            if any(_comes_from(option, read) for option in divided):
                divisors.append(file.value(node.right))
    return bool(divisors) and not any(isinstance(constant(value), (int, float)) for value in divisors)


def _comes_from(value: Value, read: Call) -> bool:
    made = _read_by(value)
    return made is not None and made.node is read.node


@once_per_file
def _named_tables(file: File) -> set[Node]:
    """The calls that read tables of which the code names a column."""
    reads = file.calls(*knowledge.group("reads_data"))
    found: set[Node] = {call.node for call in reads if _names_columns(call.given("names"))}
    for node in file.tree.of(cst.Subscript):
        picked = [each.slice.value for each in node.slice if isinstance(each.slice, cst.Index)]
        if len(picked) == len(node.slice) == 1 and _names_columns(file.value(picked[0])):
            found |= {option.call.node for option in file.value(node.value).options if isinstance(option, Table)}
    for call in file.calls(*PICKS):
        if any(_names_columns(call.value_of(given)) for given in (0, "columns", "labels", "item")):
            found |= {option.call.node for option in call.receiver.options if isinstance(option, Table)}
    return found


def _names_columns(given: Value) -> bool:
    """Whether a value is the name of a column, or a list of names."""
    names = given.items if isinstance(given, Sequence) else (given,)
    return bool(names) and all(isinstance(name, Const) and isinstance(name.value, str) for name in names)
