from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    Dataset,
    File,
    Finding,
    Rule,
    Shows,
    body,
    fixes,
    integer,
    on_call,
    ordering,
    pipelines,
)

ZIP = "tf.data.Dataset.zip"
METHODS = tuple(f"tf.keras.Model.{method}" for method in ("fit", "evaluate", "predict"))
"""What takes batches of examples, and no batches of batches."""


class DoubleBatch(Rule):
    """
    ## What it does
    Reports a `batch()` on a source that gives batches already, and a second `batch()` in a pipeline where it has the
    same size as the first, or where the pipeline is given to a model.

    ## Why it costs memory
    The second batch stacks whole batches: an element has one axis more, and the product of both sizes as examples.
    A model raises on the axis, or takes 32 x 32 examples where 32 were meant.

    ## When not to use it
    When the extra axis is meant, as for sequences or for several devices. So batches of single numbers are not
    reported, nor two batches of different sizes that are not seen to go to a model.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#batch
    """

    code = "TFM316"
    summary = "batching twice makes batches of batches"
    no_fix = "which of the two sizes was meant is not known"

    @on_call("tf.data.Dataset.batch", "tf.data.Dataset.padded_batch")
    def check(self, batch: Call, file: File) -> Iterator[Finding]:
        earlier = pipelines.batched_before(batch)
        if earlier is None or not self._still_batches(earlier, batch):
            return
        if earlier.open or batch.open or ordering.asks_parameter(file, batch.node) or pipelines.never_runs(file, batch):
            return
        wanted = _is_one_of_three(earlier, batch, file) or not _for_model(batch, file)
        if wanted and not _by_source(earlier) and not _same_size(earlier, batch, file):
            return
        sizes = [integer(call.given("batch_size")) for call in (earlier, batch)]
        product = f": {sizes[0]} x {sizes[1]} examples in one" if None not in sizes else ""
        yield self.finding(
            batch,
            file,
            f"this pipeline is batched already, so its elements become batches of batches{product}; batch once",
            related=[(earlier, "batched here")],
            contrast=fixes.leave_out(file, batch),
            shows=Shows(metric="element"),
        )

    def _still_batches(self, earlier: Call, batch: Call) -> bool:
        """Whether what was batched arrives as batches: not as sequences, nor taken apart by a map."""
        step = pipelines.last_before(batch, *pipelines.BATCHES)
        after = pipelines.steps_between(batch, step)
        maps = [each for each in after if each.name == "map"]
        if any(pipelines.takes_batch_apart(each) for each in maps):
            return False
        return step is None or not (
            any(body(each).unseen for each in maps) or pipelines.makes_sequences(earlier, after)
        )


def _is_one_of_three(earlier: Call, batch: Call, file: File) -> bool:
    """Whether a pipeline is grouped three times, which is wanted: examples of a class, classes of a task, tasks."""
    later = pipelines.possible_later_steps(file, batch, *pipelines.BATCHES)
    return bool(later) or pipelines.batched_before(earlier) is not None


def _by_source(earlier: Call) -> bool:
    """Whether the source gives batches by itself."""
    return earlier.name not in ("tf.data.Dataset.batch", "tf.data.Dataset.padded_batch", ZIP)


def _same_size(earlier: Call, batch: Call, file: File) -> bool:
    """Whether both steps are certainly given the same size; of zipped pipelines any that was batched."""
    if earlier.name == ZIP:
        zipped = (each for each in earlier.value.options if isinstance(each, Dataset))
        parents = (each for ds in zipped for each in ds.parents if isinstance(each, Dataset))
        batched = [step for each in parents for step in each.steps if step.name in pipelines.BATCHES]
        return any(step.call is not None and _same_size(step.call, batch, file) for step in batched)
    one, other = earlier.arg("batch_size"), batch.arg("batch_size")
    if one is None or other is None:
        return False
    known = integer(one.value)
    same = known is not None and known == integer(other.value)
    return same or file.reads_alike(one.expression, other.expression)


def _for_model(batch: Call, file: File) -> bool:
    """Whether a model is given what this step makes."""
    given = (option for call in file.calls(*METHODS) for option in call.value_of("x").options)
    steps = (step for each in given if isinstance(each, Dataset) for step in each.steps)
    return any(step.call is not None and step.call.node is batch.node for step in steps)
