"""Calls of `predict` in a loop that are each about a whole set: other weights, other models, a changed copy, seldom."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Call, Const, Dataset, File, Instance, Length, Node, assigned_names, integer, variables, walk

COPIES = frozenset({"copy", "deepcopy", "array"})


def whole_set(predict: Call, file: File) -> bool:
    """Whether each call predicts many rows in batches: a dataset, or a batch size of its own for other data."""
    data = predict.value_of("x")
    if any(isinstance(option, Dataset) for option in data.options) or predict.arg("steps") is not None:
        return True
    if _copy_of_all(predict, file):
        return True
    size = predict.arg("batch_size")
    loop = file.contexts.loop(predict.node)
    return size is not None and size.value != Const(1) and not (loop is not None and file.contexts.over_data(loop))


def _copy_of_all(predict: Call, file: File) -> bool:
    """Whether what is predicted is a copy of the same data each time, changed a little: `x = x_test.copy()`."""
    argument, loop = predict.arg("x"), file.contexts.loop(predict.node)
    if argument is None or loop is None or not isinstance(argument.expression, cst.Name):
        return False
    bound = assigned_names(loop, file)
    found = file.definitions(argument.expression)
    copies = [file.call(d.value) for d in found if isinstance(d.value, cst.Call) and not d.path]
    return bool(copies) and all(copy.method in COPIES and not bound & variables(copy.node, file) for copy in copies)


def rare(node: Node, loop: Node, file: File) -> bool:
    """Whether the loop predicts only now and then: `if step % 100 == 0`, `if len(batch) == 64`."""
    tests = (a.test for a in file.tree.ancestors(node) if isinstance(a, cst.If) and file.tree.contains(loop, a))
    parts = [n for test in tests for n in walk(test)]
    if any(isinstance(getattr(n, "operator", None), cst.Modulo) for n in parts):
        return True
    return any(_collected(n, file) for n in parts if isinstance(n, cst.Comparison))


def _collected(test: cst.Comparison, file: File) -> bool:
    """Whether a test waits until a list has some length: not whether it holds anything."""
    counted = isinstance(test.left, cst.Call) and file.call(test.left).name == "builtins.len"
    bound = file.value(test.comparisons[0].comparator)
    return counted and bound not in (Const(0), Const(1)) and not isinstance(bound, Length)


def model_changes(predict: Call, loop: Node, file: File) -> bool:
    """Whether the loop goes over models, or makes or trains one: then each prediction is of a whole set."""
    receiver = predict.receiver_node
    made = [o.call for o in predict.receiver.options if isinstance(o, Instance) and o.call is not None]
    if any(file.tree.contains(loop, call.node) for call in made):
        return True
    names = variables(receiver, file) if receiver is not None else set()
    if isinstance(loop, (cst.For, cst.While)):
        if names & (assigned_names(loop, file) - {"self"}):
            return True
        return any(isinstance(n, cst.Call) and _trains(file.call(n), loop, file) for n in walk(loop.body))
    targets = (c.target for c in walk(loop, cst.CompFor))
    return any(variables(target, file) & names for target in targets)


def _trains(call: Call, loop: cst.For | cst.While, file: File) -> bool:
    """Whether a call gives the model other weights for a whole set: not the single steps of an agent's memory."""
    if call.method in ("load_weights", "set_weights"):
        return True
    if call.method != "fit":
        return False
    steps = integer(call.value_of("epochs", "nb_epoch")) == 1 or call.lacks("epochs", "nb_epoch")
    over = walk(loop.iter) if isinstance(loop, cst.For) else ()
    return not steps or any(isinstance(n, cst.Call) and file.call(n).method == "split" for n in over)
