"""Places where NumPy makes float64 of whole integer arrays by scaling them, and where the result goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Api, Array, Call, Const, File, Length, Node, constant

OPERATORS = (cst.Divide, cst.Multiply)
FUNCTIONS = {
    "np.divide": "Divide", "np.true_divide": "Divide", "np.multiply": "Multiply", "tf.keras.utils.normalize": "Divide",
}  # fmt: skip
SHOWS = ("matplotlib.", "PIL.", "cv2.imshow", "cv2.imwrite", "builtins.print", "IPython.", "skimage.", "seaborn.")

INTEGERS = frozenset({"uint8", "int8", "uint16", "int16", "int32", "uint32"})
"""Dtypes that float64 makes larger."""

ONE_IMAGE = 64 * 1024
"""Float64 bytes below which a part of a bundled data set is one image or a few labels."""

ROUNDS = frozenset({"np.clip", "np.round", "np.around", "np.rint"})


@dataclass(frozen=True)
class Scaling:
    """An operation that turns integer data into float64.

    `operand` is the data's expression, `number` the one that a float32 number can stand for (None for a function),
    `operator` is libcst's name, `scale` the number where it is known.
    """

    node: cst.BaseExpression
    operand: cst.BaseExpression
    call: Call | None
    data: Array
    number: cst.BaseExpression | None
    operator: str
    scale: float | None


def scalings(file: File) -> Iterator[Scaling]:
    """All of them that concern whole arrays which may reach TensorFlow."""
    for node in file.tree.of(cst.BinaryOperation):
        if isinstance(node.operator, OPERATORS):
            found = _operation(node, file)
            if found is not None:
                yield found
    for call in file.calls(*FUNCTIONS):
        data = _whole(call.value_of(0), call.node, file)
        scale = constant(call.value_of(1)) if call.name != "tf.keras.utils.normalize" else 1.0
        operator = FUNCTIONS[call.name or ""]
        if data is None or call.arg("dtype") is not None or call.arg("out") is not None:
            continue
        if isinstance(scale, float) or (isinstance(scale, int) and operator == "Divide"):
            yield Scaling(call.node, call.node.args[0].value, call, data, None, operator, float(scale))


def _operation(node: cst.BinaryOperation, file: File) -> Scaling | None:
    multiplies = isinstance(node.operator, cst.Multiply)
    for left, right in ((node.left, node.right), (node.right, node.left)):
        if left is node.right and not multiplies:
            return None
        scale = _number(right, file)
        if scale is None or (multiplies and not isinstance(scale, float)):
            continue
        number, operand = right, left
        if isinstance(left, cst.BinaryOperation) and isinstance(left.operator, cst.Subtract):
            shift = constant(file.value(left.right))
            if isinstance(shift, float):
                number, operand = left.right, left.left  # (x - 127.5) / 127.5 is float64 from the shift on
        data = _whole(file.value(operand), node, file)
        if data is not None:
            known = float(scale) if scale is not Ellipsis and isinstance(scale, (int, float)) else None
            return Scaling(node, operand, None, data, number, type(node.operator).__name__, known)
    return None


def _number(node: cst.BaseExpression, file: File) -> object:
    """A Python number; Ellipsis for the largest value of integer data (`x.max()`), a whole number too; else None."""
    value = file.value(node)
    found = constant(value)
    if isinstance(value, (Const, Length)) and isinstance(found, (int, float)) and not isinstance(found, bool):
        return found
    if isinstance(value, Array) and value.shape == () and value.library == "np" and value.dtype in INTEGERS:
        return Ellipsis
    return None


def _whole(value: object, node: Node, file: File) -> Array | None:
    """The integer array that is kept as a whole, or None: tensors, single items, what is only shown or cast back."""
    options = [o for o in getattr(value, "options", ()) if isinstance(o, Array)]
    if not options or len(options) != len(getattr(value, "options", ())):
        return None
    whole = [o for o in options if o.library == "np" and o.dtype in INTEGERS and o.origin is not None]
    if not whole or any(o not in whole and o.origin not in {w.origin for w in whole} for o in options):
        return None
    data = max(whole, key=lambda o: o.size or 0)
    name = data.origin.name or "" if data.origin is not None else ""
    if data.shape is None and name.removeprefix("np.") in INTEGERS:
        return None  # np.int32(x) may well be one number
    if file.contexts.traced(node) or _shown(node, file):
        return None
    if data.size is not None and name.endswith(".load_data"):
        return data if data.size * 8 >= ONE_IMAGE else None
    return None if file.contexts.per_item(node) and data.size is None else data


def _shown(node: Node, file: File) -> bool:
    """Whether the result only goes to a plot or an image file, or is cast back to integers."""
    above = file.tree.parent(node)
    while isinstance(above, cst.BinaryOperation) or _rounded(above, file) is not None:
        node = above if isinstance(above, cst.BinaryOperation) else _rounded(above, file) or node
        above = file.tree.parent(node)
    if _leaves(node, file):
        return True
    if isinstance(above, cst.Assign) and isinstance(above.targets[0].target, cst.Name) and len(above.targets) == 1:
        name = above.targets[0].target
        made = file.definition(name)
        uses = file.uses_of(made) if made is not None else []
        return bool(uses) and all(_leaves(use, file) for use in uses)
    return False


def _rounded(above: Node | None, file: File) -> cst.Call | None:
    """The call that rounds what stands in this argument, or None."""
    call = file.tree.parent(above) if isinstance(above, cst.Arg) else None
    return call if isinstance(call, cst.Call) and file.call(call).name in ROUNDS else None


def _leaves(node: Node, file: File) -> bool:
    """Whether an expression is an argument of what shows images, or is made an array of integers at once."""
    above = file.tree.parent(node)
    if isinstance(above, cst.Attribute):
        call = file.tree.parent(above)
        if above.attr.value != "astype" or not isinstance(call, cst.Call):
            return False
        dtype = file.call(call).value_of("dtype")
        return "int" in (dtype.name if isinstance(dtype, Api) else str(getattr(dtype, "value", "")))
    call = file.tree.parent(above) if isinstance(above, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return False
    name = file.call(call).name or ""
    if name in ROUNDS:
        return _leaves(call, file)
    return name.startswith(SHOWS) or (name.startswith("np.") and "int" in name)
