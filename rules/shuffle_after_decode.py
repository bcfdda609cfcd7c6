from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._datasets import in_memory
from tfmemlint_rules._links import links

from tfmemlint.api import (
    Call,
    Dataset,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Step,
    least,
    move_link,
    on_call,
    show_bytes,
    structure_bytes,
)
from tfmemlint.model.mapped import body

MANY = 1000
"""Elements from which on a buffer of whole images or sounds is reported although their size is not known."""

STOPS = frozenset({
    "batch", "padded_batch", "ragged_batch", "unbatch", "flat_map", "interleave", "window", "apply", "scan",
    "group_by_window", "bucket_by_sequence_length",
})  # fmt: skip
"""Steps that make other elements of what a map made."""

PICKS = frozenset({"filter", "take", "skip", "shard", "cache"})
"""Steps that leave elements as they are, but over which a shuffle cannot be moved: others would be left, or kept."""


class ShuffleAfterDecode(Rule):
    """
    ## What it does
    Reports `shuffle(n)` with a large buffer after a `map` that reads files, decodes or resizes images or sound, or
    casts to a larger dtype.

    ## Why it costs memory
    The buffer holds n elements as they are at that step. Before the map they are file names or compressed bytes, after
    it whole arrays: a thousand JPEG images of 50 KiB are 49 MiB, decoded to 512x512x3 float32 they are 3 GiB.

    ## Fix safety
    Unsafe: each element is still made once, but with op seeds random draws in the map meet other elements.

    ## When not to use it
    When the map makes elements smaller than what it reads, as a crop from large files does.

    ## References
    - https://www.tensorflow.org/guide/data_performance#reducing_memory_footprint
    """

    code = "TFM308"
    summary = "shuffle() after decoding buffers decoded elements"
    fix_safety = (Safety.UNSAFE,)

    @on_call("tf.data.Dataset.shuffle")
    def check(self, shuffle: Call, file: File) -> Iterator[Finding]:
        datasets = shuffle.datasets()
        buffer = least(shuffle.value_of("buffer_size"))
        if not datasets or buffer is None:
            return
        found = [self._expansion(ds) for ds in datasets]
        step = found[0]
        if step is None or step.call is None or any(other is None for other in found):
            return
        sizes = {structure_bytes(ds.element) for ds in datasets}
        size = sizes.pop() if len(sizes) == 1 else None
        held = min(buffer, datasets[0].count) if datasets[0].count is not None else buffer
        cost = size * held if size is not None else None
        if (cost is not None and cost <= file.config.min_bytes) or (cost is None and buffer < MANY):
            return
        weigh = f" of {show_bytes(size)}: {show_bytes(cost)}" if size is not None and cost is not None else ""
        yield self.finding(
            shuffle,
            file,
            f"shuffle() after this map holds {held} elements as it made them{weigh}; shuffle what it reads instead",
            fix=self._move(step, datasets, shuffle, file),
            related=[(step.call, "made here")],
            bytes=cost,
        )

    def _expansion(self, ds: Dataset) -> Step | None:
        """The first map that expands what the shuffle buffers, if nothing between keeps the two apart."""
        first = None
        for step in ds.steps:
            if step.name in STOPS or (step.name == "cache" and step.call is not None and in_memory(step.call)):
                first = None  # a shuffle shares what a cache in memory holds
            elif step.name == "map" and first is None and self._expands(step):
                first = step
        return first

    def _expands(self, step: Step) -> bool:
        assert step.call is not None
        before = {structure_bytes(ds.element) for ds in step.call.datasets()}
        after = {structure_bytes(ds.element) for ds in step.call.value.options if isinstance(ds, Dataset)}
        small, large = before.pop() if len(before) == 1 else None, after.pop() if len(after) == 1 else None
        if small is not None and large is not None:
            return large > small
        found = body(step)
        return found.decodes or found.reads or "tf.image.convert_image_dtype" in found.names

    def _move(self, first: Step, datasets: tuple[Dataset, ...], shuffle: Call, file: File) -> Fix | None:
        if len(datasets) != 1:
            return None
        steps = datasets[0].steps[datasets[0].steps.index(first) :]
        if any(step.name in PICKS for step in steps):
            return None
        chain = links(file, [*(step.call for step in steps), shuffle])
        if chain is None:
            return None
        return Fix("shuffle before the map", move_link(file, chain, len(chain) - 1, 0), Safety.UNSAFE)
