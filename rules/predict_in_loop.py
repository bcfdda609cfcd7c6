from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._predict_in_loop import (
    collects_batch,
    depends_on_last,
    from_command_line,
    is_of_other_models,
    is_part,
    is_whole_set,
    keeps_pace,
    timing_loop,
)

from tfmemlint.api import (
    Call,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    fixes,
    keras,
    limits,
    on_call,
    repetition,
    runtime,
    tensors,
)

DISPLAYS = (cst.List, cst.Tuple)

ITEM = "item; call predict_on_batch(x), or predict all items at once"
FEW = "call; call predict_on_batch(x), or predict all rows at once"
MANY = "call; predict all rows in one call or, where each call has few, call predict_on_batch(x)"
SETS_UP = "predict() sets up a dataset, an iterator and callbacks for every {}"

ONE_BY_ONE = "predict() runs anew for every item; predict all items at once"
FEW_AT_A_TIME = "predict() runs anew for every few rows; predict all rows at once"
PARTS = "predict() runs anew for every part; where parts have few rows, predict all rows in one call"


class PredictInLoop(Rule):
    """
    ## What it does
    Reports `model.predict()` of a Keras model that is called for each item or batch in a Python loop.

    ## Why it costs memory
    Every call builds a dataset, an iterator and callbacks before the model runs, which takes far longer than the model
    itself. It leaks no more on current versions, but each call holds its own copy of the input. An array that the loop
    fills in place and sends is one item or batch after the other, too.

    ## Fix safety
    Unsafe: `predict_on_batch` gives the same arrays, but a class may have a `predict` of its own. Offered where a call
    is known to have at most 32 rows: `predict` runs larger ones in batches of 32, `predict_on_batch` runs them at once,
    with the activations of all rows.

    A call of the model itself, `model(x, training=False)`, sets up nothing either, but runs each operation by itself:
    that is as fast for small networks, and many times slower than `predict` for recurrent ones of many steps.

    ## When not to use it
    Where each call predicts a whole data set: loops over models, folds and data sets, calls with a `batch_size` of
    their own, slices of as many rows as variables tell, more than 32 rows that a loop has collected, and predictions
    every so many steps are not reported. Nor are loops that wait for somebody to type, press a key or upload files or
    take what a command line names, up to 48 calls in all that a program makes, and programs that turn eager execution
    off or give `K.function` updates: there a call of the model adds to the graph. Where tensors are expected of it,
    `predict` is the model's own.

    Keras until 2.3 had an engine of its own, in which `predict` sets up no dataset, but runs each call by itself.
    Programs of that time are not reported. Where a program takes Keras from its own package and nothing tells whether
    that is a later one (what it uses of Keras 2.4, Keras 3 or TensorFlow 2, what its project requires, `.keras`
    files), the finding says only what holds for both: all items at once take a fraction of the time. It is silent then
    where an item is made of the last answer, as in games that an agent plays, generated text and forecasts that go on
    from themselves, and in loops that show each item in a window or take it from the screen: these have to be predicted
    one after the other.

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
        if argument is None or is_whole_set(file, predict) or _in_graph_program(file):
            return
        given = argument.expression
        rows = 1 if _is_read_as_row(file, predict) else tensors.rows_in(file, given, callers=limits.FOLLOWED_CALLS)
        if rows is None and is_part(file, given):
            return
        again = repetition.item_loop(file, given, single=rows == 1) or timing_loop(file, predict)
        if again is None or is_of_other_models(file, predict, again) or from_command_line(file, again):
            return
        if repetition.is_rare(file, predict.node, again):
            filled = repetition.is_filled_by(file, given, again.place)
            if not filled or collects_batch(file, predict, again):
                return
        if (rows in (None, 1) and _is_over_soon(file, predict)) or keras.predicts_tensors(file, predict):
            return
        small = rows is not None and rows <= limits.ONE_BATCH
        of_either = keras.engine_unknown(file)
        if of_either and (keeps_pace(file, again) or depends_on_last(file, predict, again)):
            return
        yield self.finding(
            predict,
            file,
            _message(rows, small, of_either),
            fix=_on_batch(file, predict) if small and not of_either else None,
            contrast=_without_setting_up(file, predict),
            related=[(again.place, "the loop")] if isinstance(again.place, (cst.For, cst.While)) else [],
        )


def _message(rows: int | None, small: bool, of_either: bool) -> str:
    """What is true of the Keras that the program runs on; of both engines, where it may be either."""
    if of_either:
        return ONE_BY_ONE if rows == 1 else FEW_AT_A_TIME if small else PARTS
    return SETS_UP.format(ITEM if rows == 1 else FEW if small else MANY)


def _in_graph_program(file: File) -> bool:
    """Whether a call of the model would add to a graph, and `predict` sets up less."""
    if runtime.turns_eager_off(file) or keras.updates_graph(file):
        return True
    return file.may_be_version_1 or keras.may_have_own_engine(file)


def _is_over_soon(file: File, predict: Call) -> bool:
    """Whether the whole program makes so few calls that nobody notices what each sets up."""
    times = repetition.runs_in_all(file, predict.node)
    return times is not None and times <= limits.SHORT_RUN


def _is_read_as_row(file: File, predict: Call) -> bool:
    return tensors.read_as_one_row(file, predict.node, outputs=keras.has_several_outputs(predict.receiver))


def _without_setting_up(file: File, predict: Call) -> list[Edit]:
    """The same rows through the same model, with no data set, iterator or callbacks for it."""
    receiver, argument = predict.receiver_node, predict.arg("x")
    if receiver is None or argument is None or file.called(predict.node) is not predict.node.func:
        return []  # or `predict` has another name there, and the model none
    at = fixes.outer_span(file, argument.expression)
    text = f".predict_on_batch({file.source.text[at.start : at.end]})"
    return [Edit(fixes.outer_span(file, receiver).end, file.span(predict.node).end, text)]


def _on_batch(file: File, predict: Call) -> Fix | None:
    """`model.predict_on_batch(x)`, where nothing but the rows is asked for."""
    argument = predict.arg("x")
    others = [a for a in predict.node.args if a.keyword is None or a.keyword.value not in ("verbose", "x")]
    if argument is None or [a for a in others if a is not argument.node]:
        return None
    if isinstance(argument.expression, DISPLAYS):
        if any(isinstance(element.value, DISPLAYS) for element in argument.expression.elements):
            return None  # `predict` makes an array of nested lists
    edits = _without_setting_up(file, predict)
    return Fix.unsafe("call predict_on_batch", *edits) if edits else None
