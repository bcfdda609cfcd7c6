from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    Dataset,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Step,
    body,
    fixes,
    least,
    on_call,
    pipelines,
    show_each,
)

MANY = 1000
"""Elements from which on a buffer of whole images or sounds is reported although their size is not known."""

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
        datasets, buffer = shuffle.datasets(), least(shuffle.value_of("buffer_size"))
        found = [self._expansion(ds) for ds in datasets]
        step = found[0] if found else None
        if buffer is None or step is None or step.call is None or None in found:
            return
        size, count = pipelines.element_bytes(datasets), datasets[0].count
        held = min(buffer, count) if count is not None else buffer
        cost = size * held if size is not None else None
        if (cost is not None and cost <= file.config.min_bytes) or (cost is None and buffer < MANY):
            return
        yield self.finding(
            shuffle,
            file,
            f"shuffle() after this map holds {held} elements as it made them{show_each(size, held)}; shuffle what it "
            "reads instead",
            fix=self._move(step, datasets[0], shuffle, file) if len(datasets) == 1 else None,
            related=[(step.call, "made here")],
            bytes=cost,
        )

    def _expansion(self, ds: Dataset) -> Step | None:
        """The first map that expands what the shuffle buffers, if nothing between keeps the two apart."""
        first = None
        for step in ds.steps:
            cached = step.name == "cache" and step.call is not None and pipelines.caches_in_memory(step.call)
            if cached or step.name in pipelines.BATCHES | pipelines.REGROUPING:
                first = None  # a shuffle shares what a cache in memory holds
            elif step.name == "map" and first is None and self._expands(step):
                first = step
        return first

    def _expands(self, step: Step) -> bool:
        """Whether a map makes elements larger than those that it is given."""
        small = pipelines.element_bytes(step.call.datasets()) if step.call is not None else None
        large = pipelines.element_bytes(pipelines.pipelines_of(step.call.value)) if step.call is not None else None
        if small is not None and large is not None:
            return large > small
        found = body(step)
        return found.decodes or found.reads or "tf.image.convert_image_dtype" in found.names

    def _move(self, first: Step, ds: Dataset, shuffle: Call, file: File) -> Fix | None:
        steps = ds.steps[ds.steps.index(first) :]
        if PICKS.intersection(step.name for step in steps):
            return None
        return Fix.unsafe("shuffle before the map", fixes.move_link(file, [*(s.call for s in steps), shuffle], -1, 0))
