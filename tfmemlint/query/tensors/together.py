"""What a tensor is computed with: which calls have to change their dtype together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.calls import Call
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Api, Array, Const, Instance, Length, Sequence, Value
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.tensors.dtypes import given_float64
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File

OF_ANY_DTYPE = frozenset({"shape", "ndim", "name", "device", "numpy", "get_shape", "set_shape"})
"""Attributes and methods of a tensor that give the same, or as good, whatever float it is of."""
ENDS = ("np.", "matplotlib.")
"""Beginnings of what takes an array of any float."""
SHOWS = frozenset(f"builtins.{name}" for name in ("print", "len", "float", "int", "str", "repr", "isinstance", "type"))
LAYER = "tf.keras.layers.Layer"
MODEL = "tf.keras.Model."

Computed = tuple["list[cst.BaseExpression]", "list[Node]"]
"""The operands of a computation, and the expressions that have the dtype that it gives."""


@once_per_file
def float64_together(file: File, made: Call) -> list[Call] | None:
    """The calls whose float64 tensors are computed with what a call makes, in the order of the code, itself among them;
    with one of them narrowed alone TensorFlow would refuse to compute.

    None where an operand or a place where the tensors go is not known: nobody can say then that they can change.
    """
    found, waiting, seen = {made.node: made}, list[Node]([made.node]), set[Node]()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        for use in uses(file, node, parts=True, containers=True):
            on = _computes(file, use)
            if on is None:
                return None
            operands, results = on
            for operand in operands:
                own = operand is use.node or file.written(operand) in seen
                makers = [] if own else _makers(file.value(operand))
                if makers is None:
                    return None
                waiting += [call.node for call in makers if call.node not in found]
                found |= {call.node: call for call in makers}
            waiting += results
    return sorted(found.values(), key=lambda call: file.tree.order(call.node))


def float64_beside(file: File, taker: Call) -> list[Call] | None:
    """The calls that make the other float64 tensors which TensorFlow computes with a NumPy array that a call takes;
    None where that is not known. Keras casts what it is given, so that there are none."""
    if (taker.name or "").startswith(MODEL):
        return []
    if not isinstance(taker.value, Array):  # a pipeline: what is done with its elements is not followed
        return None if given_float64.of(file) else []
    together = float64_together(file, taker)
    return None if together is None else [call for call in together if call is not taker]


def computed_from(file: File, made: Node) -> Iterator[Use]:
    """All uses of a tensor and of what TensorFlow computes from it, as far as they are followed."""
    waiting, seen = [made], set[Node]()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        for use in uses(file, node, parts=True, containers=True):
            yield use
            on = _computes(file, use)
            waiting += on[1] if on is not None else []


def _computes(file: File, use: Use) -> Computed | None:
    """The other operands of what the code does with a tensor and the expressions that have its dtype then; None where
    it does something that depends on the dtype, or goes on unseen."""
    if use.does in (Does.READ, Does.METHOD):
        return ([], []) if use.word in OF_ANY_DTYPE else None
    if use.does is Does.COMPUTE:
        return _in_expression(file, use.place)
    if use.does is Does.PASS and use.call is not None:
        return _in_call(use.call, use)
    return ([], []) if use.does is Does.DELETE else None


def _in_expression(file: File, place: Node | None) -> Computed | None:
    if isinstance(place, cst.BinaryOperation):
        return [place.left, place.right], [place]
    if isinstance(place, cst.AugAssign):
        return [place.target, place.value], [place.target]
    if isinstance(place, cst.UnaryOperation):
        return [], [place]
    compared = file.tree.parent(place) if isinstance(place, cst.ComparisonTarget) else place
    if isinstance(compared, cst.Comparison):
        return [compared.left, *(each.comparator for each in compared.comparisons)], []
    return ([], []) if isinstance(place, (cst.If, cst.While, cst.Assert, cst.FormattedStringExpression)) else None


def _in_call(call: Call, use: Use) -> Computed | None:
    name = call.name or ""
    casts = knowledge.group_parameters("casts_to_floatx").get(name, ())
    given = use.argument is not None and any(call.receives(each, use.argument) for each in casts)
    if given or name in SHOWS or name.startswith(ENDS) or _is_layer(call.target):
        return [], []
    if not name.startswith("tf.") or call.open or _led_by_array(call, use):
        return None
    if name in ("tf.cast", "tf.saturate_cast", "tf.print"):
        return [], []
    return [leaf for arg in call.node.args for leaf in _leaves(arg.value)], [call.node]


def _led_by_array(call: Call, use: Use) -> bool:
    """Whether another operand, a NumPy array, stands first: the tensors behind it have to be of its dtype."""
    first = call.value_of(0)
    return use.argument is not call.node.args[0] and isinstance(first, Array) and first.library == "np"


def _leaves(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What stands in a display, and in those in it; anything else itself."""
    inside = [each.value for each in node.elements] if isinstance(node, (cst.List, cst.Tuple)) else [node]
    return [leaf for each in inside for leaf in _leaves(each)] if inside != [node] else inside


def _is_layer(target: Value) -> bool:
    """Whether a layer or model is called, which casts what it is given to its own dtype."""
    kind = target.type_name if isinstance(target, Instance) else None
    return kind is not None and LAYER in (kind, *knowledge.bases(kind))


def _makers(operand: Value) -> list[Call] | None:
    """The calls that decide the dtype of a float64 operand; none for one that takes the dtype of the others, as Python
    numbers and NumPy arrays do, or is of whole numbers; None where that is not known."""
    makers: list[Call] = []
    for option in operand.options:
        if isinstance(option, Array) and option.library == "tf":
            calls = [call for call in (option.origin, *option.beside) if call is not None]
            whole = (option.dtype or "").startswith(("int", "uint", "bool", "string"))
            if not whole and (option.dtype != "float64" or not calls):
                return None
            makers += [] if whole else calls
        elif isinstance(option, Sequence):
            inside = [_makers(item) for item in option.items]
            if option.open or None in inside:
                return None
            makers += [call for each in inside if each is not None for call in each]
        elif not isinstance(option, (Const, Length, Api, Array)):
            return None
    return makers
