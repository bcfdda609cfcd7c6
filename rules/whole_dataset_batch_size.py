from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._lengths import TINY, covers, is_tiny, picked, whole_length
from tfmemlint_rules._results import only_tensorflow

from tfmemlint.api import (
    Argument,
    Array,
    Call,
    Const,
    Dataset,
    File,
    Finding,
    Fix,
    Length,
    Node,
    Rule,
    Safety,
    Sequence,
    Value,
    elements,
    on_call,
    on_file,
    remove_argument,
    show_bytes,
    walk,
)  # fmt: skip

METHODS = tuple(f"tf.keras.Model.{name}" for name in ("fit", "evaluate", "predict"))
KERAS = frozenset({"epochs", "callbacks", "validation_data", "validation_split", "steps_per_epoch"})
"""Arguments that `fit` has in Keras."""

BUILTIN = frozenset({"len", "int", "self", "np", "tf", "shape"})


class WholeDatasetBatchSize(Rule):
    """
    ## What it does
    Reports `fit`, `evaluate` and `predict` whose `batch_size` is the size of the data (`len(x)`, `x.shape[0]`), and
    those that are given a dataset and a `batch_size`, which then does nothing.

    ## Why it costs memory
    The activations of every layer grow with the batch. With all of the data in one batch they do not fit as soon as
    the data is larger than a toy. A dataset makes its own batches: there `batch_size` has no effect, and the number
    that you see is not the number that is used.

    ## Fix safety
    Shown only: another batch size changes training, and what you meant by the ignored one is not known.

    ## When not to use it
    For methods that need the whole data in each step, such as L-BFGS on a small set.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/keras/Model#fit
    """

    code = "TFM315"
    summary = "one batch of the whole data holds the activations of all examples at once"
    fix_safety = (Safety.DISPLAY,)
    in_tests = False

    @on_file("batch_size")
    def unseen(self, file: File) -> Iterator[Finding]:
        """The same of a model that is not seen, where it is told what only those of Keras are told."""
        for call in map(file.call, file.calls_by_word.get("fit", ())):
            told = {arg.keyword.value for arg in call.node.args if arg.keyword is not None}
            if told & KERAS and not call.target.known and call.receiver_node is not None and only_tensorflow(file):
                yield from self.check(call, file)

    @on_call(*METHODS)
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        size, data = call.arg("batch_size"), self._given(call, "x", 0)
        if size is None or data is None or size.value == Const(None):
            return
        if all(isinstance(option, Dataset) for option in data.value.options):
            yield self.finding(
                call,
                file,
                f"batch_size does nothing here: {call.method}() takes the batches as the dataset makes them; use "
                "batch(n) there",
                fix=Fix("leave it out", (remove_argument(file, call.node, size),), Safety.DISPLAY),
            )
            return
        if picked(data.expression, file):
            return
        length = whole_length(size)
        leaves = [leaf for leaf in elements(data.value) if isinstance(leaf, Array)]
        counts = {leaf.shape[0] for leaf in leaves if leaf.shape}
        all_of_it = covers(size, counts.pop()) if len(counts) == 1 else False
        known = [leaf.bytes for leaf in leaves if leaf.bytes is not None]
        cost = sum(known) if known else None
        if length is not None:
            few = cost <= TINY if cost is not None else is_tiny(length)
            if few or not self._same(length, size, call, file):
                return
        elif not all_of_it or cost is None or cost <= TINY:
            return
        weigh = f" ({show_bytes(cost)} of input)" if cost is not None else ""
        yield self.finding(
            call, file,
            f"one batch holds all of the data{weigh} and the activations of every layer for it; use a small batch_size",
            bytes=cost,
        )  # fmt: skip

    def _given(self, call: Call, name: str, place: int) -> Argument | None:
        """An argument, also of a method that is not seen."""
        return call.arg(name) if call.names else call.arg(name) or call.arg(place)

    def _same(self, length: Length, size: Argument, call: Call, file: File) -> bool:
        """Whether the length is that of the data which the model is given."""
        parts = [part for part in (self._given(call, "x", 0), self._given(call, "y", 1)) if part is not None]
        if any(self._holds(part.value, length.of) for part in parts):
            return True
        given = {name for part in parts for name in self._names(part.expression, file)} - BUILTIN
        said = {n.value for n in walk(size.expression) if isinstance(n, cst.Name)} - BUILTIN
        return bool(said & given) or (isinstance(size.expression, cst.Name) and not length.of.known)

    def _names(self, node: Node, file: File, deep: bool = True) -> Iterator[str]:
        """The names in an expression, and in what those stand for, where no part of it is cut off."""
        for name in walk(node, cst.Name):
            yield name.value
            for d in file.definitions(name) if deep else ():
                if d.value is not None and not any(walk(d.value, cst.Slice)):
                    yield from self._names(d.value, file, deep=False)

    def _holds(self, value: Value, of: Value) -> bool:
        if isinstance(value, Sequence):
            return value == of or any(self._holds(item, of) for item in value.items)
        return of.known and value == of
