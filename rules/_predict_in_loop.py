"""What gives a call of `predict` one item after the other, and whether it is about a whole set: other weights, a
changed copy of the data."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import (
    Array,
    Call,
    Const,
    Dataset,
    File,
    Instance,
    Length,
    Sequence,
    calls,
    constant,
    flow,
    integer,
    limits,
    repetition,
    variables,
    walk,
)

EXPANDS = frozenset({"np.expand_dims", "tf.expand_dims"})
LISTS = frozenset({
    "np.array", "np.asarray", "np.stack", "np.vstack", "tf.stack", "tf.constant", "tf.convert_to_tensor",
})  # fmt: skip
COPIES = frozenset({"copy", "deepcopy", "array"})
PLAIN = ("builtins.", "np.", "os.", "gc.", "psutil.")
"""Names of what neither trains a model nor tells the time."""


def item_loop(
    file: File, given: cst.BaseExpression, single: bool, left: int = limits.FOLLOWED_CALLS
) -> repetition.Repetition | None:
    """What gives an expression another item each time: a loop, a comprehension or `map` around it; around the calls of
    its function, too, where it is certainly one item that the function is given.

    Loops over the parts of a dictionary do not count, which may be data sets.
    """
    read = variables(file, given)
    for again in repetition.repetitions(file, given, calls=0):
        if again.handler or not read & again.bound:
            continue
        if not single and any(repetition.called_view(each.iter) is not None for each in again.each):
            return None
        if not again.few(limits.FEW_RUNS if single else limits.FEW_STEPS):
            return again
    function = file.contexts.function(given)
    callers = file.call_graph.callers(function) if single and left and function is not None else ()
    for name in flow.parameters_behind(file, given) if callers else ():
        for passed in (call.arg(name) for call in callers or ()):
            found = item_loop(file, passed.expression, single, left - 1) if passed is not None else None
            if found is not None:
                return found
    return None


def timing_loop(file: File, predict: Call) -> repetition.Repetition | None:
    """The loop that predicts the same few rows again and again."""
    again = repetition.repeats(file, predict.node, calls=0, beyond=limits.FEW_STEPS)
    return again if again is not None and _is_same_batch(file, predict, again) else None


def is_single(file: File, expression: cst.BaseExpression) -> bool:
    """Whether an expression is one item made a batch of: `x[None]`, `np.expand_dims(x, 0)`, `np.array([x])`."""
    if isinstance(expression, cst.Name):
        values = [d.value for d in file.definitions(expression) if not d.path]
        return bool(values) and all(isinstance(v, (cst.Call, cst.Subscript)) and is_single(file, v) for v in values)
    if isinstance(expression, cst.Subscript):
        return _adds_axis(file, expression.slice[0].slice)
    return isinstance(expression, cst.Call) and _makes_batch(file, file.call(expression))


def _adds_axis(file: File, first: cst.BaseSlice) -> bool:
    """`x[None]`, `x[i:i + 1]`."""
    if isinstance(first, cst.Index):
        return file.value(first.value) == Const(None)
    if not isinstance(first, cst.Slice) or not isinstance(first.lower, cst.Name) or first.upper is None:
        return False
    return file.text(first.upper).replace(" ", "") == f"{first.lower.value}+1"


def _makes_batch(file: File, call: Call) -> bool:
    given = call.node.args[0].value if call.node.args else None
    if call.name in EXPANDS:
        return (call.value_of("axis") if call.arg("axis") is not None else call.value_of(1)) == Const(0)
    if call.name in LISTS:
        return isinstance(given, (cst.List, cst.Tuple)) and len(given.elements) == 1
    if call.method == "reshape" and given is not None:
        shape = call.value_of(0)
        return integer(shape.items[0] if isinstance(shape, Sequence) and shape.items else shape) == 1
    return call.method == "astype" and call.receiver_node is not None and is_single(file, call.receiver_node)


def is_whole_set(file: File, predict: Call) -> bool:
    """Whether each call predicts many rows in batches: a dataset, a batch size of its own for other data, or a copy of
    the same data each time, changed a little: `x = x_test.copy()`."""
    data, size = predict.value_of("x"), predict.arg("batch_size")
    if any(isinstance(option, Dataset) for option in data.options) or predict.arg("steps") is not None:
        return True
    loop = file.contexts.loop(predict.node)
    if loop is None:
        return size is not None and size.value != Const(1)
    argument, bound = predict.arg("x"), {d.name for d in file.bound_within(loop)}
    found = file.definitions(argument.expression) if argument is not None else ()
    copies = [file.call(d.value) for d in found if isinstance(d.value, cst.Call) and not d.path]
    if copies and all(copy.method in COPIES and not bound & variables(file, copy.node) for copy in copies):
        return True
    return size is not None and size.value != Const(1) and not file.contexts.over_data(loop)


def _is_same_batch(file: File, predict: Call, again: repetition.Repetition) -> bool:
    """Whether the same few rows are predicted again and again, by code that does nothing that could change the model,
    or that measures how long it takes."""
    data = predict.value_of("x")
    rows = data.shape[0] if isinstance(data, Array) and data.shape else None
    if rows is None or rows > limits.ONE_BATCH or not isinstance(again.place, (cst.For, cst.While)):
        return False
    others = (call for call in calls(file, again.place.body) if call is not predict)
    return all(call.names and all(name.startswith(PLAIN) for name in call.names) for call in others)


def is_rare(file: File, predict: Call, again: repetition.Repetition) -> bool:
    """Whether the loop predicts only now and then: `if step % 100 == 0`, `if len(batch) == 64`."""
    around = (a for a in file.tree.ancestors(predict.node) if isinstance(a, cst.If))
    for test in (a.test for a in around if file.tree.contains(again.place, a)):
        if any(isinstance(each.operator, cst.Modulo) for each in walk(test, cst.BinaryOperation)):
            return True
        if any(_waits(file, each) for each in walk(test, cst.Comparison)):
            return True
    return False


def _waits(file: File, test: cst.Comparison) -> bool:
    """Whether a test waits until a list has some length: not whether it holds anything."""
    counted = isinstance(test.left, cst.Call) and file.call(test.left).name == "builtins.len"
    bound = file.value(test.comparisons[0].comparator)
    return counted and constant(bound) not in (0, 1) and not isinstance(bound, Length)


def is_of_other_models(file: File, predict: Call, again: repetition.Repetition) -> bool:
    """Whether the loop goes over models, or makes or trains one: then each prediction is of a whole set."""
    receiver = predict.receiver_node
    made = (o.call for o in predict.receiver.options if isinstance(o, Instance) and o.call is not None)
    if any(file.tree.contains(again.place, call.node) for call in made):
        return True
    if receiver is not None and variables(file, receiver) & (again.bound - {"self"}):
        return True
    body = again.place.body if isinstance(again.place, (cst.For, cst.While)) else None
    return body is not None and any(_retrains(file, call, again) for call in calls(file, body))


def _retrains(file: File, call: Call, again: repetition.Repetition) -> bool:
    """Whether a call gives the model other weights for a whole set: not the single steps of an agent's memory."""
    if call.method != "fit":
        return call.method in ("load_weights", "set_weights")
    single = integer(call.value_of("epochs", "nb_epoch")) == 1 or call.lacks("epochs", "nb_epoch")
    folds = isinstance(again.place, cst.For) and next(calls(file, again.place.iter, "split"), None) is not None
    return not single or folds
