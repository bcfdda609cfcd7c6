from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._predict_in_loop import is_of_other_models, is_rare, is_same_batch, is_single, is_whole_set

from tfmemlint.api import (
    Binds,
    Call,
    Does,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Use,
    fixes,
    limits,
    on_call,
    repetition,
    uses,
    variables,
)

OF_TENSORS = frozenset({"numpy", "shape", "dtype", "ndim"})
"""Attributes that tensors and NumPy arrays both have."""

DISPLAYS = (cst.List, cst.Tuple)


class PredictInLoop(Rule):
    """
    ## What it does
    Reports `model.predict()` of a Keras model that is called for each item or batch in a Python loop.

    ## Why it costs memory
    Every call builds a dataset, an iterator and callbacks before the model runs, which takes far longer than the model
    itself. It leaks no more on current versions, but each call holds its own copy of the input.

    ## Fix safety
    Unsafe: the result is a tensor. Where the code uses it as only NumPy arrays can be, `.numpy()` is added, which a
    model of several outputs does not have.

    ## When not to use it
    Where each call predicts a whole data set: loops over models, folds and data sets, calls with a `batch_size` of
    their own, and predictions every so many steps are not reported.

    ## References
    - https://keras.io/api/models/model_training_apis/#predict-method
    """

    code = "TFM602"
    summary = "predict() in a loop sets up a dataset for every item"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call("tf.keras.Model.predict")
    def check(self, predict: Call, file: File) -> Iterator[Finding]:
        argument = predict.arg("x")
        if argument is None or is_whole_set(file, predict):
            return
        again = _item_loop(file, argument.expression, is_single(file, argument.expression)) or _timed(file, predict)
        if again is None or is_of_other_models(file, predict, again) or is_rare(file, predict, again):
            return
        yield self.finding(
            predict,
            file,
            "predict() sets up a dataset, an iterator and callbacks for every item; call model(x, training=False), or "
            "predict all items at once",
            fix=_call(file, predict),
            related=[(again.place, "the loop")] if isinstance(again.place, (cst.For, cst.While)) else [],
        )


def _item_loop(
    file: File, given: cst.BaseExpression, single: bool, left: int = limits.FOLLOWED_CALLS
) -> repetition.Repetition | None:
    """What gives an expression another item each time: a loop, a comprehension or `map` around it; around the calls of
    its function, too, where it is certainly one item that the function is given.

    Loops over the parts of a dictionary do not count, which may be data sets.
    """
    read = variables(given, file)
    for again in repetition.repetitions(file, given, calls=0):
        if again.handler or not read & again.bound:
            continue
        if not single and any(repetition.called_view(each.iter) is not None for each in again.each):
            return None
        if not again.few(limits.FEW_RUNS if single else limits.FEW_STEPS):
            return again
    function = file.contexts.function(given)
    callers = file.call_graph.callers(function) if single and left and function is not None else ()
    for name in _parameters_behind(file, given) if callers else ():
        for passed in (call.arg(name) for call in callers or ()):
            found = _item_loop(file, passed.expression, single, left - 1) if passed is not None else None
            if found is not None:
                return found
    return None


def _parameters_behind(file: File, given: cst.BaseExpression) -> list[str]:
    """The parameters of its function that an expression depends on, directly or through assignments."""
    bindings = file.flow(file.scope_of(given)).bindings
    found, waiting, seen = [], sorted(variables(given, file)), set[str]()
    while waiting:
        name = waiting.pop()
        for each in bindings.get(name, ()) if name not in seen else ():
            if each.binds is Binds.PARAMETER:
                found.append(name)
            elif isinstance(each.value, cst.BaseExpression):
                waiting += sorted(variables(each.value, file))
        seen.add(name)
    return found


def _timed(file: File, predict: Call) -> repetition.Repetition | None:
    """The loop that predicts the same few rows again and again."""
    again = repetition.repeats(file, predict.node, calls=0, beyond=limits.FEW_STEPS)
    return again if again is not None and is_same_batch(file, predict, again) else None


def _call(file: File, predict: Call) -> Fix | None:
    """`model(x, training=False)`, with `.numpy()` where the result is used as only arrays can be."""
    receiver, argument = predict.receiver_node, predict.arg("x")
    others = [a for a in predict.node.args if a.keyword is None or a.keyword.value not in ("verbose", "x")]
    if receiver is None or argument is None or [a for a in others if a is not argument.node]:
        return None
    if isinstance(argument.expression, DISPLAYS):
        if any(isinstance(element.value, DISPLAYS) for element in argument.expression.elements):
            return None  # `predict` makes an array of nested lists, a call takes them for several inputs
    arrays = [use for use in uses(file, predict.node, parts=True) if _only_of_arrays(use)]
    if any(use.unpacked for use in arrays):
        return None  # the outputs of a model with several
    at = fixes.outer_span(file, argument.expression)
    text = f"({file.source.text[at.start : at.end]}, training=False){'.numpy()' if arrays else ''}"
    return Fix.unsafe("call the model", Edit(fixes.outer_span(file, receiver).end, file.span(predict.node).end, text))


def _only_of_arrays(use: Use) -> bool:
    """Whether the code does what only NumPy arrays can: their methods, and setting an item."""
    return (use.does in (Does.METHOD, Does.READ) and use.word not in OF_TENSORS) or use.does is Does.SET
