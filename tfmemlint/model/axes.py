"""Whether a function that a pipeline maps over single examples may give batches: only then it adds a leading axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Api, Array, Dataset, Function, Sequence, Step, Value, integer
from tfmemlint.syntax.literals import whole_number
from tfmemlint.syntax.scopes import dotted
from tfmemlint.syntax.tree import Node, called_word, walk

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator

FOLLOWED = 2
"""Calls of module functions that are followed from a mapped function."""

GROUPING = frozenset({
    "tile", "repeat", "batch", "decode_batch", "parse_example", "broadcast_to", "extract_patches", "crop_and_resize",
    "frame", "window", "pad_sequences", "atleast_2d", "concat", "concatenate", "vstack",
})  # fmt: skip
"""Words of calls that may make several examples of one."""


def has_scalar_part(element: Value) -> bool:
    """Whether some part of an element is a single number, name or label: then the element is one example."""
    return any(isinstance(leaf, Array) and leaf.shape == () for leaf in elements(element))


def may_group(step: Step) -> bool:
    """Whether the function of a `map` may add a batch axis itself, or is not seen."""
    if step.call is None:
        return True
    results = [option for option in step.call.value.options if isinstance(option, Dataset)]
    example = bool(results) and all(has_scalar_part(option.element) for option in results)
    functions = step.call.value_of("map_func").options
    if not all(isinstance(function, Function) for function in functions):
        return not example
    return any(
        _adds_axis(node) or (not example and _calls_grouping(node, step.call.evaluator))
        for function in functions
        if isinstance(function, Function)
        for node in _nodes(function, step.call.evaluator, FOLLOWED)
    )


def _nodes(function: Function, evaluator: Evaluator, depth: int) -> Iterator[Node]:
    """The nodes of a function's body, and of the module's functions that it calls."""
    for node in walk(function.node.body):
        yield node
        for option in evaluator.call(node).target.options if depth > 0 and isinstance(node, cst.Call) else ():
            if isinstance(option, Function):
                yield from _nodes(option, evaluator, depth - 1)


def _adds_axis(node: Node) -> bool:
    """Whether a node makes a batch of one: `x[None]`, `x[tf.newaxis, ...]`, `expand_dims(x, 0)`."""
    if isinstance(node, cst.Subscript):
        index = node.slice[0].slice
        return isinstance(index, cst.Index) and (dotted(index.value) or "").rpartition(".")[2] in ("None", "newaxis")
    if isinstance(node, cst.Call) and called_word(node) == "expand_dims":
        axes = [arg.value for arg in node.args if arg.keyword is not None and arg.keyword.value == "axis"]
        axes += [arg.value for arg in node.args[1:2] if arg.keyword is None]
        return not axes or not isinstance(axes[0], (cst.Integer, cst.UnaryOperation)) or _literal(axes[0]) == 0
    return False


def _literal(node: cst.BaseExpression) -> int | None:
    return whole_number(node) if isinstance(node, cst.Integer) else None


def _calls_grouping(node: Node, evaluator: Evaluator) -> bool:
    if not isinstance(node, cst.Call):
        return False
    word = called_word(node)
    if word == "stack":
        return _axis(node, evaluator, 1) in (None, 0)
    if word == "reshape":
        return not _keeps_example(node, evaluator)
    target = evaluator.call(node).target
    return word in GROUPING or (isinstance(target, Api) and knowledge.in_group(target.name, "runs_python"))


def _axis(node: cst.Call, evaluator: Evaluator, position: int) -> int | None:
    given = [arg.value for arg in node.args if arg.keyword is not None and arg.keyword.value == "axis"]
    given += [arg.value for arg in node.args[position : position + 1] if arg.keyword is None]
    return integer(evaluator.value(given[0])) if given else None


def _keeps_example(node: cst.Call, evaluator: Evaluator) -> bool:
    """Whether a reshape certainly gives one example: a first axis of a known length over one, or a flat vector."""
    for shape in _shapes(node, evaluator):
        if isinstance(shape, Sequence) and shape.items and not shape.open:
            first = integer(shape.items[0])
            return (first is not None and first > 1) or (first == -1 and len(shape.items) == 1)
    return False


def _shapes(node: cst.Call, evaluator: Evaluator) -> Iterator[Value]:
    for arg in node.args:
        if arg.keyword is None or arg.keyword.value in ("shape", "newshape"):
            yield evaluator.value(arg.value)
