from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Argument,
    Array,
    Call,
    Const,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Severity,
    elements,
    facts,
    fixes,
    keras,
    limits,
    on,
    on_call,
    pipelines,
    show_bytes,
    total_bytes,
    tracing,
)

METHODS = tuple(f"tf.keras.Model.{name}" for name in ("fit", "evaluate", "predict"))
KERAS = frozenset({"epochs", "callbacks", "validation_data", "validation_split", "steps_per_epoch"})
"""Arguments that `fit` has in Keras."""


class WholeDatasetBatchSize(Rule):
    """
    ## What it does
    Reports `fit`, `evaluate` and `predict` whose `batch_size` is the size of the data (`len(x)`, `x.shape[0]`), and
    those that are given a dataset that is not batched and a `batch_size`, which does nothing there: this is an error.

    ## Why it costs memory
    The activations of every layer grow with the batch. With all of the data in one batch they do not fit as soon as
    the data is larger than a toy. A dataset makes its own batches: there `batch_size` has no effect, and without
    `batch(n)` in the pipeline the model takes the first axis of each example for the batch.

    ## Fix safety
    Shown only: another batch size changes training, and so does batching what was not batched.

    ## When not to use it
    For methods that need the whole data in each step, such as L-BFGS on a small set; a model that goes over the rows of
    its batch by a number that it keeps of its own works with no smaller one, and is not reported. What a function
    is given by callers that are not seen may be a batch, and is not reported for `predict` and one epoch of `fit`.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/keras/Model#fit
    """

    code = "TFM315"
    summary = "one batch of the whole data holds the activations of all examples at once"
    fix_safety = (Safety.DISPLAY,)
    in_tests = False

    @on(facts.calls_of_unknown("fit"), "batch_size")
    def unseen(self, call: Call, file: File) -> Iterator[Finding]:
        """The same of a model that is not seen, where it is told what only those of Keras are told."""
        told = {arg.keyword.value for arg in call.node.args if arg.keyword is not None}
        if told & KERAS and call.receiver_node is not None and tracing.only_tensorflow(file):
            yield from self._check(call, call.arg("x") or call.arg(0), call.arg("y") or call.arg(1), file)

    @on_call(*METHODS)
    def seen(self, call: Call, file: File) -> Iterator[Finding]:
        yield from self._check(call, call.arg("x"), call.arg("y"), file)

    def _check(self, call: Call, x: Argument | None, y: Argument | None, file: File) -> Iterator[Finding]:
        size = call.arg("batch_size")
        if size is None or x is None or size.value == Const(None):
            return
        datasets = pipelines.pipelines_of(x.value)
        if datasets:  # an object of another class than Keras' models may make the batches itself
            if call.names and all(pipelines.batched(ds) is False for ds in datasets):
                yield self._of_dataset(call, x, size, file)
        elif not pipelines.may_be_batch(file, call, x.expression) and not _takes_certain_rows(file, call, x):
            sizes = [leaf.bytes if isinstance(leaf, Array) else None for leaf in elements(x.value)]
            cost = total_bytes(sizes, worth=file.config.least_cost)
            if self._whole(size, [each for each in (x, y) if each is not None], cost, file):
                weigh = f" ({show_bytes(cost)} of input)" if cost is not None else ""
                yield self.finding(
                    call,
                    file,
                    f"one batch holds all of the data{weigh} and the activations of every layer for it; use a small "
                    "batch_size",
                    bytes=cost,
                    contrast=fixes.replace_node(file, size.expression, str(limits.ONE_BATCH)),
                )

    def _of_dataset(self, call: Call, x: Argument, size: Argument, file: File) -> Finding:
        batch = f".batch({file.text(size.expression)})"
        edits = [fixes.append_method(file, x.expression, batch), fixes.remove_argument(file, call.node, size)]
        return self.finding(
            call,
            file,
            f"batch_size does nothing for a dataset, and this one is not batched: {call.method}() takes each example "
            "for a batch; use batch(n) in the pipeline",
            fix=Fix.shown("batch the dataset instead", edits),
            severity=Severity.ERROR,
        )

    def _whole(self, size: Argument, data: list[Argument], cost: int | None, file: File) -> bool:
        """Whether the size is that of the data which the model is given, and that is not small."""
        length = pipelines.whole_length(size)
        if length is not None:
            tiny = cost is None and pipelines.is_tiny(length)
            return not tiny and pipelines.counts_rows(file, size, [each.expression for each in data])
        rows = {leaf.shape[0] for leaf in elements(data[0].value) if isinstance(leaf, Array) and leaf.shape}
        count = rows.pop() if len(rows) == 1 else None
        many = count is not None and count > limits.ONE_BATCH  # fewer are a batch as Keras makes them
        return many and pipelines.covers(size, count) and cost is not None


def _takes_certain_rows(file: File, call: Call, x: Argument) -> bool:
    """Whether the model fails on a smaller batch; a list of inputs is gone over by their number instead."""
    several = isinstance(file.written(x.expression), (cst.List, cst.Tuple))
    return not several and keras.takes_certain_rows(file, call.receiver)
