from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._fitted import fitted
from tfmemlint_rules._models import all_models, is_model

from tfmemlint.api import (
    Array,
    Binds,
    Call,
    Const,
    Edit,
    File,
    Finding,
    Fix,
    Instance,
    Node,
    Rule,
    Safety,
    elements,
    on_file,
    outer_span,
    show_bytes,
    walk,
)

MANY_ROWS = 2048
LEAST_BYTES = 256 * 1024
"""Bytes of the input (as float32) below which its activations are hardly worth a word."""

ONE_BATCH = frozenset(f"tf.keras.Model.{name}_on_batch" for name in ("predict", "train", "test"))


class WholeDatasetForward(Rule):
    """
    ## What it does
    Reports a Keras model that is called directly on an array known to be a whole data set.

    ## Why it costs memory
    A call of the model is one batch: every layer's activations for all rows exist together. `predict` runs the rows in
    batches of 32.

    ## Fix safety
    Shown only: `predict` gives a NumPy array and no gradients.

    ## When not to use it
    When the data is small, or gradients of all rows at once are wanted; calls inside a tape are not reported.

    ## References
    - https://keras.io/api/models/model_training_apis/#predict-method
    """

    code = "TFM603"
    summary = "calling a model on a whole data set holds all activations at once"
    fix_safety = (Safety.DISPLAY,)
    in_tests = False

    @on_file("Model", "Sequential", "keras", "load_model")
    def check(self, file: File) -> Iterator[Finding]:
        for node in file.tree.of(cst.Call):
            if not node.args or not isinstance(node.func, (cst.Name, cst.Attribute)):
                continue
            call = file.call(node)
            if not self._forward(call, file):
                continue
            given = call.value_of(0) if call.arg(0) is not None else call.value_of("x")
            whole = [leaf for leaf in elements(given) if isinstance(leaf, Array) and self._whole(leaf)]
            if not whole and not fitted(node.args[0].value, given, file):
                continue
            if not self._elsewhere(node, file) and not self._batch(node.args[0].value, file):
                yield self._report(call, whole[0] if whole else None, file)

    def _forward(self, call: Call, file: File) -> bool:
        """Whether a call runs all that it is given through a model in one batch."""
        if call.name in ONE_BATCH:
            return True
        if call.method == "call" and call.receiver.known:
            return all_models(call.receiver, file)
        return all(isinstance(target, Instance) and is_model(target, file) for target in call.target.options)

    def _whole(self, data: Array) -> bool:
        """Whether the array's rows are many and of some size, and it is data, not a batch cut out of it."""
        if data.library == "keras" or not data.shape or len(data.shape) < 2 or data.shape[0] is None:
            return False
        return data.shape[0] >= MANY_ROWS and (data.size is None or data.size * 4 >= LEAST_BYTES)

    def _batch(self, given: cst.BaseExpression, file: File) -> bool:
        """Whether what is given is an element of a dataset that a loop goes over: a batch, however large."""
        for name in walk(given, cst.Name):
            for d in file.definitions(name):
                over = file.value(d.value) if d.binds is Binds.ITEM and d.value is not None else None
                if d.binds is Binds.ITEM and not isinstance(over, Array):
                    return True
        return False

    def _elsewhere(self, node: cst.Call, file: File, depth: int = 2) -> bool:
        """Whether the call is traced or wants gradients: it stands in a tape, or every call of its function does."""
        if file.contexts.traced(node) or file.contexts.entered(node, "tf.GradientTape") is not None:
            return True
        function = file.contexts.function(node)
        callers = file.values.functions.callers(function) if function is not None and depth else None
        return bool(callers) and all(self._elsewhere(caller.node, file, depth - 1) for caller in callers or ())

    def _report(self, call: Call, data: Array | None, file: File) -> Finding:
        size = data.bytes if data is not None else None
        rows = f"all {data.shape[0]} rows" if data is not None and data.shape else "all rows that are fitted"
        trains = call.name == "tf.keras.Model.train_on_batch"
        advice = "fit(x, y, batch_size=...)" if trains else "predict(x, batch_size=...)"
        if call.given("training") == Const(True):
            advice = "batches of its rows"  # predict() would leave dropout out
        weigh = f" ({show_bytes(size)} of input alone)" if size is not None else ""
        return self.finding(
            call,
            file,
            f"one call is one batch: the activations of {rows} exist together{weigh}; use {advice}",
            fix=self._predict(call, file),
            bytes=size,
        )

    def _predict(self, call: Call, file: File) -> Fix | None:
        """The call as `predict`, whose result needs no `.numpy()` any more."""
        model = call.receiver_node if call.method == "call" else call.node.func
        unlike = call.name in ONE_BATCH or call.value_of("training") == Const(True)
        if unlike or model is None or not call.node.args:
            return None
        at = outer_span(file, call.node.args[0].value)
        end: Node = call.node
        attribute = file.tree.parent(call.node)
        if isinstance(attribute, cst.Attribute) and attribute.attr.value == "numpy":
            end = file.tree.parent(attribute) or end
        text = f".predict({file.source.text[at.start : at.end]}, batch_size=256)"
        edit = Edit(outer_span(file, model).end, file.span(end).end, text)
        return Fix("predict in batches", (edit,), Safety.DISPLAY)
