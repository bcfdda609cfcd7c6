"""Whether a call of `predict` is about a whole set or a part of one, by other weights or a changed copy of the data,
and loops that repeat it for the same rows, or for what a command names."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import (
    Array,
    Call,
    Const,
    Dataset,
    File,
    Instance,
    calls,
    constant,
    integer,
    knowledge,
    limits,
    repetition,
    variables,
    walk,
)

COPIES = frozenset({"copy", "deepcopy", "array"})
PLAIN = ("builtins.", "np.", "os.", "gc.", "psutil.")
"""Names of what neither trains a model nor tells the time."""


def timing_loop(file: File, predict: Call) -> repetition.Repetition | None:
    """The loop that predicts the same few rows again and again."""
    again = repetition.repeats(file, predict.node, calls=0, beyond=limits.FEW_STEPS)
    return again if again is not None and _is_same_batch(file, predict, again) else None


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


def is_part(file: File, given: cst.BaseExpression) -> bool:
    """Whether a call takes as many rows as variables tell, of data that is cut into parts for the calls: then they are
    a batch of the author's own, which is neither a few rows nor meant to be all at once."""
    cut = file.written(given)
    if isinstance(cut, cst.Call):  # what another model makes of them
        return file.call(cut).method == "predict" and bool(cut.args) and is_part(file, cut.args[0].value)
    index = cut.slice[0].slice if isinstance(cut, cst.Subscript) else None
    if not isinstance(index, cst.Slice) or index.lower is None or index.upper is None:
        return False
    return not file.value(index.upper).known


def collects_batch(file: File, predict: Call, again: repetition.Repetition) -> bool:
    """Whether a loop is known to collect more rows for each call than `predict` runs at once: batches of the author's
    own, of which all together may be too many."""
    among = repetition.once_in(file, predict.node, again.place)
    above = (each.test for each in file.tree.ancestors(predict.node) if isinstance(each, cst.If))
    lengths = (each for test in above for each in walk(test, cst.Comparison) if _is_length(file, each.left))
    waited = (integer(file.value(each.comparisons[0].comparator)) for each in lengths)
    return max(among or 1, *(rows or 1 for rows in waited), 1) > limits.ONE_BATCH


def _is_length(file: File, counted: cst.BaseExpression) -> bool:
    return isinstance(counted, cst.Call) and file.call(counted).name == "builtins.len"


def depends_on_last(file: File, predict: Call, again: repetition.Repetition) -> bool:
    """Whether the loop makes an item of what was predicted in the round before: then there are never several."""
    if file.tree.contains(again.place, predict.node):
        return repetition.feeds_back(file, predict.node, again.place)
    above = (each for each in file.tree.ancestors(again.chain[0]) if isinstance(each, cst.Call))
    applied = next(above, None)  # what the loop calls, directly or not, to predict what it gives
    return applied is not None and repetition.feeds_back(file, applied, again.place, answer=predict.node)


def keeps_pace(file: File, again: repetition.Repetition) -> bool:
    """Whether the loop shows or takes each item at its own time: there are never several of a camera or a screen."""
    found = calls(file, again.place) if isinstance(again.place, (cst.For, cst.While)) else ()
    return any(knowledge.in_group(call.name, "keeps_pace") for call in found)


def from_command_line(file: File, again: repetition.Repetition) -> bool:
    """Whether a loop goes over what somebody has written on the command line, one by one: `--images a.png b.png`."""
    over = {each.iter.attr.value for each in again.each if isinstance(each.iter, cst.Attribute)}
    for node in file.calls_by_word.get("add_argument", ()) if over else ():
        names = {str(constant(file.value(arg.value))).lstrip("-") for arg in node.args if arg.keyword is None}
        if names & over and any(arg.keyword is not None and arg.keyword.value == "nargs" for arg in node.args):
            return True
    return False


def _is_same_batch(file: File, predict: Call, again: repetition.Repetition) -> bool:
    """Whether the same few rows are predicted again and again, by code that does nothing that could change the model,
    or that measures how long it takes."""
    data = predict.value_of("x")
    rows = data.shape[0] if isinstance(data, Array) and data.shape else None
    if rows is None or rows > limits.ONE_BATCH or not isinstance(again.place, (cst.For, cst.While)):
        return False
    others = (call for call in calls(file, again.place.body) if call is not predict)
    return all(call.names and all(name.startswith(PLAIN) for name in call.names) for call in others)


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
