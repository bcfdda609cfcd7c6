"""What a step makes that is large: outputs of a model on its data, gradients of its loss."""

from __future__ import annotations

import re
from collections.abc import Set

import libcst as cst

from tfmemlint.api import (
    Array,
    Call,
    Const,
    Does,
    File,
    Function,
    Node,
    called_word,
    calls,
    flow,
    integer,
    keras,
    repetition,
    uses,
    walk,
)

REDUCES = re.compile(r"\.(reduce_\w+|argmax|argmin|norm|global_norm|mean|max|sum)$")
GRADIENTS = frozenset({"tf.GradientTape.gradient", "tf.GradientTape.jacobian", "tf.GradientTape.batch_jacobian"})
ELEMENTWISE = frozenset({
    "tf.abs", "tf.square", "tf.identity", "tf.cast", "tf.math.abs", "tf.math.square", "tf.nn.relu", "tf.stop_gradient",
    "tf.convert_to_tensor",
})  # fmt: skip
COPIES = frozenset({"identity", "convert_to_tensor", "stop_gradient"})


def kept_kind(file: File, item: cst.BaseExpression, step: Node) -> str | None:
    """What the kept item is: outputs of a model on this step's data, gradients of this step, or neither.

    `step` is the loop or comprehension that makes it, or the function that a loop calls for each step.
    """
    made = _made_by(file, item)
    if (made is not None and REDUCES.search(made.name or "")) or _is_of_columns(file, file.written(item), step):
        return None  # a number for each example at most
    while made is not None and made.name in ELEMENTWISE and made.node.args:
        made = _made_by(file, made.node.args[0].value)
    if made is not None and made.name in GRADIENTS:
        # rows of one Jacobian are no steps: those make the tape as well
        own = file.tree.contains(step, made.node) and next(calls(file, step, "tf.GradientTape"), None) is not None
        return "gradients" if own else None
    if made is not None and repetition.feeds_back(file, made.node, step):
        return None
    if made is not None and not made.target.known and keras.applies_network(file, made):
        data = isinstance(step, cst.For) and file.contexts.over_data(step)
        infers = data or made.given("training") == Const(False)  # else a cell, for each time step
        return "outputs" if infers and _given(made, repetition.step_names(file, step)) else None
    value = file.value(item)
    if not isinstance(value, Array) or value.library != "tf" or value.shape == () or value.origin is None:
        return None
    names = repetition.step_names(file, step)
    if file.tree.contains(step, value.origin.node) and repetition.feeds_back(file, value.origin.node, step):
        return None
    if not keras.runs_model(file, value.origin) or _is_block(file, value.origin, step):
        return None
    if file.tree.contains(step, value.origin.node):
        return "outputs" if _given(value.origin, names) else None
    return "outputs" if _given_through(file, value.origin, item, names) else None


def _is_of_columns(file: File, item: cst.BaseExpression, step: Node) -> bool:
    """Whether an item is certainly one number for each example: a column, or what is made of columns with numbers, one
    by one: `tf.abs(out[:, 0] * 25.0)`."""
    if isinstance(item, cst.BinaryOperation):
        columns = [side for side in (item.left, item.right) if not _is_number(file, side)]
        return bool(columns) and all(_is_of_columns(file, side, step) for side in columns)
    if isinstance(item, cst.Call) and item.args and file.call(item).name in ELEMENTWISE:
        return _is_of_columns(file, item.args[0].value, step)
    return _is_column(file, item, step)


def _is_number(file: File, node: cst.BaseExpression) -> bool:
    value = file.value(node)
    return isinstance(value, Const) or (isinstance(value, Array) and value.shape == ())


def _is_column(file: File, item: cst.BaseExpression, step: Node) -> bool:
    """Whether an item is certainly one number for each example: one column of rows (`out[:, 0]`), by its shape, or one
    of several of the same array that a step takes apart by their numbers."""
    taken = file.written(item)
    if not isinstance(taken, cst.Subscript) or _column(file, taken) is None:
        return False
    value = file.value(taken)
    if isinstance(value, Array) and value.shape is not None:
        return len(value.shape) == 1
    others = (each for each in walk(step, cst.Subscript) if file.text(each.value) == file.text(taken.value))
    return len({_column(file, each) for each in others} - {None}) > 1


def _column(file: File, taken: cst.Subscript) -> int | None:
    """The number of the column that an item is: 0 for `out[:, 0]`; None where it is something else."""
    if len(taken.slice) != 2 or file.text(taken.slice[0].slice) != ":":
        return None
    index = taken.slice[1].slice
    return integer(file.value(index.value)) if isinstance(index, cst.Index) else None


def _is_block(file: File, applied: Call, step: Node) -> bool:
    """Whether a model is certainly a block of a network that is being built: each step makes it of new layers, for this
    call alone, and is not seen to go over the elements of a pipeline."""
    made = file.written(applied.node.func)
    if not isinstance(made, cst.Call) or not file.tree.contains(step, made):
        return False
    if keras.model_at(file, file.call(made)) != () or (isinstance(step, cst.For) and file.contexts.over_data(step)):
        return False
    if any(keras.loads_model(maker) for maker in flow.makers(file.value(made))):
        return False
    if next(calls(file, made, "load_weights", through=1), None) is not None:
        return False  # one of several that are asked
    return all(use.does is Does.CALL for use in uses(file, made))


def copied(item: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What `[tf.identity(g) for g in gradients]` copies; nothing for other comprehensions, else the item itself."""
    if not isinstance(item, cst.ListComp):
        return [item]
    made = item.elt
    while isinstance(made, cst.Call) and called_word(made) in COPIES and made.args:
        made = made.args[0].value
    target = item.for_in.target
    same = isinstance(made, cst.Name) and isinstance(target, cst.Name) and made.value == target.value
    return [item.for_in.iter] if same else []


def _given_through(file: File, forward: Call, item: cst.BaseExpression, names: Set[str]) -> bool:
    """Whether a function of the module, called on this step's data, runs the model on it and returns the output."""
    path: tuple[int | slice, ...] = ()
    if isinstance(item, cst.Name):
        found = file.only_definition(item)
        if found is None or not isinstance(found.value, cst.Call):
            return False
        item, path = found.value, found.path
    made = file.call(item) if isinstance(item, cst.Call) else None
    if made is None or not _given(made, names):
        return False
    function = made.target.node if isinstance(made.target, Function) else None
    if not isinstance(function, cst.FunctionDef) or not file.tree.contains(function, forward.node):
        return False
    own = set(file.flow(function).bindings)
    results = [part for leaving in file.returns(function) for part in _taken(leaving.value, path)]
    return _given(forward, own - {"self"}) and not any(_is_reduced(file, part) for part in results)


def _taken(result: cst.BaseExpression | None, path: tuple[int | slice, ...]) -> list[cst.BaseExpression]:
    """What a caller takes of a function's result: a part of a tuple, or all of it."""
    if isinstance(result, cst.Tuple) and path and isinstance(path[0], int) and path[0] < len(result.elements):
        return [result.elements[path[0]].value]
    return [result] if result is not None else []


def _is_reduced(file: File, result: cst.BaseExpression) -> bool:
    made = _made_by(file, result)
    return made is not None and REDUCES.search(made.name or "") is not None


def _made_by(file: File, item: cst.BaseExpression) -> Call | None:
    """The call that certainly made a value, directly or under a name."""
    if isinstance(item, cst.Call):
        return file.call(item)
    found = file.only_definition(item) if isinstance(item, cst.Name) else None
    if found is None or not isinstance(found.value, cst.Call):
        return None
    made = file.call(found.value)
    return made if not found.path or made.name in GRADIENTS else None


def _given(call: Call, names: Set[str]) -> bool:
    """Whether a call is given one of these names."""
    return any(n.value in names for argument in call.node.args for n in walk(argument.value, cst.Name))


def of_several(file: File, part: cst.BaseExpression) -> bool:
    """Whether the model whose output this is has several, or may have, as it is not seen."""
    value = file.value(part)
    made = value.origin if isinstance(value, Array) else None
    return made is None or keras.may_have_several_outputs(file, made.target)
