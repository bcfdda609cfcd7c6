"""Which expressions are an element of a pipeline, and which only its label, a number or a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Array, Const, Dataset, Mapping, Sequence, Value
from tfmemlint.syntax.literals import whole_number
from tfmemlint.syntax.scopes import dotted

if TYPE_CHECKING:
    from tfmemlint.syntax.tree import Node

SAME = frozenset({"numpy", "copy", "astype", "reshape", "squeeze", "flatten", "ravel"})
COPIES = frozenset({"array", "asarray", "cast", "convert_to_tensor", "squeeze", "expand_dims", "identity"})
"""Methods and functions that give all of an element again."""


def is_number(leaf: Array, ds: Dataset) -> bool:
    """Whether one example's part is certainly a single number, batched or not."""
    groups = sum(step.name in ("batch", "padded_batch", "window") for step in ds.steps)
    return leaf.shape is not None and len(leaf.shape) <= groups


def is_name(node: Node, name: str) -> bool:
    """Whether an expression is this name."""
    return isinstance(node, cst.Name) and node.value == name


def is_label(node: Node, element: Value) -> bool:
    """Whether an expression is a part of an element that is small by its place, as the second of a pair, or that stands
    under a key: only where the element tells that an array stands there is it taken for large."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value if node.func.attr.value in ("numpy", "item") else node
    if not isinstance(node, cst.Subscript) or len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return False
    key = node.slice[0].slice.value
    if isinstance(key, cst.SimpleString):
        part = element.item_at(Const(key.evaluated_value)) if isinstance(element, Mapping) else None
        return not isinstance(part, Array) or not part.shape or part.dtype == "string"
    return isinstance(key, cst.Name) or (isinstance(key, cst.Integer) and whole_number(key) != 0)


def is_element(
    node: cst.BaseExpression, target: cst.BaseAssignTargetExpression, ds: Dataset, *, counted: bool = False
) -> bool:
    """Whether a value is an element that `target` was bound to, or the part of one that is not its label, copied, cast
    or scaled perhaps; `counted` where the target starts with a number (`enumerate`). False where that is not seen."""
    if counted and isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) == 2:
        inner = target.elements[1].value
        if not isinstance(inner, (cst.Name, cst.Tuple, cst.List)):
            return False
        target = inner
    node = unwrapped(node)
    if isinstance(node, (cst.Tuple, cst.List)):
        return any(_keeps(unwrapped(element.value), target, ds) for element in node.elements)
    return _keeps(node, target, ds)


def unwrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression without what copies, scales or casts an element but leaves it as large."""
    while True:
        if isinstance(node, cst.BinaryOperation) and isinstance(node.right, (cst.Integer, cst.Float)):
            node = node.left
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in SAME:
            node = node.func.value
        elif isinstance(node, cst.Subscript) and all(_whole(element.slice) for element in node.slice):
            node = node.value
        elif isinstance(node, cst.Call) and node.args and (dotted(node.func) or "").rpartition(".")[2] in COPIES:
            node = node.args[0].value
        else:
            return node


def _whole(part: cst.BaseSlice) -> bool:
    """Whether a part of an index takes everything: `:`, `...`, `None`."""
    if isinstance(part, cst.Slice):
        return part.lower is None and part.upper is None and part.step is None
    if not isinstance(part, cst.Index):
        return False
    return isinstance(part.value, cst.Ellipsis) or (dotted(part.value) or "").rpartition(".")[2] in ("None", "newaxis")


def _keeps(node: cst.BaseExpression, target: cst.BaseAssignTargetExpression, ds: Dataset) -> bool:
    if isinstance(node, cst.Subscript):
        index = node.slice[0].slice
        item = isinstance(index, cst.Index) and isinstance(index.value, (cst.SimpleString, cst.Integer))
        whole = item and isinstance(node.value, cst.Name) and is_name(target, node.value.value)
        return whole and not is_label(node, ds.element)
    if not isinstance(node, cst.Name):
        return False
    if isinstance(target, (cst.Tuple, cst.List)):
        return is_name(target.elements[0].value, node.value) and not _first_small(ds)
    return is_name(target, node.value)


def _first_small(ds: Dataset) -> bool:
    """Whether the first part of an element is small: a single number, or the key of a dictionary."""
    if isinstance(ds.element, Mapping):
        return True
    part = ds.element.items[0] if isinstance(ds.element, Sequence) and ds.element.items else None
    return isinstance(part, Const) or (isinstance(part, Array) and is_number(part, ds))
