"""Mapped functions that only compute on each number of an element: as good on a batch, and cheaper than a copy."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Function, Step, walk
from tfmemlint.model.mapped import body, function_of

ARITHMETIC = frozenset({
    "tf.cast", "tf.saturate_cast", "tf.image.convert_image_dtype", "tf.one_hot", "tf.clip_by_value", "tf.identity",
    "tf.abs", "tf.add", "tf.subtract", "tf.multiply", "tf.divide", "tf.square", "tf.sqrt", "tf.exp", "tf.negative",
    "tf.pow", "tf.round", "tf.sign", "tf.tanh", "tf.sigmoid", "tf.where", "tf.equal", "tf.greater", "tf.less",
    "tf.maximum", "tf.minimum", "tf.zeros_like", "tf.ones_like", "tf.stop_gradient",
})  # fmt: skip

PYTHON = frozenset({"builtins.dict", "builtins.tuple", "builtins.list", "builtins.float", "builtins.int"})

RESHAPES = frozenset(
    {"tf.expand_dims", "tf.squeeze", "tf.reshape", "tf.transpose", "tf.ensure_shape", "tf.concat", "tf.stack"}
)


def _arithmetic(name: str) -> bool:
    return name in ARITHMETIC | PYTHON or (
        name.startswith("tf.math.") and not name.startswith(("tf.math.reduce", "tf.math.unsorted"))
    )


def cheap(step: Step) -> bool:
    """Whether a mapped function does nothing but arithmetic and reshaping, none of it at random."""
    found = body(step)
    return not found.unseen and not found.random and all(_arithmetic(name) or name in RESHAPES for name in found.names)


def elementwise(step: Step) -> bool:
    """Whether a mapped function gives on a batch what it gives on each example: arithmetic on whole values only."""
    value = function_of(step)
    found = body(step)
    if value is None or found.unseen or found.random or not all(_arithmetic(name) for name in found.names):
        return False
    work = bool(found.names - PYTHON)
    for option in value.options:
        if not isinstance(option, Function):
            return False
        for node in walk(option.node.body):
            if isinstance(node, (cst.For, cst.While, cst.If, cst.IfExp, cst.Comparison)) or _indexes(node):
                return False
            work = work or isinstance(node, cst.BinaryOperation)
    return work


def _indexes(node: cst.CSTNode) -> bool:
    """A subscript other than the key of a dictionary: it would index the batch."""
    if not isinstance(node, cst.Subscript):
        return False
    index = node.slice[0].slice
    return len(node.slice) != 1 or not (isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString))
