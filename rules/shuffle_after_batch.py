from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Array,
    Call,
    Dataset,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Shows,
    Step,
    elements,
    fixes,
    integer,
    knowledge,
    on_call,
    pipelines,
    show_bytes,
)

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
    When the data is stored as batches and their order is all that should change; then keep the buffer small. Up to
    10 000 rows of a table that its source has shuffled (`make_csv_dataset`) are not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#shuffle
    """

    code = "TFM307"
    summary = "shuffle() after batch() buffers whole batches"
    fix_safety = (Safety.UNSAFE,)

    @on_call("tf.data.Dataset.shuffle")
    def check(self, shuffle: Call, file: File) -> Iterator[Finding]:
        buffer, batch = integer(shuffle.value_of("buffer_size")), pipelines.batched_before(shuffle)
        if batch is None or (buffer is not None and buffer <= SMALL_BUFFER):
            return
        step = pipelines.last_before(shuffle, *pipelines.BATCHES)
        if integer(batch.given("batch_size")) == 1 or (step is not None and self._sequences(shuffle, file)):
            return
        if pipelines.never_runs(file, shuffle) or pipelines.mixes_little(batch, shuffle, SMALL_BUFFER):
            return
        datasets = shuffle.datasets()
        cached = all(pipelines.kept_by_cache(ds) for ds in datasets)
        size, count = pipelines.element_bytes(datasets), pipelines.element_count(datasets)
        filled = count is not None or all("repeat" in ds.names() for ds in datasets)
        kept = min(buffer, count) if buffer is not None and count is not None else buffer
        cost = size * kept if size is not None and kept is not None and filled and not cached else None
        held = "whole batches" if kept is None else f"{kept} batches" if filled else f"up to {kept} batches"
        weigh = f": {show_bytes(cost)}" if cost is not None else f" of {show_bytes(size)}" if size is not None else ""
        does = "only reorders cached batches" if cached else f"buffers {held}{weigh}"
        instead = "shuffle first, then batch" if step is not None else self._instead(batch)
        directly = step is not None and len(datasets) == 1 and not pipelines.steps_between(shuffle, step)
        edits = fixes.move_link(file, [batch, shuffle], -1, 0) if directly else None
        yield self.finding(
            shuffle,
            file,
            f"shuffle() after batch() {does} and never mixes their examples; {instead}",
            fix=Fix.unsafe("shuffle before batching", edits),
            related=[(batch, "batched here")],
            bytes=cost,
            contrast=None if cached else fixes.leave_out(file, shuffle),
            shows=Shows(metric="unmixed") if cached and edits is None else None,
        )

    def _instead(self, source: Call) -> str:
        """What to do where the source itself gives batches."""
        if knowledge.in_group(source.name, "shuffles_examples"):
            return f"{source.method}() shuffles single examples itself: give it a shuffle_buffer_size"
        return "shuffle single examples (batch_size=None)"

    def _sequences(self, shuffle: Call, file: File) -> bool:
        """Whether the batches are examples themselves, as they are when text is cut into sequences."""
        later = file.calls(*(f"tf.data.Dataset.{name}" for name in pipelines.BATCHES))
        if any(self._grouped_again(ds, shuffle, call) for call in later for ds in pipelines.pipelines_of(call.value)):
            return True
        for ds in shuffle.datasets():
            last = max(i for i, step in enumerate(ds.steps) if step.name in pipelines.BATCHES)
            if any(step.name == "map" for step in ds.steps[last:]) and self._of_numbers(ds.steps[last]):
                return True
        return False

    def _grouped_again(self, ds: Dataset, shuffle: Call, later: Call) -> bool:
        """Whether a pipeline groups what it shuffled, as it is."""
        made = [step.call.node if step.call is not None else None for step in ds.steps]
        if shuffle.node not in made or later.node not in made[made.index(shuffle.node) :]:
            return False
        return "unbatch" not in ds.names()[made.index(shuffle.node) : made.index(later.node)]

    def _of_numbers(self, batch: Step) -> bool:
        """Whether a batch groups single numbers or names; not records of files, which a map parses together."""
        datasets = batch.call.datasets() if batch.call is not None else ()
        if all(knowledge.in_group(ds.source, "reads_encoded_records") for ds in datasets):
            return False
        leaves = [leaf for ds in datasets for leaf in elements(ds.element)]
        return bool(leaves) and all(isinstance(leaf, Array) and leaf.shape == () for leaf in leaves)
