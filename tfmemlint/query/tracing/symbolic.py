"""Expressions that are, or hold, a tensor for certain, also where its shape and dtype are not known.

In traced code these are symbolic tensors, which belong to the graph that is being made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array, Function, Instance
from tfmemlint.query.keras.models import applies_network
from tfmemlint.query.tracing.python_needs import needs_python
from tfmemlint.syntax.scopes import FUNCTIONS, Binds, Definition, parameters, written
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

LAYER = "tf.keras.layers.Layer"
TAKES_TENSORS = ("tf.nn.", "tf.reduce_", "tf.math.", "tf.arg")
"""Beginnings of the names of ops whose first argument is a tensor, not a number, in any code worth a thought."""

NESTED = 8
"""Operands, names and calls that are looked at inside each other: a loss is often summed over several names."""


def holds_tensor(file: File, expression: cst.BaseExpression) -> bool:
    """Whether an expression is certainly a tensor, or a display or result with one in it; a `tf.Variable` is none.

    False also where it is not known. Parameters are taken for tensors where Keras or the function's callers pass some,
    and in a traced function that nothing here calls, unless something in it asks for a number.
    """
    return _holds(file, expression, NESTED)


def _holds(file: File, expression: cst.BaseExpression, left: int) -> bool:
    if left == 0:
        return False
    value = file.value(expression)
    if isinstance(value, Array):
        return value.library in ("tf", "keras") and not value.variable
    if isinstance(expression, cst.Name):
        return any(_defined(file, d, left - 1) for d in written(file.definitions(expression)))
    if isinstance(expression, cst.Call):
        return _called(file, expression, left)
    return any(_holds(file, part, left - 1) for part in _parts(expression))


def _parts(expression: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The expressions of which each makes the whole a tensor if it is one."""
    if isinstance(expression, cst.BinaryOperation):
        return [expression.left, expression.right]
    if isinstance(expression, cst.Subscript):
        return [expression.value]
    if isinstance(expression, cst.UnaryOperation) and not isinstance(expression.operator, cst.Not):
        return [expression.expression]
    if isinstance(expression, (cst.List, cst.Tuple, cst.Dict)):
        return [element.value for element in expression.elements]
    return []


def _defined(file: File, d: Definition, left: int) -> bool:
    if d.binds is Binds.PARAMETER and isinstance(d.scope, FUNCTIONS):
        return _given_by_keras(file, d) or _passed(file, d, left) or _traced_for(file, d)
    if d.binds is Binds.ITEM and isinstance(d.value, cst.BaseExpression):
        return _item(file, d.value, d.path, left)
    if d.binds is not Binds.VALUE or not isinstance(d.value, cst.BaseExpression):
        return False
    if d.path and isinstance(d.value, (cst.Tuple, cst.List)):
        at = d.path[0]
        if len(d.path) > 1 or isinstance(at, slice) or at >= len(d.value.elements):
            return False
        return _holds(file, d.value.elements[at].value, left)
    return _holds(file, d.value, left) or _used_as_tensor(file, d)


def _item(file: File, over: cst.BaseExpression, path: tuple[int | slice, ...], left: int) -> bool:
    """Whether a loop binds a tensor: an item of a list of gradients, also beside others in a `zip`."""
    if isinstance(over, cst.Call) and path and isinstance(path[0], int):
        name, given = file.call(over).name, [arg.value for arg in over.args]
        at = path[0] if name == "builtins.zip" else path[0] - 1 if name == "builtins.enumerate" else -1
        return 0 <= at < len(given) and _item(file, given[at], path[1:], left)
    return not path and not isinstance(over, cst.Dict) and _holds(file, over, left)


# -- calls -----------------------------------------------------------------------------------------------------------


def _called(file: File, node: cst.Call, left: int) -> bool:
    parent = file.tree.parent(node)
    target = parent.targets[0].target if isinstance(parent, cst.Assign) else None
    named = file.definition(target) if isinstance(target, cst.Name) else None
    return _gives_tensor(file, file.call(node), left - 1) or (named is not None and _used_as_tensor(file, named))


def _gives_tensor(file: File, call: Call, left: int) -> bool:
    if call.name is not None and knowledge.gives_tensor(call.name):
        return True
    functions = [t.node for t in call.target.options if isinstance(t, Function) and isinstance(t.node, cst.FunctionDef)]
    if len(functions) == len(call.target.options):
        returned = [node.value for function in functions for node in file.returns(function)]
        return bool(returned) and all(node is not None and _holds(file, node, left - 1) for node in returned)
    return applies_network(file, call)


def _used_as_tensor(file: File, d: Definition) -> bool:
    """Whether traced code calls something unknown, a model say, and gives the result to an op that takes a tensor."""
    if d.path or not isinstance(d.value, cst.Call) or not d.value.args or not file.contexts.traced(d.value):
        return False
    if file.call(d.value).target.known:
        return False
    takers = (_taker(file, use) for use in file.uses_of(d))
    return any(taker is not None and (taker.name or "").startswith(TAKES_TENSORS) for taker in takers)


def _taker(file: File, use: Node, *, first: bool = True) -> Call | None:
    """The call that is given a name, as its first argument."""
    argument = file.tree.parent(use)
    node = file.tree.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(node, cst.Call) or (first and node.args[0] is not argument):
        return None
    return file.call(node)


# -- parameters ------------------------------------------------------------------------------------------------------


def _given_by_keras(file: File, d: Definition) -> bool:
    """Whether a parameter is what Keras gives `call()` first."""
    function = d.scope
    if not isinstance(function, cst.FunctionDef) or function.name.value != "call":
        return False
    owner = file.class_of(function)
    names = [param.name.value for param in parameters(function)]
    return owner is not None and names[1:2] == [d.name] and file.values.classes.derives(owner, LAYER)


def _passed(file: File, d: Definition, left: int) -> bool:
    arguments = [call.arg(d.name) for call in file.call_graph.callers(d.scope) or ()]
    return bool(arguments) and all(a is not None and _holds(file, a.expression, left - 1) for a in arguments)


def _traced_for(file: File, d: Definition) -> bool:
    """Whether a parameter is what a traced function is called with from elsewhere, and nothing asks for a number."""
    function, parameter = d.scope, d.value
    if not isinstance(function, cst.FunctionDef) or not isinstance(parameter, cst.Param) or d.name == "self":
        return False
    if parameter.default is not None or parameter.annotation is not None or file.call_graph.callers(function):
        return False
    names = [param.name.value for param in parameters(function) if param.name.value != "self"]
    if names[:1] != [d.name] and not any(_operand(file, use) for use in file.uses_of(d)):
        return False
    value = file.values.functions.defined(function, None)
    return isinstance(value, Function) and value.traced and not needs_python(file, value, d.name)


def _operand(file: File, use: cst.Name) -> bool:
    """Whether TensorFlow or a model is given a name."""
    call = _taker(file, use, first=False)
    if call is None:
        return False
    name = call.name or ""
    return knowledge.gives_tensor(name) or name.startswith("tf.keras.") or all(
        isinstance(target, Instance) for target in call.target.options
    )
