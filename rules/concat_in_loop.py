from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._concat_in_loop import Collected, collect_in_list, collected, is_empty

from tfmemlint.api import (
    Array,
    Call,
    Const,
    File,
    Finding,
    Rule,
    Safety,
    Value,
    calls,
    integer,
    limits,
    on_call,
    repetition,
    tracing,
    variables,
)
from tfmemlint.api import Iterator as Items

NUMPY = ("np.concatenate", "np.append", "np.vstack", "np.hstack", "np.stack", "np.row_stack")
JOINS = ("concatenate", "append", "vstack", "hstack")
MODULES = ("keras.ops", "experimental.numpy")
TENSOR = ("tf.concat", "tf.stack", *(f"tf.{module}.{name}" for module in MODULES for name in JOINS))


class ConcatInLoop(Rule):
    """
    ## What it does
    Reports results that a loop over data or steps collects by `acc = tf.concat([acc, x], 0)`, also with NumPy where
    the parts come from TensorFlow.

    ## Why it costs memory
    Every iteration copies all that was collected before: quadratic work. Under a gradient tape every prefix stays in
    memory.

    ## Fix safety
    Unsafe: the name holds the whole result only after the loop, and the parts must agree in dtype. It is offered
    where the loop does nothing else with the name.

    ## When not to use it
    For a handful of parts, or where each iteration reads what was collected; such loops are not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/TensorArray
    """

    code = "TFM702"
    summary = "concatenating in a loop copies everything again in each iteration"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call(*TENSOR, *NUMPY)
    def check(self, concat: Call, file: File) -> Iterator[Finding]:
        found, again = collected(file, concat), repetition.repeats(file, concat.node, calls=0, beyond=limits.FEW_STEPS)
        loop = again.place if again is not None else None
        if found is None or again is None or not isinstance(loop, (cst.For, cst.While)):
            return
        if found.is_used_otherwise(loop) or not _collects(file, concat, found, again):
            return
        yield self.finding(
            concat,
            file,
            f"each iteration copies all of {found.name} again, and a tape keeps every copy; "
            "collect a list and join it once",
            fix=collect_in_list(file, concat, found, loop),
            related=[(loop, "the loop")],
        )


def _collects(file: File, concat: Call, found: Collected, again: repetition.Repetition) -> bool:
    """Whether the parts are made from the loop's data: not layers' outputs in a model that is being built."""
    values = [file.value(part) for part in found.others]
    if any(isinstance(v, Array) and v.library == "keras" for v in values) or _calls_items(file, again):
        return False
    tensors = any(tracing.is_tensor(file, part) for part in found.others)
    if concat.name in NUMPY:
        return tensors or _of_data(file, found, again)
    along = integer(concat.value_of("axis"))
    if along != 0 and any(_of_layer(v) for v in values):
        return False
    if _in_layer(file, concat) or _from_nothing(file, found, again):
        return _from_nothing(file, found, again)
    return tensors or again.over_data or (along == 0 and _step_by_step(file, found, again))


def _of_data(file: File, found: Collected, again: repetition.Repetition) -> bool:
    """Whether arrays are made of a pipeline's elements, or of tensors."""
    loop = again.place
    if again.over_data and any(variables(part, file) & again.bound for part in found.others):
        return True
    made = isinstance(loop, (cst.For, cst.While)) and any(tracing.fetched_in_loop(file, p, loop) for p in found.others)
    return made or any(tracing.made_of_tensor(file, part) for part in found.others)


def _from_nothing(file: File, found: Collected, again: repetition.Repetition) -> bool:
    """Whether what is collected is an empty tensor or list before the loop."""
    before = found.before(again.place) if isinstance(again.place, (cst.For, cst.While)) else []
    return bool(before) and all(is_empty(file, value) for value in before)


def _step_by_step(file: File, found: Collected, again: repetition.Repetition) -> bool:
    """Whether rows are collected in steps that are counted, or from None on; a network that is built joins channels."""
    if not isinstance(again.place, (cst.For, cst.While)):
        return False
    counted = isinstance(again.over, Items) and again.over.function == "range"
    before = found.before(again.place)
    none = bool(before) and all(file.value(value) == Const(None) for value in before)
    return isinstance(again.place, cst.While) or counted or none


def _in_layer(file: File, concat: Call) -> bool:
    function = file.contexts.function(concat.node)
    owner = file.class_of(function) if function is not None else None
    return owner is not None and file.values.classes.derives(owner, "tf.keras.layers.Layer")


def _of_layer(value: Value) -> bool:
    """Whether a value is the output of a layer, which may be one of those that a network is built of."""
    made = value.origin.name if isinstance(value, Array) and value.origin is not None else None
    return made == "tf.keras.layers.Layer.__call__"


def _calls_items(file: File, again: repetition.Repetition) -> bool:
    """Whether the loop calls its items, layers that is, one after the other."""
    items = again.items
    return any(isinstance(call.node.func, cst.Name) and call.method in items for call in calls(file, again.place))
