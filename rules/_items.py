"""Loops over single items: which loop hands an expression one item at a time."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._iterations import few_iterations, view

from tfmemlint.api import (
    Array,
    Call,
    Const,
    File,
    Node,
    Sequence,
    assigned_names,
    integer,
    parameters,
    variables,
    walk,
)

EXPANDS = frozenset({"np.expand_dims", "tf.expand_dims"})
LISTS = frozenset({
    "np.array", "np.asarray", "np.stack", "np.vstack", "tf.stack", "tf.constant", "tf.convert_to_tensor",
})  # fmt: skip
PLAIN = ("builtins.", "np.", "os.", "gc.", "psutil.")
"""Names of what neither trains a model nor tells the time."""

ONE_BATCH = 32


def item_loop(expression: cst.BaseExpression, file: File, most: int) -> Node | None:
    """The loop, comprehension or `map` that gives the expression another item each time, in this function or, for an
    expression that is certainly one item (`x[None]`), around all calls of the function that is given it.

    Loops of at most `most` iterations do not count, half as many for a single item, nor do those over the parts of a
    dictionary, which may be data sets.
    """
    read = variables(expression, file)
    single = is_single(expression, file)
    most = most // 2 if single else most
    for loop in file.contexts.loops(expression):
        if read & assigned_names(loop, file):
            if isinstance(loop, cst.For) and view(loop.iter) is not None and not single:
                return None
            if not few_iterations(loop, file, most):
                return loop
    comprehension = file.contexts.comprehension(expression)
    if comprehension is not None:
        generators = list(walk(comprehension, cst.CompFor))
        bound = {n.value for c in generators for n in walk(c.target) if isinstance(n, cst.Name)}
        views = any(view(c.iter) is not None or _few_items(c, file, most) for c in generators)
        return comprehension if read & bound and (single or not views) else None
    return _mapped(expression, read, file) or (_called_in_loop(expression, read, file, most) if single else None)


def same_rows(predict: Call, file: File, most: int) -> Node | None:
    """The loop that predicts the same few rows again and again and does nothing that could change the model, or that
    measures how long it takes."""
    data, loop = predict.value_of("x"), file.contexts.loop(predict.node)
    rows = data.shape[0] if isinstance(data, Array) and data.shape else None
    if loop is None or rows is None or rows > ONE_BATCH or few_iterations(loop, file, most):
        return None
    for node in walk(loop.body):
        if isinstance(node, cst.Call) and node is not predict.node:
            call = file.call(node)
            if not call.names or not all(name.startswith(PLAIN) for name in call.names):
                return None
    return loop


def _few_items(generator: cst.CompFor, file: File, most: int) -> bool:
    over = file.value(generator.iter)
    return isinstance(over, Sequence) and not over.open and len(over.items) <= most


def is_single(expression: cst.BaseExpression, file: File) -> bool:
    """Whether an expression is one item made a batch of: `x[None]`, `np.expand_dims(x, 0)`, `np.array([x])`."""
    if isinstance(expression, cst.Name):
        definitions = file.definitions(expression)
        values = [d.value for d in definitions if not d.path]
        return bool(values) and all(isinstance(v, (cst.Call, cst.Subscript)) and is_single(v, file) for v in values)
    if isinstance(expression, cst.Subscript):
        first = expression.slice[0].slice
        if isinstance(first, cst.Slice):
            if not isinstance(first.lower, cst.Name) or not isinstance(first.upper, cst.BinaryOperation):
                return False
            return file.text(first.upper).replace(" ", "") == f"{first.lower.value}+1"
        return isinstance(first, cst.Index) and file.value(first.value) == Const(None)
    if isinstance(expression, cst.Call):
        call = file.call(expression)
        if call.name in EXPANDS:
            axis = call.value_of("axis") if call.arg("axis") is not None else call.value_of(1)
            return axis == Const(0)
        if call.name in LISTS and expression.args:
            given = expression.args[0].value
            return isinstance(given, (cst.List, cst.Tuple)) and len(given.elements) == 1
        if call.method == "reshape" and expression.args:
            shape = call.value_of(0)
            size = shape.items[0] if isinstance(shape, Sequence) and shape.items else shape
            return integer(size) == 1
        if call.method == "astype" and call.receiver_node is not None:
            return is_single(call.receiver_node, file)
    return False


def _mapped(expression: Node, read: set[str], file: File) -> Node | None:
    """The `map(lambda x: ..., items)` whose function evaluates the expression for each item."""
    function = file.contexts.function(expression)
    if not isinstance(function, cst.Lambda) or not read & {p.name.value for p in parameters(function)}:
        return None
    takers = [file.values.functions.given_to(use) for use in file.values.functions.uses(function)]
    return next((call.node for call in takers if call is not None and call.name == "builtins.map"), None)


def _called_in_loop(expression: Node, read: set[str], file: File, most: int) -> Node | None:
    """The loop around a call of the function that passes its parameter on to the expression."""
    function = file.contexts.function(expression)
    if not isinstance(function, cst.FunctionDef) or not _from_parameter(function, read, file):
        return None
    callers = file.values.functions.callers(function)
    for call in callers or ():
        for loop in file.contexts.loops(call.node):
            passed = {name for arg in call.node.args for name in variables(arg.value, file)}
            if passed & assigned_names(loop, file) and not few_iterations(loop, file, most):
                return loop
    return None


def _from_parameter(function: cst.FunctionDef, read: set[str], file: File) -> bool:
    """Whether a name comes from a parameter, directly or through the assignments of the function."""
    wanted = {p.name.value for p in parameters(function)} - {"self"}
    seen: set[str] = set()
    bindings = file.flow(function).bindings
    while read - seen:
        if read & wanted:
            return True
        seen |= read
        values = [d.value for name in read for d in bindings.get(name, ()) if isinstance(d.value, cst.BaseExpression)]
        read = {name for value in values for name in variables(value, file)}
    return bool(read & wanted)
