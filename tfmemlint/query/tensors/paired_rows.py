"""What is seen of an operation on all pairs around it: how few rows an operand has, and who else reads the result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array, Const, Function, Sequence, Value, integer
from tfmemlint.query.flow.uses import Does, uses
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.repetition.counts import in_slice
from tfmemlint.query.tensors.pairs import Pairs, operands, seen_through
from tfmemlint.syntax.scopes import Binds, Definition, Reaching
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

PLACEHOLDER = "tf.compat.v1.placeholder"

SHAPES = frozenset({
    "tf.keras.backend.int_shape", "tf.keras.backend.ndim", "tf.keras.backend.shape", "tf.keras.ops.shape", "tf.rank",
    "tf.shape", "tf.size",
})  # fmt: skip
"""Ops that look at no number of a tensor."""

LESS = ("reads_shape", "reduces", "shows")
"""What needs one number for each pair, or none at all."""

STEPS = 4 * FOLLOWED_CALLS
"""Names, ops and calls behind each other that are seen through: some four for each call of the module's functions."""


def paired_rows(file: File, pairs: Pairs) -> int | None:
    """The most rows that the side with fewer rows of an operation on all pairs can have, where its shape or the way it
    is made says it, through the module's own calls: `x[:k]`, the sums of `k` segments. None where neither side does."""
    found = [_rows(file, operand, STEPS) for operand in operands(pairs)]
    return min((count for count in found if count is not None), default=None)


def are_fed(file: File, pairs: Pairs) -> bool:
    """Whether both sides of an operation on all pairs are placeholders of a graph that leave their rows open: what the
    program feeds decides how many there are, and nothing else tells."""
    sides = operands(pairs)
    return bool(sides) and all(_is_fed(file, side) for side in sides)


def _is_fed(file: File, node: cst.BaseExpression) -> bool:
    node = file.written(node)
    if isinstance(node, cst.Subscript):
        return _only_inserts(file, node) and _is_fed(file, node.value)
    call = file.call(node) if isinstance(node, cst.Call) else None
    if call is None:
        return False
    if knowledge.in_group(call.name, "inserts_axis") and call.node.args:
        return _is_fed(file, call.node.args[0].value)
    shape = call.value.shape if call.name == PLACEHOLDER and isinstance(call.value, Array) else None
    return call.name == PLACEHOLDER and (shape is None or shape[:1] == (None,))


def needed_pairs(file: File, reduction: Call, pairs: Pairs) -> bool:
    """Whether the result of an operation on all pairs has to exist besides a reduction of it: code reads parts of it,
    gives it, or what is computed from it number by number, to a layer, to a function or to an op that takes it whole,
    or returns it; or the attribute that keeps it is read."""
    return _is_taken(file, pairs.node, reduction, FOLLOWED_CALLS) or _kept(file, reduction, pairs)


def _is_taken(file: File, node: cst.BaseExpression, reduction: Call, left: int) -> bool:
    for use in uses(file, node, containers=True):
        if use.does is Does.ITEM:
            return True
        if use.does is Does.RETURN and file.contexts.function(node) is file.contexts.function(reduction.node):
            return True
        if use.does is Does.PASS and use.call is not None and use.call.node is not reduction.node:
            goes_on = seen_through(use.call)
            if not goes_on and not _takes_less(use.call):
                return True
            if goes_on and left and _is_taken(file, use.call.node, reduction, left - 1):
                return True
        elif use.does is Does.COMPUTE and left and isinstance(use.place, cst.BinaryOperation):
            if _is_taken(file, use.place, reduction, left - 1):
                return True
    return False


def _takes_less(call: Call) -> bool:
    name = call.name or ""
    return name in SHAPES or name.startswith("builtins.") or any(knowledge.in_group(name, group) for group in LESS)


def _kept(file: File, reduction: Call, pairs: Pairs) -> bool:
    """Whether an attribute keeps an operation on all pairs, or what is computed from it number by number, and the class
    reads that attribute elsewhere than in the reduction."""
    above = list(file.tree.ancestors(pairs.node))
    assign = next((each for each in above if isinstance(each, cst.Assign)), None)
    home = next((each for each in above if isinstance(each, cst.ClassDef)), None)
    kept = assign.targets[0].target if assign is not None else None
    if home is None or assign is None or file.tree.contains(assign, reduction.node):
        return False
    if not isinstance(kept, cst.Attribute):
        return False
    named = (each for each in walk(home, cst.Attribute) if each.attr.value == kept.attr.value)
    read = (each for each in named if not isinstance(file.tree.parent(each), (cst.AssignTarget, cst.Del)))
    return any(file.text(each) == file.text(kept) and not file.tree.contains(reduction.node, each) for each in read)


def _rows(file: File, node: cst.BaseExpression, left: int) -> int | None:
    """The most rows of a tensor, axes of size 1 that are inserted left out."""
    value = file.value(node)
    if left == 0:
        return None
    if isinstance(value, Array) and value.shape is not None and len(value.shape) == 2:
        return value.shape[0]
    if isinstance(node, cst.Name):
        found = file.definitions(node)
        return _most(_of_definition(file, each, left - 1) for each in found) if found else None
    if isinstance(node, cst.BinaryOperation):
        sides = [side for side in (node.left, node.right) if not isinstance(file.value(side), Const)]
        return _most(_rows(file, side, left - 1) for side in sides)
    if isinstance(node, cst.Subscript):
        first = next((each.slice for each in node.slice if not _inserts(file, each.slice)), None)
        cut = in_slice(file, first) if isinstance(first, cst.Slice) else None
        return cut or (_rows(file, node.value, left - 1) if _only_inserts(file, node) else None)
    return _of_call(file, file.call(node), left - 1) if isinstance(node, cst.Call) else None


def _of_definition(file: File, made: Reaching, left: int) -> int | None:
    if made.path or not isinstance(made, Definition):
        return None
    if made.binds is Binds.PARAMETER:
        passed = [call.arg(made.name) for call in file.call_graph.callers(made.scope) or ()]
        return _most(_rows(file, each.expression, left) if each is not None else None for each in passed)
    if made.binds is Binds.VALUE and isinstance(made.value, cst.BaseExpression):
        return _rows(file, made.value, left)
    return None


def _of_call(file: File, call: Call, left: int) -> int | None:
    """The rows of an op that keeps or says them, of what is evaluated, and of what a function of the module returns."""
    first = call.node.args[0].value if call.node.args else None
    if isinstance(call.target, Function) and isinstance(call.target.node, cst.FunctionDef):
        returned = [each.value for each in file.returns(call.target.node)]
        return _most(_rows(file, each, left) if each is not None else None for each in returned)
    if knowledge.in_group(call.name, "gives_segments"):
        return _number(call.value_of("num_segments"))
    if call.name == "tf.slice":
        size = call.value_of("size")
        count = _number(size.items[0]) if isinstance(size, Sequence) and size.items else None
        return count if count is not None and count >= 0 else None
    if knowledge.in_group(call.name, "tiles"):  # along the rows of the other side
        copies = call.value_of(1)
        items = copies.items if isinstance(copies, Sequence) else ()
        return _most(_number(each) for each in items if integer(each) != 1)
    if first is not None and any(knowledge.in_group(call.name, group) for group in ("keeps_shape", "inserts_axis")):
        return _rows(file, first, left)
    if first is not None and call.name in ("tf.Variable", "tf.compat.v1.Session.run"):
        return None if isinstance(first, (cst.List, cst.Tuple)) else _rows(file, first, left)
    return None


def _number(value: Value) -> int | None:
    return _most(integer(option) for option in value.options)


def _only_inserts(file: File, node: cst.Subscript) -> bool:
    """Whether a subscript keeps all numbers and inserts axes: `x[:, None]`."""
    return all(_inserts(file, each.slice) or _keeps(each.slice) for each in node.slice)


def _inserts(file: File, part: cst.BaseSlice) -> bool:
    return isinstance(part, cst.Index) and file.value(part.value) == Const(None)


def _keeps(part: cst.BaseSlice) -> bool:
    if isinstance(part, cst.Index):
        return isinstance(part.value, cst.Ellipsis)
    return isinstance(part, cst.Slice) and part.lower is None and part.upper is None and part.step is None


def _most(counts: Iterable[int | None]) -> int | None:
    found = list(counts)
    known = [count for count in found if count is not None]
    return max(known) if known and len(known) == len(found) else None
