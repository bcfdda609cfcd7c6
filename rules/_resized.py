"""Expressions whose shape differs from one iteration of a loop to the next."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._changing import changing_python_value
from tfmemlint_rules._growing import FEW, Rounds, grows

from tfmemlint.api import Binds, Call, Definition, File, Sequence, walk, written

MAKES = frozenset(
    [f"{library}.{name}" for library in ("tf", "np") for name in ("zeros", "ones", "fill", "full", "eye", "range")]
    + [f"tf.random.{name}" for name in ("normal", "uniform", "truncated_normal")]
    + [f"np.random.{name}" for name in ("rand", "randn", "normal", "uniform", "random", "random_sample")]
    + ["np.empty", "np.arange"]
)
SIZES = {
    "np.random.rand": (0, 1, 2, 3), "np.random.randn": (0, 1, 2, 3), "np.random.normal": (2,),
    "np.random.uniform": (2,), "tf.range": (0, 1), "np.arange": (0, 1),
}  # fmt: skip
"""Where a size stands that is not the first argument."""

CONVERTS = frozenset({
    "tf.constant", "tf.convert_to_tensor", "tf.cast", "np.array", "np.asarray", "np.float32", "tf.expand_dims",
    "np.expand_dims", "tf.stack", "np.stack",
})  # fmt: skip
JOINS = frozenset({"tf.concat", "np.concatenate", "np.append", "np.vstack", "np.hstack"})
DEPTH = 4


def resized(node: cst.BaseExpression, file: File) -> bool:
    """Whether an array certainly has another shape in each iteration of a loop around it; Python's lists are none."""
    if isinstance(node, cst.Name):
        made = [d for d in file.definitions(node) if d.binds is Binds.VALUE]
        lists = any(isinstance(d.value, (cst.List, cst.Tuple, cst.Dict, cst.BaseComp)) for d in made)
        return bool(made) and not lists and _resized(node, file, DEPTH)
    return isinstance(node, (cst.Subscript, cst.Call)) and _resized(node, file, DEPTH)


def _resized(node: cst.BaseExpression, file: File, depth: int) -> bool:
    if depth == 0:
        return False
    if isinstance(node, cst.Name):
        rounds = Rounds.around(node, file)
        found = written(file.definitions(node))
        return grows(node, rounds, file) or any(_defined(d, rounds, file, depth - 1) for d in found)
    if isinstance(node, cst.Subscript):
        return _sliced(node, file) or (_keeps_rows(node) and _resized(node.value, file, depth - 1))
    if isinstance(node, (cst.List, cst.Tuple)):
        return any(_resized(element.value, file, depth - 1) for element in node.elements)
    if not isinstance(node, cst.Call):
        return False
    call = file.call(node)
    if call.name in MAKES:
        return _sized(call, file)
    if call.method in ("astype", "copy") and call.receiver_node is not None:
        return _resized(call.receiver_node, file, depth - 1)
    return call.name in CONVERTS and bool(node.args) and _resized(node.args[0].value, file, depth - 1)


def _defined(d: Definition, rounds: Rounds, file: File, depth: int) -> bool:
    around = rounds.holding(d.node)
    if not around or d.path or rounds.few(around, file) or not isinstance(d.value, cst.BaseExpression):
        return False
    if d.binds is Binds.ITEM:
        return _ragged(d.value, file)
    if d.binds is not Binds.VALUE:
        return False
    if isinstance(d.value, cst.Call) and file.call(d.value).name in JOINS:
        joined = d.value.args[0].value if d.value.args else d.value
        return any(isinstance(n, cst.Name) and n.value == d.name for n in walk(joined))
    own = any(isinstance(n, cst.Name) and n.value == d.name for n in walk(d.value))
    return not own and _resized(d.value, file, depth)


def _ragged(iterated: cst.BaseExpression, file: File) -> bool:
    """Whether a loop runs over lists of more than a few different lengths."""
    rows = file.value(iterated)
    if not isinstance(rows, Sequence) or rows.open:
        return False
    closed = [len(row.items) for row in rows.items if isinstance(row, Sequence) and not row.open]
    return len(closed) == len(rows.items) and len(set(closed)) > FEW


def _sliced(node: cst.Subscript, file: File) -> bool:
    """Whether exactly one bound of a slice is a number that changes with the loop."""
    for part in (element.slice for element in node.slice):
        if isinstance(part, cst.Slice):
            ends = [end is not None and changing_python_value(end, file) for end in (part.lower, part.upper)]
            if sum(ends) == 1:
                return True
    return False


def _keeps_rows(node: cst.Subscript) -> bool:
    """Whether a subscript adds axes alone: `x[None]`, `x[tf.newaxis, :]`."""
    parts = [element.slice for element in node.slice]
    plain = (p for p in parts if isinstance(p, cst.Index))
    return all(
        (isinstance(p.value, cst.Name) and p.value.value == "None")
        or (isinstance(p.value, cst.Attribute) and p.value.attr.value == "newaxis")
        for p in plain
    )  # fmt: skip


def _sized(call: Call, file: File) -> bool:
    """Whether the size that an array is made with holds a Python number that changes."""
    named = call.arg("shape") or call.arg("size")
    given = [named] if named is not None else [call.arg(at) for at in SIZES.get(call.name or "", (0,))]
    for argument in given:
        size = argument.expression if argument is not None else None
        parts = [e.value for e in size.elements] if isinstance(size, (cst.List, cst.Tuple)) else [size]
        if any(part is not None and changing_python_value(part, file) for part in parts):
            return True
    return False
