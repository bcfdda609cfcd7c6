from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._concat_in_loop import collect_in_list, comes_from_tensorflow, in_steps, is_structural

from tfmemlint.api import (
    Array,
    Call,
    File,
    Finding,
    Loop,
    Rule,
    Safety,
    Shows,
    calls,
    gradients,
    integer,
    keras,
    knowledge,
    limits,
    on_call,
    repetition,
    tensors,
    tracing,
)

COPIED = Shows(metric="copied")


class ConcatInLoop(Rule):
    """
    ## What it does
    Reports results that a loop over data or steps collects by `acc = tf.concat([acc, x], 0)`, also with NumPy where
    the parts come from TensorFlow, and what a method that the loop calls adds so to an attribute.

    ## Why it costs memory
    Every iteration copies all that was collected before: quadratic work. Under a gradient tape every prefix stays in
    memory. In a loop of a traced function use a `tf.TensorArray`: a Python list holds what one trace puts there.

    ## Fix safety
    Unsafe: the name holds the whole result only after the loop, and the parts must agree in dtype. It is offered
    where the loop does nothing else with the name.

    ## When not to use it
    For a handful of parts, where each iteration reads more than the length of what was collected, and for loops over an
    attribute or a display that join the features of one input; such loops are not reported, nor those that are counted
    and add one column of numbers each time, as for each class. Without a tape neither are up to 32 counted steps that
    begin with a first part, the rows of one batch that are taken one by one (`x[i, :]`), and what tops up a sample
    until it has a length: the memory is the same and the time is not. Nor is one number for each example, a label, a
    score or what `argmax` chose, or for each step, a loss (a million of them are 8 MiB).

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/TensorArray
    """

    code = "TFM702"
    summary = "concatenating in a loop copies everything again in each iteration"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call(*sorted(knowledge.group("joins_copies")))
    def check(self, concat: Call, file: File) -> Iterator[Finding]:
        found = repetition.accumulated(file, concat)
        taped = gradients.recorded(file, concat.node)
        if found is not None and not taped and all(tensors.one_each(file, part) for part in found.others):
            return
        again = repetition.repeats(file, concat.node, calls=0, beyond=limits.FEW_STEPS)
        loop = again.place if again is not None else None
        if found is not None and again is None and (around := repetition.loop_around_method(file, concat, found)):
            message = f"each call copies all of {found.name} again; collect a list and join it once"
            yield self.finding(concat, file, message, related=[(around, "called in this loop")], shows=COPIED)
        if found is None or again is None or not isinstance(loop, (cst.For, cst.While)):
            return
        if found.is_used_otherwise(loop) or not _is_of_data(file, concat, found, again, loop):
            return
        if is_structural(file, concat, found, again) or repetition.unchanging(file, found.others, loop, besides=()):
            return
        kept = ", and the tape keeps every copy" if taped else ""
        traced = file.contexts.traced(concat.node) or next(calls(file, loop, "set_loop_options"), None) is not None
        yield self.finding(
            concat,
            file,
            f"each iteration copies all of {found.name} again{kept}; "
            f"{'write the parts to a tf.TensorArray' if traced else 'collect a list and join it once'}",
            fix=collect_in_list(file, concat, found, loop),
            related=[(loop, "the loop")],
            shows=COPIED,
        )


def _is_of_data(
    file: File, concat: Call, found: repetition.Accumulated, again: repetition.Repetition, loop: Loop
) -> bool:
    """Whether the parts are made from the loop's data: not layers' outputs in a model that is being built."""
    values = [file.value(part) for part in found.others]
    if any(isinstance(value, Array) and value.library == "keras" for value in values) or keras.calls_items(file, again):
        return False
    made = any(tracing.is_tensor(file, part) for part in found.others)
    if (concat.name or "").startswith("np."):
        return made or comes_from_tensorflow(file, found, again, loop)
    along = integer(concat.given("axis"))
    if along != 0 and any(map(keras.is_layer_output, values)):
        return False
    if keras.in_layer(file, concat.node) or found.starts_empty(loop):
        return found.starts_empty(loop)
    if again.over_data or gradients.recorded(file, concat.node):
        return True
    return (made or along == 0) and in_steps(file, found, again, loop)
