"""The Python code that makes the elements of a pipeline one by one, and what in it runs an op each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Function, Instance, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.pipelines.small import run_through
from tfmemlint.syntax.scopes import own_nodes

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

BUILDING = ("tf.keras.Sequential", "tf.keras.Model", "tf.keras.layers")
"""Beginnings of the names of what builds models: no ops, until they are called."""


def generator_functions(file: File, source: Call) -> Iterator[Function]:
    """The functions of the file that a `from_generator` may run for each element: a generator, what a lambda calls, or
    the `__call__` of an object."""
    for target in source.value_of("generator").options:
        function = _function(file, target)
        if function is not None:
            yield function


def _function(file: File, target: Value) -> Function | None:
    if isinstance(target, Instance) and target.class_node is not None:
        method = file.values.classes.method(target.class_node, "__call__")
        return Function(method, receiver=target) if method is not None else None
    if not isinstance(target, Function):
        return None
    body = target.node.body
    if not isinstance(target.node, cst.Lambda) or not isinstance(body, cst.Call):
        return target
    inner = file.call(body).target
    if isinstance(inner, (Function, Instance)):
        return _function(file, inner) or target
    return target if not inner.known or file.call(body).names else None


def ops_in(file: File, function: Function) -> Iterator[Call | Node]:
    """What certainly runs ops for each element that a function makes, also in functions of the module that it calls:
    calls of TensorFlow, and loops over pipelines of its own, in the order of the code. Of a generator that yields in
    loops those loops count: what stands in front of them runs once for all elements."""
    order = file.tree.order
    parts = _per_element(file, function.node)
    loops = [loop for loop in own_nodes(function.node, cst.For) if _over_pipeline(file, loop)]
    loops = [loop for loop in loops if any(file.tree.contains(part, loop) for part in parts)]
    for call in (call for part in parts for call in calls(file, part, through=FOLLOWED_CALLS)):
        while loops and file.tree.contains(function.node, call.node) and order(loops[0]) < order(call.node):
            yield loops.pop(0)
        if runs_op(call):
            yield call
    yield from loops


def _per_element(file: File, function: cst.FunctionDef | cst.Lambda) -> list[Node]:
    """The parts of a function that run for each element: the innermost loops that yield, or all of it, as where one of
    them yields what a pipeline of its own gives."""
    loops = [next(iter(file.contexts.loops(each)), None) for each in own_nodes(function, cst.Yield)]
    found = list(dict.fromkeys(loop for loop in loops if loop is not None))
    if not loops or None in loops or any(isinstance(each, cst.For) and _over_pipeline(file, each) for each in found):
        return [function]
    return [loop for loop in found if not any(each is not loop and file.tree.contains(each, loop) for each in found)]


def _over_pipeline(file: File, loop: cst.For) -> bool:
    value = file.contexts.iterated(loop)
    return value is not None and run_through(value) is not None


def runs_op(call: Call) -> bool:
    """Whether a call certainly runs an op of TensorFlow, a layer or a model when Python makes it outside of a graph."""
    return bool(call.names) and all(_is_op(name) for name in call.names)


def _is_op(name: str) -> bool:
    if not name.startswith("tf.") or knowledge.in_group(name, "runs_no_op"):
        return False
    return not name.startswith(BUILDING) or name.endswith("__call__")
