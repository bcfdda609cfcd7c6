"""Graphs of TensorFlow 1: which expressions add a node to the default graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array, Iterator
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

CLASSES = frozenset({"Variable", "Saver"})
"""Classes whose constructors add nodes; those of others make plain objects."""

OF_ITERATORS = frozenset({"get_next", "make_one_shot_iterator", "make_initializable_iterator"})
OPERATORS = (
    cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power, cst.MatrixMultiply, cst.FloorDivide, cst.Modulo,
)  # fmt: skip


def makes_op(file: File, node: Node) -> bool:
    """Whether an expression certainly adds a node to the default graph, in a program that builds one: an operator of
    tensors, or a call of TensorFlow that is not known to add none. False where it is not known what is called."""
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, OPERATORS) and (_is_tensor(file, node.left) or _is_tensor(file, node.right))
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, cst.Minus) and _is_tensor(file, node.expression)
    return isinstance(node, cst.Call) and _call_makes_op(file.call(node))


def is_outermost_op(file: File, node: Node) -> bool:
    """Whether no op around an op takes it as an argument, as in `reduce_mean(cast(equal(a, b)))`."""
    above = file.tree.parent(node)
    while isinstance(above, (cst.Arg, cst.Element, cst.List, cst.Tuple)):
        above = file.tree.parent(above)
    return above is None or not makes_op(file, above)


def _is_tensor(file: File, side: cst.BaseExpression) -> bool:
    value = file.value(side)
    return isinstance(value, Array) and value.library == "tf"


def _call_makes_op(call: Call) -> bool:
    name = call.name
    if call.method in OF_ITERATORS and (name is None or name.startswith("tf.")):
        return isinstance(call.receiver, Iterator) or (call.method != "get_next" and name is not None)
    if name is None or not name.startswith("tf."):
        return False
    owner, _, last = name.rpartition(".")
    if owner.rpartition(".")[2][:1].isupper():
        return knowledge.in_group(last, "adds_op") and not knowledge.in_group(name, "adds_no_op")
    return not knowledge.in_group(name, "adds_no_op") and (not last[:1].isupper() or last in CLASSES)
