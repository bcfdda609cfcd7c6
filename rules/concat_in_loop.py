from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._collected import collect_in_list
from tfmemlint_rules._collecting import Collected, collected
from tfmemlint_rules._collecting_reads import used_otherwise
from tfmemlint_rules._iterations import few_iterations

from tfmemlint.api import Array, Call, File, Finding, Rule, Safety, Value, assigned_names, integer, on_call, walk
from tfmemlint.api import Iterator as Items
from tfmemlint.query.results import fetched_in_loop, is_tensor, made_of_tensor

NUMPY = ("np.concatenate", "np.append", "np.vstack", "np.hstack", "np.stack", "np.row_stack")
JOINS = ("concatenate", "append", "vstack", "hstack")
MODULES = ("keras.ops", "experimental.numpy")
TENSOR = ("tf.concat", "tf.stack", *(f"tf.{module}.{name}" for module in MODULES for name in JOINS))
FEW = 8


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
        found = collected(concat, file)
        if found is None:
            return
        loop = next((loop for loop in file.contexts.loops(concat.node) if not few_iterations(loop, file, FEW)), None)
        if loop is None or used_otherwise(found, loop, file) or not self._collects(concat, found, loop, file):
            return
        yield self.finding(
            concat,
            file,
            f"each iteration copies all of {found.name} again, and a tape keeps every copy; "
            "collect a list and join it once",
            fix=collect_in_list(concat, found.assign, loop, file),
            related=[(loop, "the loop")],
        )

    def _collects(self, concat: Call, found: Collected, loop: cst.For | cst.While, file: File) -> bool:
        """Whether the parts are made from the loop's data: not layers' outputs in a model that is being built."""
        values = [file.value(part) for part in found.others]
        if any(isinstance(v, Array) and v.library == "keras" for v in values) or _runs_items(loop, file):
            return False
        channels = concat.name not in NUMPY and integer(concat.value_of("axis")) != 0
        if channels and any(_of_layer(v) for v in values):
            return False
        from_tensorflow = any(is_tensor(file, part) for part in found.others)
        if concat.name in NUMPY:
            bound = assigned_names(loop, file)
            data = file.contexts.over_data(loop) and any(found.reads(part) & bound for part in found.others)
            return (
                from_tensorflow
                or data
                or any(made_of_tensor(file, p) or fetched_in_loop(file, p, loop) for p in found.others)
            )
        if found.starts_empty(loop, file):
            return True
        function = file.contexts.function(concat.node)
        owner = file.class_of(function) if function is not None else None
        if owner is not None and file.values.classes.derives(owner, "tf.keras.layers.Layer"):
            return False
        return file.contexts.over_data(loop) or from_tensorflow or _rows(concat, found, loop, file)


def _rows(concat: Call, found: Collected, loop: cst.For | cst.While, file: File) -> bool:
    """Whether rows are collected, step by step or from nothing on; a network that is built joins channels."""
    if concat.arg("axis") is None or integer(concat.value_of("axis")) != 0:
        return False
    steps = file.contexts.iterated(loop)
    counted = isinstance(steps, Items) and steps.function == "range"
    return isinstance(loop, cst.While) or counted or found.starts_as_none(loop, file)


def _of_layer(value: Value) -> bool:
    """Whether a value is the output of a layer, which may be one of those that a network is built of."""
    made = value.origin.name if isinstance(value, Array) and value.origin is not None else None
    return made == "tf.keras.layers.Layer.__call__"


def _runs_items(loop: cst.For | cst.While, file: File) -> bool:
    """Whether the loop calls its items, layers that is, one after the other."""
    if not isinstance(loop, cst.For):
        return False
    items = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)}
    return any(
        isinstance(n, cst.Call) and isinstance(n.func, cst.Name) and n.func.value in items for n in walk(loop.body)
    )
