"""What traced functions need as Python values, which no tensor can stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array, Function
from tfmemlint.query.flow.stores import is_container
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.tracing.traces import parameter_of
from tfmemlint.syntax.scopes import parameters
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

VALUES = frozenset({"value", "values", "mean", "stddev", "minval", "maxval", "on_value", "off_value", "tensor", "input",
                    "start", "stop", "constant_values"})  # fmt: skip
"""Parameters of functions that take shapes which are no shapes: they may be tensors."""

PYTHON_ARGUMENTS = frozenset({"name", "axis", "training", "shape"})
"""Parameters, of whatever is called, that are Python values."""


def needs_python(file: File, function: Function, name: str) -> bool:
    """Whether a function uses a parameter as a Python number, string or flag, which a tensor cannot be: in a shape, in
    `range`, as an index, compared with a string. True also for a parameter that it does not have by this name.

    False promises only that no such use is seen, here and in functions of the module, `FOLLOWED_CALLS` deep.
    """
    return _needs_python(file, function, name, FOLLOWED_CALLS)


def _needs_python(file: File, function: Function, name: str, left: int) -> bool:
    if all(param.name.value != name for param in parameters(function.node)):
        return True
    uses = [node for node in walk(function.node.body, cst.Name) if node.value == name]
    return any(_as_python(file, _entry(file, use), function.node, left) for use in uses)


def _entry(file: File, use: cst.Name) -> cst.Name | cst.Subscript:
    """The entry that is read where the parameter is a dictionary or list (`params["rate"]`), else the parameter."""
    above = file.tree.parent(use)
    if not isinstance(above, cst.Subscript) or above.value is not use:
        return use
    key = above.slice[0].slice
    constant = isinstance(key, cst.Index) and isinstance(key.value, (cst.SimpleString, cst.Integer))
    return above if constant else use


def _as_python(file: File, use: cst.Name | cst.Subscript, function: Node, left: int) -> bool:
    below: Node = use
    for above in file.tree.ancestors(use):
        if above is function:
            return False
        if isinstance(above, cst.Slice) and _slices_tensor(file, above):
            return False
        if isinstance(above, (cst.Subscript, cst.SubscriptElement)):
            return True
        if isinstance(above, cst.Attribute) and above.value is below:
            called = file.tree.parent(above)
            return not (isinstance(called, cst.Call) and called.func is above)
        if isinstance(above, cst.Comparison):
            sides = (above.left, *(compared.comparator for compared in above.comparisons))
            strings = (cst.SimpleString, cst.List, cst.Tuple, cst.Set)
            return any(isinstance(side, strings) for side in sides)
        if isinstance(above, cst.Arg) and isinstance(call := file.tree.parent(above), cst.Call):
            if (needed := _needed_by(file.call(call), above, use, left)) is not None:
                return needed
        below = above
    return False


def _slices_tensor(file: File, part: cst.Slice) -> bool:
    """Whether a slice, which a tensor may bound, is certainly one of a tensor, not of a list: it is known to be one,
    has several axes, or is calculated with."""
    element = file.tree.parent(part)
    subscript = file.tree.parent(element) if element is not None else None
    if not isinstance(subscript, cst.Subscript):
        return False
    value, taker = file.value(subscript.value), file.tree.parent(subscript)
    if isinstance(value, Array) or len(subscript.slice) > 1:
        return not isinstance(value, Array) or value.library == "tf"
    if value.known or is_container(file, subscript.value):
        return False
    if isinstance(taker, cst.BinaryOperation):
        other = taker.right if taker.left is subscript else taker.left
        of_lists = isinstance(taker.operator, (cst.Add, cst.Multiply)) and not isinstance(other, cst.Float)
        return not of_lists
    call = file.tree.parent(taker) if isinstance(taker, cst.Arg) else None
    name = file.call(call).name if isinstance(call, cst.Call) else None
    return any(knowledge.in_group(name, group) for group in ("keeps_shape", "reduces"))


def _needed_by(call: Call, arg: cst.Arg, use: cst.Name | cst.Subscript, left: int) -> bool | None:
    """Whether a call needs a Python value as this argument; None where what it gives is to be asked."""
    keyword = arg.keyword.value if arg.keyword is not None else None
    if knowledge.in_group(call.method, "needs_python") and call.name not in ("tf.range", "tf.print"):
        return True
    if (call.name or "").startswith("tf.summary."):
        return call.node.args[0] is arg or keyword == "name"
    if keyword in PYTHON_ARGUMENTS:
        return True
    if knowledge.in_group(call.method, "takes_shapes"):
        return not any(call.receives(value, arg) for value in VALUES)
    target = call.target
    if not isinstance(target, Function) or arg.value is not use or left <= 0 or arg.star:
        return None
    return _needs_python(call.evaluator.file, target, parameter_of(call, arg), left - 1)
