from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, Dataset, Edit, File, Finding, Fix, Rule, Safety, Severity, fixes, on, pipelines


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

    @on(pipelines.consumptions)
    def check(self, use: pipelines.Consumption, file: File) -> Iterator[Finding]:
        given = {
            "this dataset is": use.datasets if self._single(use.datasets) else (),
            "the validation dataset is": use.validation.datasets if self._single(use.validation.datasets) else (),
        }
        found = {what: datasets for what, datasets in given.items() if datasets}
        if use.taker is None or not found or self._told_size(use):
            return  # one that is told a batch size is TFM315's, which says why that does nothing
        what = next(iter(found)) if len(found) == 1 else "the training and the validation dataset are"
        lasts = [pipelines.last_call(file, datasets[0]) for datasets in found.values()]
        ends = list({last.node: last for last in lasts if last is not None}.values())
        # A call may give several pipelines at once, as tfds.load does.
        sure = all(len(each) == 1 for each in found.values()) and all(pipelines.pipelines_of(end.value) for end in ends)
        edits = [fixes.append_method(file, end.node, ".batch(32)") for end in ends]
        yield self.finding(
            use.taker,
            file,
            f"{what} not batched: each example is taken for a batch; add batch(n) to the pipeline",
            fix=Fix.shown("batch the examples", edits if sure else None),
            related=[(end, "the pipeline ends here") for end in ends],
            contrast=self._batched(use.taker, file),
        )

    def _batched(self, taker: Call, file: File) -> list[Edit]:
        """The same with batches of what the call is given."""
        given = [arg for name in ("x", "validation_data") if (arg := taker.arg(name)) is not None]
        single = [arg for arg in given if self._single(tuple(o for o in arg.value.options if isinstance(o, Dataset)))]
        return [fixes.append_method(file, arg.expression, ".batch(32)") for arg in single]

    def _told_size(self, use: pipelines.Consumption) -> bool:
        told = use.taker is not None and use.taker.names and use.taker.arg("batch_size") is not None
        return bool(told) and self._single(use.datasets)

    def _single(self, datasets: tuple[Dataset, ...]) -> bool:
        return bool(datasets) and all(pipelines.batched(ds) is False for ds in datasets)
