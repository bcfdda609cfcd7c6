"""What programs do with models for which eager execution is left on, and whether a graph would help them."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import File, Function, facts, limits, repetition, tensors

TRAINS_BY = ("fit", "fit_generator", "train_on_batch", "evaluate")
ASKS_BY = ("predict", "predict_on_batch")


def works_eagerly(file: File) -> bool:
    """Whether the program trains outside of traced code, by a tape or variables of its own, and traces nothing itself,
    nor asks Keras or a pipeline to: then no graph is missed."""
    own = file.calls("tf.GradientTape", "tf.Variable")
    if not own or any(file.contexts.traced(call.node) for call in own) or any(facts.traced_functions.of(file)):
        return False
    asked = [node for word in (*TRAINS_BY, *ASKS_BY, "map", "function") for node in file.calls_by_word.get(word, ())]
    if any(not isinstance(file.call(node).target, Function) for node in asked):
        return False
    return not any(node.attr.value == "function" for node in file.tree.of(cst.Attribute))


def asks_one_batch(file: File) -> bool:
    """Whether all that a program does with models is that each `predict` is called once, for a few rows; it and the
    modules that it imports train nothing and trace nothing themselves."""
    trains = any(file.calls_by_word.get(word) for word in TRAINS_BY)
    if trains or any(not text.words.isdisjoint(TRAINS_BY) for text in file.around):
        return False
    asked = [node for word in ASKS_BY for node in file.calls_by_word.get(word, ())]
    if not asked or any(facts.traced_functions.of(file)):
        return False
    return all(repetition.runs_in_all(file, node) == 1 and _is_of_few_rows(file, node) for node in asked)


def _is_of_few_rows(file: File, ask: cst.Call) -> bool:
    rows = tensors.rows_in(file, ask.args[0].value) if ask.args else None
    return rows is not None and rows <= limits.ONE_BATCH


def asks_once(file: File, switch: facts.AttributeSet) -> bool:
    """Whether a script only asks the model, outside of loops, and trains nothing: a demonstration of its layers."""
    if file.contexts.function(switch.statement) is not None or any(file.calls_by_word.get(word) for word in TRAINS_BY):
        return False
    asked = [node for word in ASKS_BY for node in file.calls_by_word.get(word, ())]
    return bool(asked) and all(repetition.repeats(file, node) is None for node in asked)
