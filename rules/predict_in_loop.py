from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._predict_in_loop import (
    is_of_other_models,
    is_rare,
    is_single,
    is_whole_set,
    item_loop,
    timing_loop,
)

from tfmemlint.api import Call, Edit, File, Finding, Fix, Rule, Safety, fixes, on_call, tensors, uses

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
        single = is_single(file, argument.expression)
        again = item_loop(file, argument.expression, single) or timing_loop(file, predict)
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


def _call(file: File, predict: Call) -> Fix | None:
    """`model(x, training=False)`, with `.numpy()` where the result is used as only arrays can be."""
    receiver, argument = predict.receiver_node, predict.arg("x")
    others = [a for a in predict.node.args if a.keyword is None or a.keyword.value not in ("verbose", "x")]
    if receiver is None or argument is None or [a for a in others if a is not argument.node]:
        return None
    if isinstance(argument.expression, DISPLAYS):
        if any(isinstance(element.value, DISPLAYS) for element in argument.expression.elements):
            return None  # `predict` makes an array of nested lists, a call takes them for several inputs
    arrays = [use for use in uses(file, predict.node, parts=True) if tensors.only_of_arrays(use)]
    if any(use.unpacked for use in arrays):
        return None  # the outputs of a model with several
    at = fixes.outer_span(file, argument.expression)
    text = f"({file.source.text[at.start : at.end]}, training=False){'.numpy()' if arrays else ''}"
    return Fix.unsafe("call the model", Edit(fixes.outer_span(file, receiver).end, file.span(predict.node).end, text))
