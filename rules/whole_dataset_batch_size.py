from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._dtypes import is_test

from tfmemlint.api import Array, Call, Const, Dataset, File, Finding, Length, Rule, on_call, show_bytes

METHODS = ("tf.keras.Model.fit", "tf.keras.Model.evaluate", "tf.keras.Model.predict")


class WholeDatasetBatchSize(Rule):
    """
    ## What it does
    Reports `batch_size=len(x)` or `x.shape[0]` in `fit`, `evaluate` and `predict`, `batch(len(x))` in a pipeline, and a
    `batch_size` that is ignored because the data is a dataset.

    ## Why it costs memory
    One batch of everything holds the activations of all examples at once, and with `fit` their gradients too. For a dataset
    the argument is ignored: the batch is what the pipeline makes, whatever the number says.

    ## Example
    ```python
    model.fit(x, y, batch_size=len(x))
    ```
    Use batches:
    ```python
    model.fit(x, y, batch_size=32)
    ```

    ## Fix safety
    No fix: the number is yours to choose.

    ## When not to use it
    For full-batch methods on small data.

    ## References
    - https://keras.io/api/models/model_training_apis/#fit-method
    """

    code = "TFM315"
    summary = "one batch of the whole data set holds all activations at once"

    @on_call(*METHODS)
    def method(self, call: Call, file: File) -> Iterator[Finding]:
        size = call.arg("batch_size")
        if size is None or is_test(file) or size.value == Const(None):
            return
        data = call.value_of("x")
        if isinstance(data, Dataset):
            yield self.finding(call, file, "batch_size is ignored for a dataset: its batches are what the pipeline makes; use batch(n) there")
        elif self._whole(size.value, call, file):
            yield self._report(call, size.value, file)

    @on_call("tf.data.Dataset.batch")
    def step(self, call: Call, file: File) -> Iterator[Finding]:
        size = call.value_of("batch_size")
        if self._whole(size, call, file) and not is_test(file):
            yield self._report(call, size, file)

    def _whole(self, size: object, call: Call, file: File) -> bool:
        if not isinstance(size, Length) or (size.count is not None and size.count <= 1024):
            return False
        return not (isinstance(size.of, Array) and size.of.bytes is not None and size.of.bytes < 1024 * 1024)

    def _report(self, call: Call, size: object, file: File) -> Finding:
        of = size.of if isinstance(size, Length) else None
        cost = of.bytes if isinstance(of, Array) else None
        weigh = f" ({show_bytes(cost)} of input alone)" if cost is not None else ""
        return self.finding(call, file, f"one batch of the whole data set holds all activations at once{weigh}; use a small batch size", bytes=cost)
