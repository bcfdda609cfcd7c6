"""Shapes of tensors as code shows them: axes of size 1, and what a tensor meets in element-wise ops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.arithmetic import broadcast
from tfmemlint.model.transfer.table import shape_of
from tfmemlint.model.values import Api, Array, Const, Length, Sequence, Shape, Value, integer
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

OPERATORS = (
    cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power, cst.BitAnd, cst.BitOr, cst.FloorDivide, cst.Modulo,
)  # fmt: skip
COMPARES = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual, cst.Equal, cst.NotEqual)
LISTS = frozenset({"tf.stack", "tf.constant", "tf.convert_to_tensor", "builtins.list", "builtins.tuple"})
"""What takes the numbers of a shape in a list."""
CONVERTS = frozenset({"tf.constant", "tf.convert_to_tensor", "tf.Variable", "np.array", "np.asarray", "tf.cast"})
"""What makes a tensor or array of what it is given, with as many elements."""
CHOOSES = frozenset({"tf.where", "tf.keras.ops.where"})


def shape_size(shape: Value) -> int | None:
    """The number of elements of a tensor with the shape that an argument says; None where one of its sizes is not
    known."""
    sizes = shape_of(shape)
    known = [size for size in sizes or () if size is not None]
    return math.prod(known) if sizes is not None and len(known) == len(sizes) else None


# -- axes of size 1 --------------------------------------------------------------------------------------------------


def size_one(file: File, node: cst.BaseExpression, axis: int, rank: int | None) -> bool:
    """Whether an axis of what an expression gives certainly has size 1, also where nothing is known of the tensor that
    it is made of: `x[:, None]`, `tf.expand_dims(x, 1)`, a reduction with `keepdims`.

    `rank` is the number of axes, where it is known. Element-wise ops and assignments to names are seen through.
    """
    node = file.written(node)
    value = file.value(node)
    if isinstance(value, Array) and value.shape is not None:
        return -len(value.shape) <= axis < len(value.shape) and value.shape[axis] == 1
    if isinstance(node, cst.Subscript):
        front, back = inserted_axes(file, node)
        return axis in front or axis in back or (rank is not None and (axis - rank in back or axis + rank in front))
    if isinstance(node, cst.BinaryOperation):
        sides = (node.left, node.right)
        tensors = [side for side in sides if not isinstance(file.value(side), (Const, Length))]
        return bool(tensors) and all(size_one(file, side, axis, rank) for side in tensors)
    return isinstance(node, cst.Call) and _one_of_call(file, file.call(node), axis, rank)


def _one_of_call(file: File, call: Call, axis: int, rank: int | None) -> bool:
    given = call.arg(0)
    if given is not None and knowledge.in_group(call.name, "keeps_shape"):
        return size_one(file, given.expression, axis, rank)
    if given is not None and knowledge.in_group(call.name, "inserts_axis"):
        at = integer(call.value_of("axis"))
        if at is None or at == axis or (rank is not None and (at - axis) in (rank, -rank)):
            return at is not None
        inner = rank - 1 if rank is not None else None
        return at >= 0 <= axis and size_one(file, given.expression, axis - (axis > at), inner)
    if call.method == "reshape":
        asked = call.arg("shape", "newshape")
        shape = shape_of(asked.value) if asked is not None else None
        return shape is not None and -len(shape) <= axis < len(shape) and shape[axis] == 1
    if (call.method or "").startswith("reduce_") and call.given("keepdims") == Const(True):
        return axis in _reduced(call, rank) or call.lacks("axis")
    return False


def _reduced(call: Call, rank: int | None) -> set[int]:
    """The axes that a reduction is told, with a rank also as they are counted from the other end."""
    given = call.given("axis")
    items = given.items if isinstance(given, Sequence) else (given,)
    found = {i for i in map(integer, items) if i is not None}
    return found | ({i + rank if i < 0 else i - rank for i in found} if rank is not None else set())


def inserted_axes(file: File, node: cst.Subscript) -> tuple[set[int], set[int]]:
    """The axes that `x[:, None, ...]` inserts: counted from the front, and, negative, from the end where they stand
    behind `...`. Both are empty where an index is not understood."""
    kinds = [_kind(file, element.slice) for element in node.slice]
    if "?" in kinds or kinds.count("...") > 1:
        return set(), set()
    kept = [kind for kind in kinds if kind != "int"]
    cut = kept.index("...") if "..." in kept else len(kept)
    front = {i for i, kind in enumerate(kept[:cut]) if kind == "new"}
    back = {i - len(kept) for i, kind in enumerate(kept) if kind == "new" and i > cut}
    return front, back


def _kind(file: File, index: cst.BaseSlice) -> str:
    if isinstance(index, cst.Slice):
        return "slice"
    if not isinstance(index, cst.Index):
        return "?"
    value = file.value(index.value)
    if value == Const(None):
        return "new"
    if isinstance(index.value, cst.Ellipsis) or value == Const(Ellipsis):
        return "..."
    return "int" if integer(value) is not None else "?"


def copied_axes(file: File, call: Call) -> tuple[list[int], int | None] | None:
    """The axes along which a call copies a tensor (`tf.tile`, `tf.repeat`), and the number of axes where it says it.

    None where they are not known or it copies along none; `tf.broadcast_to` says no axes.
    """
    if knowledge.in_group(call.name, "repeats_rows"):
        axis = integer(call.value_of("axis"))
        return None if axis is None else ([axis], None)
    if knowledge.in_group(call.name, "broadcasts_to"):
        return [], None
    given = call.arg(1, "multiples", "repeats", "n")
    asked = file.written(given.expression) if given is not None else None
    inner = file.call(asked).arg(0) if isinstance(asked, cst.Call) and file.call(asked).name in LISTS else None
    multiples = inner.value if inner is not None else file.value(asked) if asked is not None else None
    if not isinstance(multiples, Sequence) or multiples.open:
        return None
    axes = [i for i, item in enumerate(multiples.items) if item != Const(1)]
    return (axes, len(multiples.items)) if axes else None


def result_shape(a: Value, b: Value) -> Shape | None:
    """The shape of an element-wise op of two tensors; None where one of theirs is not known."""
    return broadcast(a.shape, b.shape) if isinstance(a, Array) and isinstance(b, Array) else None


# -- element-wise ops ------------------------------------------------------------------------------------------------


def partners(file: File, node: Node) -> list[cst.BaseExpression]:
    """The other tensors of each element-wise op that a tensor goes into, with numbers and ops of one tensor on the way.

    Empty where it goes anywhere else too, or a use of it is not seen.
    """
    found: list[cst.BaseExpression] = []
    waiting, seen = [node], set[Node]()
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        used = list(uses(file, each))
        for use in used:
            op, others = _element_wise(file, use)
            tensors = [other for other in others if not _is_scalar(file.value(other))]
            found += tensors
            if op is None or (not tensors and isinstance(op, cst.AugAssign)):
                return []
            if not tensors:
                waiting.append(op)
        if not used:
            return []
    return found


def _element_wise(file: File, use: Use) -> tuple[Node | None, list[cst.BaseExpression]]:
    """The element-wise op that a use is an operand of, with its other operands; None for any other use."""
    op, node = use.place, use.node
    if use.does is Does.PASS and use.call is not None:
        others = _of_call(file, use.call, use.argument)
        return (use.call.node, others) if others is not None else (None, [])
    if isinstance(op, cst.UnaryOperation):
        return op, []
    if isinstance(op, cst.BinaryOperation) and isinstance(op.operator, OPERATORS):
        return op, [op.right if op.left is node else op.left]
    if isinstance(op, cst.AugAssign) and isinstance(op.target, cst.Name) and op.value is node:
        return op, [op.target]
    above = file.tree.parent(op) if isinstance(op, cst.ComparisonTarget) else op
    if isinstance(above, cst.Comparison) and len(above.comparisons) == 1:
        (compared,) = above.comparisons
        if isinstance(compared.operator, COMPARES):
            return above, [compared.comparator if above.left is node else above.left]
    return None, []


def _of_call(file: File, call: Call, argument: cst.Arg | None) -> list[cst.BaseExpression] | None:
    """The other operands of an element-wise function; None where it is none or the argument none of its operands."""
    if knowledge.in_group(call.name, "keeps_shape") and call.node.args[0] is argument:
        return []
    count = 3 if call.name in CHOOSES else 2 if knowledge.in_group(call.name, "elementwise_of_two") else 0
    given = call.node.args[:count]
    if len(given) < count or argument not in given or (call.name in CHOOSES and _first_version(file, call)):
        return None
    return [arg.value for arg in given if arg is not argument]


def _first_version(file: File, call: Call) -> bool:
    """Whether this may be TensorFlow 1's `where`, which does not broadcast: so where nothing tells the version."""
    old = call.receiver_node is not None and file.value(call.receiver_node) == Api("tf.compat.v1")
    return old or (call.name == "tf.where" and (file.before_version_2 or not file.says_version_2))


def _is_scalar(value: Value) -> bool:
    return isinstance(value, (Const, Length)) or (isinstance(value, Array) and value.shape == ())


def is_empty(file: File, node: cst.BaseExpression) -> bool:
    """Whether an expression certainly makes a tensor, array or list with nothing in it: one of a known shape, of an
    empty display, or of a shape that begins so (`tf.zeros([0] + sizes)`)."""
    value = file.value(node)
    if isinstance(value, Array) and value.shape is not None:
        return 0 in value.shape
    if isinstance(node, cst.Call):
        call = file.call(node)
        if call.name in CONVERTS and node.args:
            return is_empty(file, node.args[0].value)
        shape = call.arg("shape")
        if shape is not None and isinstance(shape.expression, cst.BinaryOperation):
            displays = walk(shape.expression, cst.List, cst.Tuple)
            return any(integer(file.value(e.value)) == 0 for display in displays for e in display.elements)
    return isinstance(node, cst.List) and not node.elements
