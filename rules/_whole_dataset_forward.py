"""Outputs of a whole data set that `predict` gives at once, and `predict` in place of a call of the model."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import (
    Array,
    Call,
    Const,
    Edit,
    File,
    Fix,
    fixes,
    keras,
    pipelines,
    repetition,
    show_bytes,
    tensors,
    uses,
)

FLOAT32 = 4

TEST_SET = 20_000
"""The rows of a large test set, or a fifth of a common data set, which a program runs through its model once, at the
end."""

LARGE_ACTIVATIONS = 32 << 20
"""32 MiB given out by one layer. For 10 000 rows of 784 numbers a call of `Dense(64)` takes no more than `predict`, one
of three layers of 200 takes 46 MiB more for a moment."""

LARGE_OUTPUT = 1 << 30
"""1 GiB of outputs: with the copy that joins the batches more than a small machine has to spare."""

LARGE_ROW = 1 << 20
"""1 MiB for one row, a mask of 512 x 512 as float32: a thousand of them reach the limit above."""

REDUCES = frozenset({"argmax", "argmin", "round", "max", "mean", "sum", "rint"})
"""Functions and methods that leave less of an output, as numbers of classes or whole numbers."""


def holds_little(file: File, call: Call, data: Array) -> bool:
    """Whether a call of a model certainly holds hardly more than `predict` does, which makes a tensor of all the data,
    too: the activations of dense layers for so many rows are few."""
    model = call.receiver if call.method == "call" or (call.method or "").endswith("_on_batch") else call.target
    width, rows = keras.dense_width(file, model), data.shape[0] if data.shape else None
    if width is None or rows is None or rows > TEST_SET:
        return False
    return width * rows * FLOAT32 < LARGE_ACTIVATIONS


def outputs_of_all(file: File, predict: Call) -> tuple[int | None, str] | None:
    """The bytes that a `predict` of a whole data set gives at once, where they are known, and words for them; None
    where they are few, or not known. Of a pipeline, whose length is not known, outputs count that are reduced at once.
    """
    row, data = keras.output_bytes(predict.receiver), predict.arg("x")
    if row is None or data is None or repetition.repeats(file, predict.node, calls=0) is not None:
        return None
    rows = tensors.rows_in(file, data.expression)
    if rows is not None:
        total = rows * row
        return (total, f"of all {rows} rows, {show_bytes(total)},") if total >= LARGE_OUTPUT else None
    found = pipelines.pipelines_of(data.value)
    if not found or row < LARGE_ROW or any("take" in ds.names() for ds in found) or not _is_reduced(file, predict):
        return None
    return None, f"of all examples, {show_bytes(row)} each,"


def _is_reduced(file: File, predict: Call) -> bool:
    """Whether numbers or classes are all that is kept of an output."""
    found = list(uses(file, predict.node))
    kept = (use.call.method if use.call is not None else "" for use in found)
    compared = (isinstance(use.place, (cst.Comparison, cst.ComparisonTarget)) for use in found)
    return any(word in REDUCES for word in kept) or any(compared)


def predicted(file: File, call: Call) -> Fix | None:
    """The call as `predict`, whose result needs no `.numpy()` any more."""
    model = call.receiver_node if call.method == "call" else call.node.func
    if (call.method or "").endswith("_on_batch") or call.given("training") == Const(True) or model is None:
        return None
    if not call.target.known:
        return None
    after = pipelines.called_on(file, call.node)
    end = after if after is not None and file.call(after).method == "numpy" else call.node
    given = fixes.outer_span(file, call.node.args[0].value)
    text = f".predict({file.source.text[given.start : given.end]}, batch_size=256)"
    return Fix.shown("predict in batches", Edit(fixes.outer_span(file, model).end, file.span(end).end, text))
