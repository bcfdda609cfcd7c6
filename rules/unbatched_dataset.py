from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._consumers import Consumption, consumptions

from tfmemlint.api import Call, Dataset, File, Finding, Fix, Rule, Safety, Severity, on_file
from tfmemlint.fix.edits import append_method
from tfmemlint.model.pipelines import batched


class UnbatchedDataset(Rule):
    """
    ## What it does
    Reports tf.data pipelines that reach `fit`, `evaluate`, `predict` or a training loop and are certainly not batched.

    ## Why it costs memory
    The model takes the first axis of each element as the batch: `fit` raises, or trains on "batches" that are the rows
    of one example. One step for each example also keeps the accelerator idle and the queue of small tensors long.

    ## Example
    ```python
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000)
    model.fit(ds)
    ```
    Batch it:
    ```python
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(32)
    model.fit(ds)
    ```

    ## Fix safety
    Shown only: the batch size is yours to choose.

    ## When not to use it
    When the elements are batches already in a way that the code does not show; then say so with a comment.

    ## References
    - https://www.tensorflow.org/guide/data#batching_dataset_elements
    """

    code = "TFM301"
    summary = "an unbatched dataset reaches the model"
    severity = Severity.ERROR
    fix_safety = (Safety.DISPLAY,)

    @on_file("fit", "evaluate", "predict", "Dataset", "TFRecordDataset")
    def check(self, file: File) -> Iterator[Finding]:
        for use in consumptions(file):
            where = use.node if use.parameter else use.model_call
            if where is None or not all(batched(ds) is False for ds in use.datasets):
                continue
            last = self._last(use.datasets[0])
            what = "the validation dataset" if use.parameter == "validation_data" else "this dataset"
            related = [(last, "the pipeline ends here")] if last is not None else []
            yield self.finding(
                where,
                file,
                f"{what} is not batched: each example is taken for a batch; add batch(n) to the pipeline",
                fix=self._suggest(use, file),
                related=related,
            )

    def _last(self, ds: Dataset) -> Call | None:
        return ds.steps[-1].call if ds.steps and ds.steps[-1].call is not None else ds.call

    def _suggest(self, use: Consumption, file: File) -> Fix | None:
        last = self._last(use.datasets[0])
        if last is None or len(use.datasets) > 1:
            return None
        return Fix("batch the examples", (append_method(file, last.node, ".batch(32)"),), Safety.DISPLAY)
