from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._models import is_model

from tfmemlint.api import Array, Call, File, Finding, Fix, Instance, Rule, Safety, on_file, show_bytes
from tfmemlint.finding import Edit
from tfmemlint.fix.edits import outer_span

MANY_ROWS = 2048


class WholeDatasetForward(Rule):
    """
    ## What it does
    Reports a Keras model that is called directly on an array known to be a whole data set.

    ## Why it costs memory
    A call of the model is one batch: every layer's activations for all rows exist together. `predict` runs the rows in
    batches of 32.

    ## Example
    ```python
    (x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
    scores = model(x_test)
    ```
    Predict in batches:
    ```python
    scores = model.predict(x_test, batch_size=256)
    ```

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

    @on_file("load_data", "zeros", "ones", "random", "rand", "randn", "load", "normal", "uniform")
    def check(self, file: File) -> Iterator[Finding]:
        for node in file.tree.of(cst.Call):
            if not node.args or not isinstance(node.func, (cst.Name, cst.Attribute)):
                continue
            call = file.call(node)
            if not all(isinstance(t, Instance) and is_model(t, file) for t in call.target.options) and call.name != "tf.keras.Model.predict_on_batch":
                continue
            data = call.value_of(0) if call.arg(0) is not None else call.value_of("x")
            if isinstance(data, Array) and self._whole(data) and not self._elsewhere(node, file):
                yield self._report(call, data, file)

    def _whole(self, data: Array) -> bool:
        """Whether the array's rows are many and it is data, not a batch cut out of it."""
        if data.library == "keras" or not data.shape or len(data.shape) < 2 or data.shape[0] is None:
            return False
        return data.shape[0] >= MANY_ROWS

    def _elsewhere(self, node: cst.Call, file: File) -> bool:
        return file.contexts.traced(node) or file.contexts.entered(node, "tf.GradientTape") is not None

    def _report(self, call: Call, data: Array, file: File) -> Finding:
        size = data.bytes
        rows = data.shape[0] if data.shape else None
        weigh = f" ({show_bytes(size)} of input alone)" if size is not None else ""
        return self.finding(
            call,
            file,
            f"one call is one batch: the activations of all {rows} rows exist together{weigh}; use predict(x, batch_size=...)",
            fix=self._predict(call, file),
            bytes=size,
        )

    def _predict(self, call: Call, file: File) -> Fix | None:
        if call.method == "predict_on_batch" or not call.node.args:
            return None
        at = outer_span(file, call.node.args[0].value)
        edit = Edit(file.span(call.node.func).end, file.span(call.node).end, f".predict({file.source.text[at.start : at.end]}, batch_size=256)")
        return Fix("predict in batches", (edit,), Safety.DISPLAY)
