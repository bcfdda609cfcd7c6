from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Argument,
    Call,
    Dataset,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Step,
    at_most,
    fixes,
    least,
    limits,
    on_call,
    pipelines,
    show_each,
)

MANY = 1000
"""Elements from which on a buffer of whole images or sounds is reported although their size is not known."""

SMALLER = "take a smaller buffer, as one before the cache would keep one order for good"
"""What helps where a shuffle in front of the cache would freeze the order."""

PICKS = frozenset({"filter", "take", "skip", "shard", "cache"})
"""Steps that leave elements as they are, but over which a shuffle cannot be moved: others would be left, or kept."""


class ShuffleAfterDecode(Rule):
    """
    ## What it does
    Reports `shuffle(n)` with a large buffer, or one for the whole data, after a `map` that reads files, decodes or
    resizes images or sound, or casts to a larger dtype, or of images that `tensorflow_datasets` has decoded already and
    that are resized behind it. Behind a cache in memory, or right before one, the buffer
    only refers to elements that the cache keeps, and nothing is reported. Of a buffer for the whole data behind a cache
    in a file TFM309 speaks.

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
        argument, datasets = shuffle.arg("buffer_size"), shuffle.datasets()
        found = [pipelines.expanding_map(ds) for ds in datasets]
        step = found[0] if found else None
        yield from self._of_tfds(shuffle, file)
        if argument is None or step is None or step.call is None or None in found:
            return
        if pipelines.kept_anyway(file, shuffle):
            return
        size, count = pipelines.element_bytes(datasets), datasets[0].count
        held, whole = self._number(argument, count)
        saved = any(map(pipelines.is_saved, datasets))
        if saved and whole:
            return  # TFM309 advises a smaller buffer
        cost = size * held if size is not None and held is not None else None
        many = whole or (held is not None and held >= MANY)
        most = file.config.min_bytes
        large = (cost is not None and cost > most) or (many and not at_most(cost, most))
        all_of_it = pipelines.whole_length(argument) is not None or pipelines.covers(argument, count)
        part = "all of the data" if all_of_it else "a constant part of the data" if whole else ""
        holds = self._held(part, size, held, count)
        if large and not pipelines.never_runs(file, shuffle):
            yield self.finding(
                shuffle,
                file,
                f"shuffle() after this map holds {holds}; {SMALLER if saved else 'shuffle what it reads instead'}",
                fix=self._move(step, datasets[0], shuffle, file) if len(datasets) == 1 else None,
                related=[(step.call, "made here")],
                bytes=cost,
                contrast=fixes.replace_node(file, argument.expression, "1"),
            )

    def _of_tfds(self, shuffle: Call, file: File) -> Iterator[Finding]:
        """Photos of a data set of `tensorflow_datasets`, which decodes them before anything else is done to them."""
        argument, source = shuffle.arg("buffer_size"), pipelines.decoded_by_tfds(file, shuffle)
        if argument is None or source is None or pipelines.never_runs(file, shuffle):
            return
        held, whole = self._number(argument, shuffle.datasets()[0].count)
        if whole or (held is not None and held >= MANY):
            number = f"{held} images" if held is not None else "a constant part of the images"
            yield self.finding(
                shuffle,
                file,
                f"this buffer holds {number} as tensorflow_datasets decodes them, of any size; shuffle fewer, or load "
                "them with tfds.decode.SkipDecoding() and decode behind the shuffle",
                related=[(source, "decoded here")],
                contrast=fixes.replace_node(file, argument.expression, "1"),
            )

    def _number(self, argument: Argument, count: int | None) -> tuple[int | None, bool]:
        """The elements that the buffer holds, as far as known, and whether these are a constant part of all."""
        held, length = least(argument.value), pipelines.whole_length(argument, share=limits.LEAST_SHARE)
        held = min(held, count) if held is not None and count is not None else held
        return held, length is not None and not pipelines.is_tiny(length)

    def _held(self, part: str, size: int | None, held: int | None, count: int | None) -> str:
        fewer = "" if part or count is not None or size is not None else "up to "  # of data of unknown length
        number = f"{fewer}{held} elements" if held is not None else ""
        if not part:
            return f"{number} as it made them{show_each(size, held)}"
        return f"{part} as it made it" + (f" ({number}{show_each(size, held)})" if number else "")

    def _move(self, first: Step, ds: Dataset, shuffle: Call, file: File) -> Fix | None:
        if first not in ds.steps:  # of a pipeline that this one is made of
            return None
        steps = ds.steps[ds.steps.index(first) :]
        if PICKS.intersection(step.name for step in steps):
            return None
        return Fix.unsafe("shuffle before the map", fixes.move_link(file, [*(s.call for s in steps), shuffle], -1, 0))
