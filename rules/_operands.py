"""What a tensor meets in the element-wise ops that use it."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._axes import KEEPS_SHAPE

from tfmemlint.api import Api, Array, Const, File, Length, Node, Value

BINARY = frozenset(
    f"tf.{prefix}{name}" for prefix in ("", "math.", "keras.ops.")
    for name in (
        "add", "subtract", "multiply", "divide", "truediv", "true_divide", "maximum", "minimum", "pow", "power",
        "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "squared_difference", "floordiv",
        "divide_no_nan", "logical_and", "logical_or", "logical_xor", "mod",
    )
)  # fmt: skip
CHOOSES = frozenset({"tf.where", "tf.keras.ops.where"})
OPERATORS = (
    cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power, cst.BitAnd, cst.BitOr, cst.FloorDivide, cst.Modulo,
)  # fmt: skip
COMPARES = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual, cst.Equal, cst.NotEqual)


def operands(node: Node, file: File, depth: int = 6) -> list[cst.BaseExpression]:
    """The other tensors of each element-wise op that a tensor goes into, with numbers and ops of one tensor on the way;
    empty if it goes anywhere else too."""
    parent = file.tree.parent(node)
    if depth == 0:
        return []
    if isinstance(parent, cst.Assign) and len(parent.targets) == 1:
        target = parent.targets[0].target
        if not isinstance(target, cst.Name):
            return []
        made = file.definition(target)
        uses = file.uses_of(made) if made is not None else []
        found = [operands(use, file, depth - 1) for use in uses]
        return [other for others in found for other in others] if uses and all(found) else []
    if isinstance(parent, cst.UnaryOperation):
        return operands(parent, file, depth - 1)
    others = _others(node, parent, file)
    if others is None:
        return []
    tensors = [other for other in others if not _scalar(file.value(other))]
    whole = _whole(parent, file)
    return tensors or (operands(whole, file, depth - 1) if whole is not None else [])


def _others(node: Node, parent: Node | None, file: File) -> list[cst.BaseExpression] | None:
    """The other operands of the element-wise op that the node is an operand of; None where it is no such op."""
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, OPERATORS):
        return [parent.right if parent.left is node else parent.left]
    if isinstance(parent, cst.AugAssign) and parent.value is node:
        return [parent.target] if isinstance(parent.target, cst.Name) else None
    if isinstance(parent, cst.ComparisonTarget) and isinstance(parent.operator, COMPARES):
        above = file.tree.parent(parent)
        return [above.left] if isinstance(above, cst.Comparison) and len(above.comparisons) == 1 else None
    if isinstance(parent, cst.Comparison) and parent.left is node and len(parent.comparisons) == 1:
        return [parent.comparisons[0].comparator] if isinstance(parent.comparisons[0].operator, COMPARES) else None
    call = file.tree.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call) or not call.args:
        return None
    name = file.call(call).name
    if name in CHOOSES and _first_version(call, file):
        return None
    if name in KEEPS_SHAPE and call.args[0] is parent:
        return []
    given = call.args[:2] if name in BINARY else call.args[:3] if name in CHOOSES else ()
    if len(given) < (2 if name in BINARY else 3) or parent not in given:
        return None
    return [arg.value for arg in given if arg is not parent]


def _first_version(call: cst.Call, file: File) -> bool:
    """Whether this is TensorFlow 1's `where`, which does not broadcast."""
    return isinstance(call.func, cst.Attribute) and file.value(call.func.value) == Api("tf.compat.v1")


def _whole(parent: Node | None, file: File) -> Node | None:
    """The op's own expression, to go on from."""
    if isinstance(parent, (cst.Arg, cst.ComparisonTarget)):
        return file.tree.parent(parent)
    return None if isinstance(parent, cst.AugAssign) else parent


def _scalar(value: Value) -> bool:
    return isinstance(value, (Const, Length)) or (isinstance(value, Array) and value.shape == ())
