from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._datasets import earlier_steps, last_before, steps_between
from tfmemlint_rules._links import links

from tfmemlint.api import (
    Array,
    Call,
    Dataset,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Step,
    elements,
    integer,
    move_link,
    on_call,
    show_bytes,
    structure_bytes,
)
from tfmemlint.query.pipelines import batched_source

GROUPS = ("batch", "padded_batch", "ragged_batch")

RECORDS = frozenset({"tf.data.TFRecordDataset", "tf.data.FixedLengthRecordDataset"})

SMALL_BUFFER = 16
"""Batches that a buffer may hold without notice: a few batches are no cost worth a word."""


class ShuffleAfterBatch(Rule):
    """
    ## What it does
    Reports `shuffle(n)` that comes after `batch()`, where the buffer holds more than 16 batches.

    ## Why it costs memory
    The shuffle buffer holds n elements of the pipeline as it stands there. After `batch(b)` an element is a whole
    batch, so the buffer holds n x b examples; and it only changes the order of batches, never what is in them.

    ## Fix safety
    Unsafe: the order in which examples are seen changes.

    ## When not to use it
    When the data is stored as batches and their order is all that should change; then keep the buffer small.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#shuffle
    """

    code = "TFM307"
    summary = "shuffle() after batch() buffers whole batches"
    fix_safety = (Safety.UNSAFE,)

    @on_call("tf.data.Dataset.shuffle")
    def check(self, shuffle: Call, file: File) -> Iterator[Finding]:
        buffer = integer(shuffle.value_of("buffer_size"))
        if buffer is not None and buffer <= SMALL_BUFFER:
            return
        step = next((step for name in GROUPS if (step := last_before(shuffle, name)) is not None), None)
        batch = step.call if step is not None else self._batched_source(shuffle)
        if batch is None:
            return
        earlier = earlier_steps(shuffle) or ()
        between = steps_between(shuffle, step) if step is not None else [s for steps in earlier for s in steps]
        if any(step.name in ("unbatch", "window", "flat_map", "interleave", "apply") for step in between):
            return
        if (step is not None and self._sequences(shuffle, file)) or integer(batch.value_of("batch_size")) == 1:
            return
        size = self._batch_bytes(shuffle)
        cost = None if size is None or buffer is None else size * buffer
        held = f"{buffer} batches" if buffer is not None else "whole batches"
        weigh = f": {show_bytes(cost)}" if cost is not None else ""
        instead = "shuffle first, then batch" if step is not None else "shuffle single examples (batch_size=None)"
        yield self.finding(
            shuffle,
            file,
            f"shuffle() after batch() buffers {held}{weigh} and never mixes their examples; {instead}",
            fix=self._swap(shuffle, batch, file) if step is not None and not between and len(earlier) == 1 else None,
            related=[(batch, "batched here")],
            bytes=cost,
        )

    def _batched_source(self, shuffle: Call) -> Call | None:
        """The source that gives batches itself, as those that read directories do."""
        datasets = shuffle.datasets()
        if not datasets or not all(batched_source(ds) for ds in datasets):
            return None
        return datasets[0].call

    def _sequences(self, shuffle: Call, file: File) -> bool:
        """Whether the batches are examples themselves, as they are when text is cut into sequences."""
        for later in file.calls(*(f"tf.data.Dataset.{name}" for name in GROUPS)):
            for ds in later.value.options:
                if isinstance(ds, Dataset) and _grouped_again(ds, shuffle, later):
                    return True
        for ds in shuffle.datasets():
            last = max(i for i, step in enumerate(ds.steps) if step.name in GROUPS)
            if any(step.name == "map" for step in ds.steps[last:]) and _numbers(ds.steps[last]):
                return True
        return False

    def _batch_bytes(self, shuffle: Call) -> int | None:
        sizes = {structure_bytes(ds.element) for ds in shuffle.datasets()}
        return sizes.pop() if len(sizes) == 1 else None

    def _swap(self, shuffle: Call, batch: Call, file: File) -> Fix | None:
        chain = links(file, [batch, shuffle])
        return Fix.unsafe("shuffle before batching", move_link(file, chain, 1, 0) if chain is not None else None)


def _grouped_again(ds: Dataset, shuffle: Call, later: Call) -> bool:
    """Whether a pipeline groups what it shuffled, as it is."""
    steps = [s for s in ds.steps if s.call is not None]
    made = [s.call.node for s in steps if s.call is not None]
    if shuffle.node not in made or later.node not in made[made.index(shuffle.node) :]:
        return False
    between = steps[made.index(shuffle.node) : made.index(later.node)]
    return not any(step.name == "unbatch" for step in between)


def _numbers(batch: Step) -> bool:
    """Whether a batch groups single numbers or names; not records of files, which a map parses together."""
    datasets = batch.call.datasets() if batch.call is not None else ()
    if all(ds.source in RECORDS for ds in datasets):
        return False
    leaves = [leaf for ds in datasets for leaf in elements(ds.element)]
    return bool(leaves) and all(isinstance(leaf, Array) and leaf.shape == () for leaf in leaves)
