from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._consumers import Consumption, consumptions

from tfmemlint.api import Call, Dataset, File, Finding, Fix, Rule, Safety, Severity, append_method, on_file
from tfmemlint.query.pipelines import batched


class UnbatchedDataset(Rule):
    """
    ## What it does
    Reports tf.data pipelines that reach `fit`, `evaluate`, `predict` or a training loop and are certainly not batched.

    ## Why it costs memory
    The model takes the first axis of each element as the batch: `fit` raises, or trains on "batches" that are the rows
    of one example. One step for each example also keeps the accelerator idle and the queue of small tensors long.

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
        found: dict[int, list[Consumption]] = {}
        for use in consumptions(file):
            where = use.node if use.parameter else use.model_call
            if where is not None and all(batched(ds) is False for ds in use.datasets):
                found.setdefault(id(where), []).append(use)
        for uses in found.values():
            yield self._report(uses, file)

    def _report(self, uses: list[Consumption], file: File) -> Finding:
        """One finding for all pipelines that a call is given."""
        use, what = uses[0], "this dataset is"
        if use.parameter == "validation_data":
            what = "the validation dataset is"
        if len(uses) > 1:
            what = "the training and the validation dataset are"
        where = use.node if use.parameter else use.model_call
        assert where is not None
        ends = {id(last.node): last for each in uses if (last := self._last(each.datasets[0])) is not None}
        return self.finding(
            where,
            file,
            f"{what} not batched: each example is taken for a batch; add batch(n) to the pipeline",
            fix=self._suggest(uses, list(ends.values()), file),
            related=[(last, "the pipeline ends here") for last in ends.values()],
        )

    def _last(self, ds: Dataset) -> Call | None:
        return ds.steps[-1].call if ds.steps and ds.steps[-1].call is not None else ds.call

    def _suggest(self, uses: list[Consumption], ends: list[Call], file: File) -> Fix | None:
        parts = any(not isinstance(value, Dataset) for end in ends for value in end.value.options)
        if not ends or parts or any(len(use.datasets) > 1 for use in uses):
            return None  # a call may give several pipelines at once, as tfds.load does
        edits = [append_method(file, last.node, ".batch(32)") for last in ends]
        return Fix("batch the examples", tuple(sorted(edits, key=lambda edit: edit.start)), Safety.DISPLAY)
