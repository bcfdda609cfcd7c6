"""Pipelines whose beginning is not seen: what is done with an unknown value says what it must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model import knowledge
from tfmemlint.model.values import BOTTOM, Api, Array, Dataset, Method, Value

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.evaluate import Evaluator


def _names_autotune(call: Call) -> bool:
    autotune = Api("tf.data.AUTOTUNE")
    return any(call.evaluator.value(arg.value, call.frame) == autotune for arg in call.node.args)


def dataset_method_by_use(call: Call, otherwise: Value) -> Value:
    """A method of an unknown object that is given `tf.data.AUTOTUNE` is a tf.data method."""
    name = call.method
    if name == "astype" and call.node.args and otherwise is not BOTTOM:
        return Method(Array("np"), "np.ndarray.astype")  # of NumPy or pandas: TensorFlow's own have no such method
    owner = knowledge.method_owner("tf.data.Dataset", name) if name is not None else None
    if owner is not None and call.node.args and otherwise is not BOTTOM and _names_autotune(call):
        return Method(Dataset(None), owner)
    return otherwise


def used_as_dataset(evaluator: Evaluator, use: cst.Name) -> bool:
    """Whether a chain of calls that starts at this name contains one that is given `tf.data.AUTOTUNE`."""
    tree = evaluator.tree
    node: cst.CSTNode = use
    while True:
        attribute_node = tree.parent(node)
        if not isinstance(attribute_node, cst.Attribute) or attribute_node.value is not node:
            return False
        called = tree.parent(attribute_node)
        if not isinstance(called, cst.Call) or called.func is not attribute_node:
            return False
        if knowledge.method_owner("tf.data.Dataset", attribute_node.attr.value) is None:
            return False
        if any(_is_autotune(evaluator, arg.value) for arg in called.args):
            return True
        node = called


def _is_autotune(evaluator: Evaluator, node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Attribute, cst.Name)) and evaluator.value(node) == Api("tf.data.AUTOTUNE")
