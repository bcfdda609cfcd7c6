"""How many rows a batch has, by how it is made and by what is read of the result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Array, Const, Function, Sequence, integer
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.repetition.counts import in_slice
from tfmemlint.syntax.scopes import Binds, Definition, Reaching

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

EXPANDS = frozenset({"np.expand_dims", "tf.expand_dims", "tf.keras.ops.expand_dims"})
LISTS = frozenset({
    "np.array", "np.asarray", "np.stack", "np.vstack", "tf.stack", "tf.constant", "tf.convert_to_tensor",
})  # fmt: skip
KEEPS_ROWS = frozenset({"astype", "copy"})
"""Methods of arrays that give as many rows."""

OF_ONE = frozenset({"np.argmax", "np.argmin", "builtins.float", "builtins.int"})
"""What is asked of a whole result, without an axis, where it is a single row."""


def rows_in(file: File, batch: cst.BaseExpression, *, callers: int = 0, into: int = 1) -> int | None:
    """The most rows that a batch can have, where its shape or the way it is made says it: `x[None]`, `x[i : i + 8]`,
    `np.expand_dims(x, 0)`, `np.array([x])`, `x.reshape(1, -1)`. None where it is not known.

    With `callers` a parameter is what all calls of its function pass, so many calls out. A function of the project
    gives what all of its `return` statements do, `into` calls deep.
    """
    value = file.value(batch)
    if all(isinstance(option, Array) and option.shape and option.shape[0] for option in value.options):
        return _most(option.shape[0] for option in value.options if isinstance(option, Array) and option.shape)
    if isinstance(batch, cst.Name):
        found = file.definitions(batch)
        return _most(_rows_of(file, d, callers, into) for d in found) if found else None
    if isinstance(batch, (cst.List, cst.Tuple)):  # the inputs of a model that has several
        inputs = [each.value for each in batch.elements]
        return _most(rows_in(file, each) if isinstance(file.value(each), Array) else None for each in inputs)
    if isinstance(batch, cst.Subscript):
        return _taken(file, batch.slice[0].slice)
    if not isinstance(batch, cst.Call):
        return None
    call = file.call(batch)
    if into and isinstance(call.target, Function) and isinstance(call.target.node, cst.FunctionDef):
        given_back = [each.value for each in file.returns(call.target.node)]
        return _most(rows_in(file, each, into=into - 1) if each is not None else None for each in given_back)
    return _made(file, call)


def _most(counts: Iterable[int | None]) -> int | None:
    found = list(counts)
    known = [count for count in found if count is not None]
    return max(known) if known and len(known) == len(found) else None


def _rows_of(file: File, d: Reaching, callers: int, into: int) -> int | None:
    if not d.path and isinstance(d.value, (cst.Call, cst.Subscript)) and d.binds is Binds.VALUE:
        return rows_in(file, d.value, into=into)
    if d.binds is not Binds.PARAMETER or not isinstance(d, Definition) or callers == 0:
        return None
    passed = [call.arg(d.name) for call in file.call_graph.callers(d.scope) or ()]
    return _most(rows_in(file, a.expression, callers=callers - 1) if a is not None else None for a in passed)


def _taken(file: File, first: cst.BaseSlice) -> int | None:
    """`x[None]`, `x[i:i + 8]`, `x[:8]`."""
    if isinstance(first, cst.Index):
        return 1 if file.value(first.value) == Const(None) else None
    return (in_slice(file, first) or None) if isinstance(first, cst.Slice) else None


def _made(file: File, call: Call) -> int | None:
    given = call.node.args[0].value if call.node.args else None
    if call.name in EXPANDS:
        axis = call.value_of("axis") if call.arg("axis") is not None else call.value_of(1)
        return 1 if axis == Const(0) else None
    if call.name in LISTS:
        plain = isinstance(given, (cst.List, cst.Tuple)) and not any(
            isinstance(each, cst.StarredElement) for each in given.elements
        )
        return len(given.elements) if plain and isinstance(given, (cst.List, cst.Tuple)) else None
    if call.method == "reshape" and given is not None:
        shape = call.value_of(1) if call.receiver_node is None or call.name == "np.reshape" else call.value_of(0)
        rows = integer(shape.items[0] if isinstance(shape, Sequence) and shape.items else shape)
        return rows if rows is not None and rows > 0 else None
    kept = call.method in KEEPS_ROWS and call.receiver_node is not None
    return rows_in(file, call.receiver_node) if kept and call.receiver_node is not None else None


def read_as_one_row(file: File, results: Node, *, outputs: bool = False) -> bool:
    """Whether only one row is read of what a batch gave: `results[0]`, `results[0, 0]`, `np.argmax(results)`.

    `outputs` says that the results may be a list with one for each output of a model: `results[0]` is one then.
    """
    found = [_reads_row(file, use, outputs) for use in uses(file, results)]
    return True in found and False not in found


def _reads_row(file: File, use: Use, outputs: bool) -> bool | None:
    """True where only one row is read, False where others are or it is not certain, None where nothing is said."""
    if use.does is Does.ITERATE:
        return False
    if use.does is Does.ITEM:
        return _is_first(file, use.place, outputs)
    of_one = use.call is not None and len(use.call.node.args) == (1 if use.does is Does.PASS else 0)
    if of_one and use.call is not None and (use.call.name in OF_ONE or use.word in ("argmax", "item")):
        return True
    return None


def _is_first(file: File, place: Node | None, outputs: bool) -> bool:
    if not isinstance(place, cst.Subscript):
        return False
    index = place.slice[0].slice
    if not isinstance(index, cst.Index) or file.value(index.value) != Const(0):
        return False
    return not outputs or len(place.slice) > 1 or read_as_one_row(file, place)
