"""Whether a tensor is copied up to a size that what it meets in an element-wise op has anyway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.transfer.table import shape_of
from tfmemlint.model.values import Array, Length, integer
from tfmemlint.query.tensors.tensors import LISTS, OPERATORS, copied_axes, inserted_axes, size_one
from tfmemlint.syntax.scopes import written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

FOLLOWED_OPS = 8
"""Ops behind each other that are seen through: what a mask meets is a product, scaled and with an axis more at most."""

SHAPES = frozenset({"tf.shape", "tf.keras.ops.shape", "tf.keras.backend.shape", "tf.keras.backend.int_shape"})
"""Functions that give the shape of their first argument."""

LISTED = frozenset({"as_list", "get_shape"})
"""Methods, by their words, on the way from a tensor to the list of its sizes."""

RANKS = frozenset({"ndims", "rank", "ndim"})
"""Attributes that say how many axes a tensor has; who asks gets tensors of several ranks."""

COPIES = ("tiles", "repeats_rows", "broadcasts_to")
"""The groups of calls that copy along axes."""

COUNTS_AXES = frozenset({"tf.rank", "tf.keras.backend.ndim", "tf.keras.ops.ndim"})
"""Functions that say so."""

LENGTH = "builtins.len"
"""What says so of a shape; of a tensor it gives the size of the first axis."""


@dataclass(frozen=True, slots=True)
class Tiling:
    """The axes along which a call copies a tensor of size 1 there, each with the expression of its new size, where that
    is written, and the number of axes, where it is known. `like` is the tensor whose whole shape it is given."""

    sizes: dict[int, cst.BaseExpression | None]
    rank: int | None
    like: cst.BaseExpression | None = None


def tiling(file: File, call: Call) -> Tiling | None:
    """What a call copies that certainly has size 1, by `tf.tile`, `tf.repeat` or `tf.broadcast_to`; None where that is
    not certain for all the axes that it copies along."""
    source = call.arg(0)
    if source is None:
        return None
    if knowledge.in_group(call.name, "broadcasts_to"):
        return _broadcast(file, call, source.expression)
    copied = copied_axes(file, call)
    if copied is None or not all(size_one(file, source.expression, axis, copied[1]) for axis in copied[0]):
        return None
    value = source.value
    rank = copied[1] or (len(value.shape) if isinstance(value, Array) and value.shape is not None else None)
    times = call.arg(1, "multiples", "repeats", "n", "rep")
    written_sizes = _display(file, times.expression) if times is not None else []
    one = times.expression if times is not None and knowledge.in_group(call.name, "repeats_rows") else None
    sizes = {axis: one or (written_sizes[axis] if axis < len(written_sizes) else None) for axis in copied[0]}
    return Tiling(sizes, rank)


def brings(file: File, other: cst.BaseExpression, found: Tiling) -> bool:
    """Whether an operand certainly has the sizes in full that a tensor is tiled to.

    So it is where its shape is known, and where the sizes are read off it, off what it is computed from element by
    element or row by row, or stand in the shape that it is made with.
    """
    if found.like is not None:
        return _stem(file, found.like) is not None and _stem(file, other) == _stem(file, found.like)
    return all(_has(file, other, axis, found.rank, size, FOLLOWED_OPS) for axis, size in found.sizes.items())


def _broadcast(file: File, call: Call, source: cst.BaseExpression) -> Tiling | None:
    given = call.arg("shape")
    if given is None:
        return None
    value = file.value(source)
    old = value.shape if isinstance(value, Array) else None
    node, new = file.written(given.expression), shape_of(given.value)
    sizes = _display(file, given.expression)
    if old is not None and (new is not None or sizes):
        rank = len(new) if new is not None else len(sizes)
        missing = rank - len(old)
        grown = [i for i in range(rank) if i < missing or (old[i - missing] == 1 and (new is None or new[i] != 1))]
        return Tiling({i: sizes[i] if sizes else None for i in grown}, rank) if grown else None
    front, back = inserted_axes(file, source) if isinstance(source, cst.Subscript) else (set(), set())
    inner = file.call(source) if isinstance(source, cst.Call) else None
    if not (front or back or (inner is not None and knowledge.in_group(inner.name, "inserts_axis"))):
        return None
    if sizes:
        grown = [i for i in range(len(sizes)) if size_one(file, source, i, len(sizes)) and _is_size(file, sizes[i])]
        return Tiling({i: sizes[i] for i in grown}, len(sizes)) if grown else None
    like = _shaped(file, node)
    return Tiling({}, None, like) if like is not None else None


def _is_size(file: File, node: cst.BaseExpression) -> bool:
    return integer(file.value(node)) != 1


def _display(file: File, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The numbers of a shape as they are written; none where it is no display."""
    node = file.written(node)
    if isinstance(node, cst.Call) and file.call(node).name in LISTS and node.args:
        return _display(file, node.args[0].value)
    return [e.value for e in node.elements] if isinstance(node, (cst.List, cst.Tuple)) else []


# -- which operand has a size ----------------------------------------------------------------------------------------


def _has(
    file: File, node: cst.BaseExpression, axis: int, rank: int | None, size: cst.BaseExpression | None, left: int
) -> bool:
    """Whether an expression certainly has this size along an axis, counted among `rank` axes."""
    node = _uncopied(file, node)
    value = file.value(node)
    shape = value.shape if isinstance(value, Array) else None
    if shape is not None:
        at = axis if rank is None or axis < 0 else axis - rank + len(shape)
        if not (-len(shape) if axis < 0 else 0) <= at < len(shape):
            return False
        if shape[at] is not None:
            return shape[at] != 1
        axis, rank = at, len(shape)
    if left == 0 or size is None or isinstance(value, Length):
        return False
    of = _size_of(file, size)
    if of is not None and of[1] in (axis, axis - (rank or 0)) and _stem(file, of[0]) == _stem(file, node) is not None:
        return not _asks_rank(file, of[0])
    node = _made(file, node)
    if isinstance(node, cst.UnaryOperation):
        return _has(file, node.expression, axis, rank, size, left - 1)
    if isinstance(node, cst.BinaryOperation):
        return _of_operator(file, node, axis, rank, size, left - 1)
    if isinstance(node, cst.Subscript):
        return _of_subscript(file, node, axis, rank, size, left - 1)
    return isinstance(node, cst.Call) and _of_call(file, file.call(node), axis, rank, size, left - 1)


def _of_operator(
    file: File, node: cst.BinaryOperation, axis: int, rank: int | None, size: cst.BaseExpression, left: int
) -> bool:
    if isinstance(node.operator, cst.MatrixMultiply):
        return _keeps_rows(axis, rank) and _has(file, node.left, axis, rank, size, left)
    known = isinstance(node.operator, OPERATORS)
    return known and any(_has(file, side, axis, rank, size, left) for side in (node.left, node.right))


def _of_subscript(
    file: File, node: cst.Subscript, axis: int, rank: int | None, size: cst.BaseExpression, left: int
) -> bool:
    """Of `x[:, None]`, or of `x[:, :3]`, whose first axes are those of `x`."""
    if axis < 0 or any(isinstance(e.slice, cst.Index) and isinstance(e.slice.value, cst.Ellipsis) for e in node.slice):
        return False
    front, _ = inserted_axes(file, node)
    if axis in front:
        return False
    before = [e.slice for i, e in enumerate(node.slice) if i <= axis and i not in front]
    whole = all(isinstance(s, cst.Slice) and s.lower is None and s.upper is None and s.step is None for s in before)
    inner = axis - sum(1 for each in front if each < axis)
    return whole and _has(file, node.value, inner, rank - len(front) if rank else None, size, left)


def _of_call(file: File, call: Call, axis: int, rank: int | None, size: cst.BaseExpression, left: int) -> bool:
    given = call.node.args
    asked = call.arg("shape", "newshape")
    wanted = _display(file, asked.expression) if asked is not None else []
    if wanted:
        return -len(wanted) <= axis < len(wanted) and _same_size(file, wanted[axis], size)
    if not given:
        return False
    first = given[0].value
    if call.name in ("tf.range", "tf.keras.ops.arange"):
        return axis in (-1, (rank or 0) - 1) and len(given) == 1 and _same_size(file, first, size)
    if knowledge.in_group(call.name, "inserts_axis"):
        at = integer(call.value_of("axis"))
        at = at + rank if at is not None and at < 0 and rank is not None else at
        if at is None or at < 0 or axis < 0 or axis == at:
            return False
        return _has(file, first, axis - (axis > at), rank - 1 if rank else None, size, left)
    if knowledge.in_group(call.name, "elementwise_of_two") and len(given) > 1:
        return any(_has(file, each.value, axis, rank, size, left) for each in given[:2])
    if knowledge.in_group(call.name, "multiplies_matrices"):
        kept = _keeps_rows(axis, rank) and call.method not in ("einsum", "tensordot")
    else:  # a layer, or a function of the module, keeps the axis of the batch
        kept = knowledge.in_group(call.name, "keeps_shape") or (axis == 0 and not call.names)
    return kept and _has(file, first, axis, rank, size, left)


def _keeps_rows(axis: int, rank: int | None) -> bool:
    """Whether a product of matrices has an axis of its first operand: any but the last."""
    return axis == 0 or (rank is not None and 0 < axis < rank - 1)


def _uncopied(file: File, node: cst.BaseExpression) -> cst.BaseExpression:
    """An operand as it is without its own copies."""
    for _ in range(FOLLOWED_OPS):
        made = _made(file, node)
        call = file.call(made) if isinstance(made, cst.Call) and made.args else None
        if call is None or not any(knowledge.in_group(call.name, group) for group in COPIES):
            break
        node = call.node.args[0].value
    return node


def _same_size(file: File, node: cst.BaseExpression, size: cst.BaseExpression) -> bool:
    """Whether two numbers are certainly the same size: the same name, or the same axis of the same tensor."""
    one, other = _size_of(file, node), _size_of(file, size)
    if one is not None and other is not None:
        return one[1] == other[1] and _stem(file, one[0]) == _stem(file, other[0])
    same = isinstance(node, (cst.Name, cst.Attribute)) and file.text(node) == file.text(size)
    return same and file.definitions(node) == file.definitions(size)


def _made(file: File, node: cst.BaseExpression) -> cst.BaseExpression:
    """What a name stands for, also where it is one of several that are bound at once: `a, b = x, y`."""
    node = file.written(node)
    found = written(file.definitions(node)) if isinstance(node, cst.Name) else []
    if len(found) != 1 or len(found[0].path) != 1 or not isinstance(found[0].value, (cst.Tuple, cst.List)):
        return node
    at, elements = found[0].path[0], found[0].value.elements
    return file.written(elements[at].value) if isinstance(at, int) and at < len(elements) else node


# -- whose size a number is ------------------------------------------------------------------------------------------


def _size_of(file: File, number: cst.BaseExpression) -> tuple[cst.BaseExpression, int] | None:
    """The tensor of which a number certainly is a size, with the axis; None where that is not seen."""
    node = _made(file, number)
    if isinstance(node, cst.Attribute) and node.attr.value == "value":  # of TensorFlow 1's dimensions
        node = file.written(node.value)
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        of, axis = _shaped(file, file.written(node.value)), integer(file.value(node.slice[0].slice.value))
        return (of, axis) if of is not None and axis is not None else None
    if isinstance(node, cst.Call) and file.call(node).name == LENGTH and node.args:
        return node.args[0].value, 0
    found = written(file.definitions(node)) if isinstance(node, cst.Name) else []
    if len(found) != 1 or len(found[0].path) != 1 or not isinstance(found[0].value, cst.BaseExpression):
        return None
    at, value = found[0].path[0], found[0].value
    of = _shaped(file, file.written(value))
    return (of, at) if of is not None and isinstance(at, int) else None


def _shaped(file: File, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The tensor whose shape an expression is: `tf.shape(x)`, `x.shape`, `x.get_shape().as_list()`."""
    while isinstance(node, cst.Call):
        call = file.call(node)
        if call.name in SHAPES and node.args:
            return node.args[0].value
        if call.name in ("tf.unstack", "builtins.list", "builtins.tuple") and node.args:
            node = file.written(node.args[0].value)
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value in LISTED and not node.args:
            if node.func.attr.value == "get_shape":
                return node.func.value
            node = node.func.value
        else:
            return None
    return node.value if isinstance(node, cst.Attribute) and node.attr.value == "shape" else None


def _stem(file: File, node: cst.BaseExpression) -> tuple[str, object] | None:
    """What tells whether two expressions are the same tensor: a name or attribute with what bound it."""
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    return file.text(node), tuple(id(each) for each in file.definitions(node))


def _asks_rank(file: File, tensor: cst.BaseExpression) -> bool:
    """Whether the function around asks how many axes a tensor has, which it may not have in all calls."""
    home: Node = file.contexts.function(tensor) or file.module
    text = file.text(tensor)
    asked = (each.value for each in walk(home, cst.Attribute) if each.attr.value in RANKS)
    shapes = (f"{text}.shape", f"{text}.get_shape()")
    counts = [call for call in walk(home, cst.Call) if call.args and file.call(call).name in (*COUNTS_AXES, LENGTH)]
    lengths = (call.args[0].value for call in counts if file.call(call).name == LENGTH)
    ranks = (call.args[0].value for call in counts if file.call(call).name != LENGTH)
    return any(file.text(each) in (text, *shapes) for each in (*asked, *ranks)) or any(
        file.text(each) in shapes for each in lengths
    )
