"""Where an array goes with all its rows: to Keras or tf.data, and as which floats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.transfer.table import dtype_of
from tfmemlint.model.values import Array
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

SPLITS = ("sklearn.model_selection.train_test_split", "sklearn.utils.shuffle")
"""What gives the rows of several arrays in parts."""

KEEPS = frozenset({
    "np.reshape", "np.expand_dims", "np.squeeze", "np.array", "np.asarray", "np.moveaxis", "np.transpose", "tf.cast",
    "np.float32", "np.float64", "np.concatenate", "np.vstack", "np.append", "np.rollaxis", "tf.convert_to_tensor",
    "np.divide", *SPLITS,
})  # fmt: skip
"""What gives all rows of an array again, in parts, in another order, shape or dtype."""

METHODS = frozenset({"astype", "reshape", "copy", "transpose", "squeeze"})
"""Methods, by their words, that give all rows of an array again."""

TRAINS = frozenset({"epochs", "batch_size", "validation_data", "validation_split", "callbacks", "steps_per_epoch"})
"""Keywords by which `fit` of whatever object is that of a Keras model."""


def taken_whole(file: File, array: Call) -> tuple[Call, str | None] | None:
    """The call of Keras or tf.data that is given all rows of an array, and the floats that are made of it before."""
    value = array.value
    own = value.dtype if isinstance(value, Array) and "float" in (value.dtype or "") else None
    asked = array.arg("dtype")
    own = own or (dtype_of(asked.value, "float64") if asked is not None else None)
    waiting: list[tuple[Node, str | None]] = [(array.node, own if own and "float" in own else None)]
    seen: set[Node] = set()
    found: tuple[Call, str | None] | None = None
    while waiting:
        node, floats = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        for use in _uses(file, node):
            if use.call is not None and _takes_all(use):
                if floats is not None or _is_flow(use.call):
                    return use.call, floats or "float32"
                found = found or (use.call, None)
            waiting += [(each, _floats_after(use, floats)) for each in _onward(file, use)]
    return found


def _uses(file: File, node: Node) -> Iterator[Use]:
    """The uses of an array as a whole, or of the parts into which it was split."""
    split = isinstance(node, cst.Call) and file.call(node).name in SPLITS
    return uses(
        file, node, parts=split, containers=True, attributes=True, through=FOLLOWED_CALLS, returned=True
    )  # fmt: skip


def _takes_all(use: Use) -> bool:
    """Whether a use gives all rows to Keras or tf.data."""
    call = use.call
    if call is None or use.does is not Does.PASS:
        return False
    taken = knowledge.group_parameters("takes_arrays").get(call.name or "", ())
    if any(use.argument is not None and call.receives(each, use.argument) for each in taken):
        return True
    keywords = {arg.keyword.value for arg in call.node.args if arg.keyword is not None}
    unseen = call.method == "fit" and not call.names and not keywords.isdisjoint(TRAINS)
    return unseen or _is_flow(call)


def _is_flow(call: Call) -> bool:
    """Whether a call makes batches of an array of which it keeps a float32 copy."""
    return (call.name or "").endswith("ImageDataGenerator.flow")


def _onward(file: File, use: Use) -> list[Node]:
    """The expressions that hold all rows after a use."""
    call, place = use.call, use.place
    if use.does is Does.COMPUTE and isinstance(place, cst.AugAssign) and isinstance(place.target, cst.Name):
        bound = file.flow(file.scope_of(place)).bindings.get(place.target.value, ())
        return [name for each in bound if each.value is place for name in file.readers(each)]
    computes = use.does is Does.COMPUTE and isinstance(place, cst.BinaryOperation)
    if place is not None and (computes or (use.does is Does.METHOD and use.word in METHODS)):
        return [place]
    if use.does is Does.ITEM and isinstance(place, cst.Subscript):  # `x[:n]`, `x[order]`
        rows = place.slice[0].slice
        order = isinstance(rows, cst.Index) and isinstance(file.value(rows.value), Array)
        return [place] if order or isinstance(rows, cst.Slice) else []
    kept = call is not None and use.does is Does.PASS and (call.name in KEEPS or _prepares(call))
    return [call.node] if call is not None and kept else []


def _prepares(call: Call) -> bool:
    return (call.name or "").startswith("tf.keras.applications.") and call.method == "preprocess_input"


def _floats_after(use: Use, before: str | None) -> str | None:
    """The floats that all rows are after a use, as far as it or one before shows it."""
    call, place = use.call, use.place
    if call is not None and (use.word == "astype" or call.name == "tf.cast"):
        dtype = dtype_of(call.given(0 if use.word == "astype" else 1, "dtype"), "float64")
        return dtype if dtype is not None and "float" in dtype else None
    told = call.arg("dtype") if call is not None and call.name in ("np.array", "np.asarray") else None
    if told is not None:
        dtype = dtype_of(told.value, "float64")
        return dtype if dtype is not None and "float" in dtype else None
    if call is not None and (call.name in ("np.float32", "np.float64", "np.divide") or _prepares(call)):
        return "float64" if call.name in ("np.float64", "np.divide") else before or "float32"
    if isinstance(place, (cst.BinaryOperation, cst.AugAssign)):
        divides = isinstance(place.operator, (cst.Divide, cst.DivideAssign))
        whole = isinstance(place, cst.BinaryOperation) and isinstance(place.right, cst.Integer)
        return before or ("float64" if divides or not whole else None)
    return before
