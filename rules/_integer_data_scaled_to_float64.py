"""Places where NumPy makes float64 of whole integer arrays by scaling them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from tfmemlint.api import (
    ITEM_BYTES,
    Array,
    Call,
    Const,
    Does,
    Fact,
    File,
    Function,
    Length,
    Method,
    Node,
    constant,
    elements,
    knowledge,
    tensors,
    uses,
)

NORMALIZE = "tf.keras.utils.normalize"
WIDENED = frozenset({"uint8", "int8", "uint16", "int16", "int32", "uint32"})
"""Dtypes of whole numbers that float64 makes larger."""

SCALES = frozenset({NORMALIZE, *knowledge.group("scales_floats")})
"""What makes floats of its first argument, a number of its own for each column or row."""

DIVIDES = frozenset({"np.divide", "np.true_divide", *SCALES})


@dataclass(frozen=True, slots=True)
class Scaling:
    """An operation that turns integer data into float64.

    `operand` is the data's expression, `number` the one that a float32 number can stand for (None for a function),
    `scale` the number where it is known; `divides` is False where it multiplies.
    """

    node: cst.BaseExpression
    operand: cst.BaseExpression
    call: Call | None
    data: Array
    number: cst.BaseExpression | None
    divides: bool
    scale: float | None


def _scalings(file: File) -> Iterator[Scaling]:
    """All of them that concern whole arrays which may reach TensorFlow."""
    for node in file.tree.of(cst.BinaryOperation):
        if isinstance(node.operator, (cst.Divide, cst.Multiply)):
            yield from _of_operator(file, node, isinstance(node.operator, cst.Divide))
    for call in file.calls("np.multiply", *DIVIDES):
        divides = call.name in DIVIDES
        given = call.arg(0) or call.arg("X")
        data = _whole(file, given.expression, call.node) if given is not None else None
        scale = 1.0 if call.name in SCALES else constant(call.value_of(1))
        if data is None or call.arg("dtype") is not None or call.arg("out") is not None:
            continue
        if isinstance(scale, float) or (isinstance(scale, int) and divides):
            yield Scaling(call.node, call.node.args[0].value, call, data, None, divides, float(scale))


def _by_statement(file: File) -> Iterator[list[Scaling]]:
    """Those of one statement together: they are changed together."""
    found: dict[tuple[Node, str | None], list[Scaling]] = {}
    for each in sorted(_scalings(file), key=lambda each: file.tree.order(each.node)):
        found.setdefault((file.tree.statement(each.node), each.data.dtype), []).append(each)
    yield from found.values()


scalings = Fact(
    _by_statement,
    *("numpy", "sklearn", "as_numpy", "as_numpy_iterator", "load_data", "imread", "pad_sequences", "PIL", "load_img"),
)
"""The operations that make float64 of integer arrays which are kept as a whole, those of one statement and dtype
together, in the order of the code."""


def _of_operator(file: File, node: cst.BinaryOperation, divides: bool) -> Iterator[Scaling]:
    either = ((node.left, node.right), (node.right, node.left))
    for operand, number in either[: 1 if divides else 2]:
        scale = _number(file, number)
        if scale is None or not (divides or isinstance(scale, float)):
            continue
        data, known = operand, float(scale) if isinstance(scale, (int, float)) else None
        if isinstance(operand, cst.BinaryOperation) and isinstance(operand.operator, cst.Subtract):
            if isinstance(constant(file.value(operand.right)), float):
                data, number = operand.left, operand.right  # (x - 127.5) / 127.5 is float64 from the shift on
        whole = _whole(file, data, node)
        if whole is not None:
            yield Scaling(node, data, None, whole, number, divides, known)
            return


def _number(file: File, node: cst.BaseExpression) -> object:
    """A Python number; Ellipsis for the largest value of integer data (`x.max()`), a whole number too; else None."""
    value = file.value(node)
    found = constant(value)
    if isinstance(value, (Const, Length)) and isinstance(found, (int, float)) and not isinstance(found, bool):
        return found
    if isinstance(value, Array) and value.shape == () and value.library == "np" and value.dtype in WIDENED:
        return Ellipsis
    return None


def _whole(file: File, operand: cst.BaseExpression, node: cst.BaseExpression) -> Array | None:
    """The integer array that is kept as a whole, or None: tensors, single items, one picture of unknown size, what is
    only shown or cast back."""
    value = file.value(operand)
    options = [option for option in value.options if isinstance(option, Array)]
    whole = [o for o in options if o.library == "np" and o.dtype in WIDENED and o.origin is not None]
    origins = {each.origin for each in whole}
    if not whole or len(options) < len(value.options) or any(option.origin not in origins for option in options):
        return None
    data = max(whole, key=lambda o: o.size or 0)
    name = (data.origin.name if data.origin is not None else None) or ""
    if data.shape is None and name.removeprefix("np.") in WIDENED:
        return None  # np.int32(x) may well be one number
    picture = tensors.one_picture(file, operand) if data.size is None else None
    if picture is not None:
        if picture.sides is None or picture.channels is None:
            return None
        data = replace(data, shape=(*picture.sides, picture.channels))
    elif any(tensors.is_picture_elsewhere(file, each) for each in whole):
        return None  # a caller gives one at a time
    if file.contexts.traced(node) or tensors.only_shown(file, node):
        return None
    rows = tensors.rows_collected(file, node, data)
    if rows is not None:
        return rows
    if tensors.is_small_picture(data) or tensors.is_sample(data) or tensors.is_short_column(data):
        return None
    if _is_for_others(file, node) or _goes_at_once(file, node, data):
        return None
    if data.size is not None and name.endswith(".load_data"):
        return data
    passing = file.contexts.per_item(node) and (data.size or 0) * ITEM_BYTES["float64"] < file.config.min_bytes
    return None if passing else data


def _goes_at_once(file: File, node: cst.BaseExpression, data: Array) -> bool:
    """Whether the same expression makes float32 of the float64 array of a data set's smaller part, such as its tests:
    what stays is float32, and training needs more beside it than was taken for a moment."""
    made = data.origin.value if data.origin is not None else None
    parts = [each for each in elements(made) if isinstance(each, Array)] if made is not None else []
    if data.size is None or data.size >= max((each.size or 0 for each in parts), default=0):
        return False
    above = file.tree.parent(node)
    call = file.tree.parent(above) if isinstance(above, (cst.Attribute, cst.Arg)) else None
    cast = file.value(call) if isinstance(call, cst.Call) else None
    return isinstance(cast, Array) and cast.dtype == "float32"


def _is_for_others(file: File, node: cst.BaseExpression) -> bool:
    """Whether a program has nothing of TensorFlow but a data set, and gives it to other code, as of NumPy and SciPy,
    which computes in float64 anyway. Not where other code may take what is only made here."""
    names = {name for call in map(file.call, file.tree.of(cst.Call)) for name in call.names}
    if any(name.startswith("tf.") and not name.endswith(".load_data") for name in names):
        return False
    found = list(uses(file, node, parts=True))
    if any(use.does in (Does.RETURN, Does.STORE) for use in found):
        return False
    given = (use.call for use in found if use.does is Does.PASS)
    return any(call is not None and isinstance(call.target, (Function, Method)) for call in given)


def is_float32(number: float) -> bool:
    """Whether float32 holds the number exactly."""
    try:
        return bool(struct.unpack("f", struct.pack("f", number))[0] == number)
    except OverflowError:
        return False
