"""What a traced function does with a parameter that is a Python value."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Api, Array, File, Function, Node, parameters, walk

SHAPED = frozenset({
    "zeros", "ones", "reshape", "fill", "one_hot", "normal", "uniform", "truncated_normal", "eye", "tile", "repeat",
    "broadcast_to", "split", "unstack", "top_k", "pad", "resize", "resize_with_pad", "resize_with_crop_or_pad",
    "central_crop", "random_crop", "crop_to_bounding_box", "sequence_mask", "linspace", "arange", "extract_patches",
    "frame", "stft", "overlap_and_add",
})  # fmt: skip
"""Functions whose arguments are shapes and numbers of items, except for those in VALUES."""

VALUES = frozenset({"value", "values", "mean", "stddev", "minval", "maxval", "on_value", "off_value", "tensor", "input",
                    "start", "stop", "constant_values"})  # fmt: skip

PYTHON = frozenset({"getattr", "hasattr", "setattr", "isinstance", "get", "get_layer", "range", "len", "name_scope",
                    "print", "open", "load", "int"})  # fmt: skip
"""Functions that need a Python value."""


def needs_python(function: Function, name: str, file: File, depth: int = 2) -> bool:
    """Whether the parameter is used as a Python number or flag: in a shape, `range`, an index, a comparison with a
    string."""
    if all(p.name.value != name for p in parameters(function.node)):
        return True
    uses = [n for n in walk(function.node.body, cst.Name) if n.value == name]
    return any(_as_python(_entry(use, file), function.node, file, depth) for use in uses)


def _entry(use: cst.Name, file: File) -> cst.Name | cst.Subscript:
    """The entry that is read where the parameter is a dictionary or list (`params["rate"]`), else the parameter."""
    above = file.tree.parent(use)
    key = above.slice[0].slice if isinstance(above, cst.Subscript) and above.value is use else None
    text = isinstance(key, cst.Index) and isinstance(key.value, (cst.SimpleString, cst.Integer))
    return above if text and isinstance(above, cst.Subscript) else use


def _as_python(use: cst.Name | cst.Subscript, function: Node, file: File, depth: int) -> bool:
    below: Node = use
    for above in file.tree.ancestors(use):
        if above is function:
            return False
        if isinstance(above, (cst.Subscript, cst.SubscriptElement)):
            return True
        if isinstance(above, cst.Attribute) and above.value is below:
            called = file.tree.parent(above)
            return not (isinstance(called, cst.Call) and called.func is above)
        if isinstance(above, cst.Comparison):
            sides = (above.left, *(c.comparator for c in above.comparisons))
            strings = (cst.SimpleString, cst.List, cst.Tuple, cst.Set)
            return any(isinstance(side, strings) for side in sides)
        if isinstance(above, cst.Arg) and isinstance(call := file.tree.parent(above), cst.Call):
            if (needed := _argument(call, above, use, file, depth)) is not None:
                return needed
        below = above
    return False


def _argument(node: cst.Call, arg: cst.Arg, use: cst.Name | cst.Subscript, file: File, depth: int) -> bool | None:
    """Whether a call needs a Python value as this argument; None where what it gives is to be asked."""
    call = file.call(node)
    word = call.method
    if word in PYTHON and call.name not in ("tf.range", "tf.print"):
        return True
    if (call.name or "").startswith("tf.summary."):
        return node.args[0] is arg or (arg.keyword is not None and arg.keyword.value == "name")
    if arg.keyword is not None and arg.keyword.value in ("name", "axis", "training", "shape"):
        return True
    if word in SHAPED:
        return not any(call.receives(value, arg) for value in VALUES)
    target = call.target
    if isinstance(target, Function) and arg.value is use and depth > 0 and not arg.star:
        index = node.args.index(arg)
        positional = call.parameter_names[index] if index < len(call.parameter_names) else ""
        return needs_python(target, arg.keyword.value if arg.keyword is not None else positional, file, depth - 1)
    return None


def float_parameter(value: cst.BaseExpression, function: Function, name: str, file: File) -> bool:
    """Whether the function calculates with a parameter among floats, so that an integer tensor would not do."""
    if isinstance(file.value(value), Api):
        return False
    for node in walk(function.node.body):
        if not isinstance(node, (cst.BinaryOperation, cst.AugAssign)):
            continue
        left, right = (node.left, node.right) if isinstance(node, cst.BinaryOperation) else (node.target, node.value)
        if isinstance(node.operator, (cst.Modulo, cst.FloorDivide)):
            continue
        for side, other in ((left, right), (right, left)):
            if isinstance(side, cst.Name) and side.value == name:
                known = file.value(other)
                dtype = known.dtype if isinstance(known, Array) else ""
                if isinstance(other, cst.Float) or (dtype or "").startswith("float"):
                    return True
    return False
