from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Edit,
    File,
    Finding,
    Rule,
    at_most,
    fixes,
    integer,
    limits,
    on,
    on_call,
    pipelines,
    show_bytes,
)

LITTLE = 16 << 20
"""Bytes up to which all elements together are no burden: a twentieth of what importing TensorFlow takes (300 MiB)."""

LARGE = 256 << 20
"""Bytes that a batch of images may have for which no iterator over a folder is made that trains on batches."""


class DatasetMaterialized(Rule):
    """
    ## What it does
    Reports pipelines that are turned into a list, tuple or array as a whole, by a call, a comprehension or a loop that
    puts every element into a list or dictionary, and batches of the size of the data; iterators over a folder of images
    of which only the first batch is taken, where that may have 256 MiB.

    ## Why it costs memory
    A pipeline makes one element after the other so that only a few are in memory. `list(ds)` keeps all of them, and an
    array made of that list is a second copy. `flow_from_directory(..., batch_size=5000)[0]` holds all images as
    float32, and reads all files once more each time that `[0]` stands there.

    ## When not to use it
    When the data is known to be small, as a validation set of a few megabytes; what certainly takes no more than 16 MiB
    is not reported. Neither are records as they are in a program that asks at the keyboard which of them to show.

    ## References
    - https://www.tensorflow.org/guide/data#basic_mechanics
    """

    code = "TFM310"
    summary = "a whole dataset is kept in memory as a list, an array or one batch"
    no_fix = "what should happen to each element is not known"
    in_tests = False

    @on(pipelines.kept_elements)
    def check(self, kept: pipelines.KeptElements, file: File) -> Iterator[Finding]:
        cost = pipelines.all_bytes([kept.dataset])
        if at_most(cost, LITTLE) or pipelines.is_small(kept.dataset):
            return
        if pipelines.shown_to_person(file, kept.dataset) or pipelines.is_one_batch(file, kept.dataset):
            return  # of one batch there is no other element, and the batch is a finding of its own
        message = "this keeps every element of the dataset in memory at once{cost}" + self._instead(kept, file)
        yield self.finding(kept.where, file, message, bytes=cost, contrast=self._kept_none(kept, file))

    def _kept_none(self, kept: pipelines.KeptElements, file: File) -> list[Edit]:
        """The elements made as ever, and none of them kept."""
        if isinstance(kept.without, str):
            return [fixes.replace_node(file, kept.part, kept.without)]
        span, (before, behind) = fixes.outer_span(file, kept.part), kept.without
        return [Edit(span.start, span.start, before), Edit(span.end, span.end, behind)]

    def _instead(self, kept: pipelines.KeptElements, file: File) -> str:
        """What to do instead, by all that is asked of the elements: how many they are, the first one, anything else."""
        above = file.tree.parent(kept.where.node if isinstance(kept.where, Call) else kept.where)
        outer = file.tree.parent(above) if isinstance(above, cst.Arg) else None
        if isinstance(outer, cst.Call) and file.call(outer).name == "builtins.len":
            return " to count them; ds.cardinality() or ds.reduce(0, lambda n, _: n + 1) keeps none"
        index = above.slice[0].slice if isinstance(above, cst.Subscript) else None
        if isinstance(index, cst.Index) and integer(file.value(index.value)) == 0:
            return " for the first of them; next(iter(ds)) makes no other"
        return "; take elements as they come"

    @on_call("tf.data.Dataset.batch", "tf.data.Dataset.padded_batch")
    def one_batch(self, batch: Call, file: File) -> Iterator[Finding]:
        size, datasets = batch.arg("batch_size"), batch.datasets()
        if (
            size is None
            or not pipelines.takes_all(file, size, datasets)
            or any(pipelines.is_small(ds, peeks=False) for ds in datasets)
        ):
            return
        cost = pipelines.all_bytes(datasets)
        if at_most(cost, LITTLE):
            return
        if cost is not None or not pipelines.covers(size, pipelines.element_count(datasets)):
            message = "one batch holds the whole dataset{cost}, a second copy of it; batch a few hundred examples"
            usual = fixes.replace_node(file, size.expression, str(limits.ONE_BATCH))
            yield self.finding(batch, file, message, bytes=cost, contrast=usual)

    @on(pipelines.whole_folders)
    def one_folder(self, folder: pipelines.WholeFolder, file: File) -> Iterator[Finding]:
        size = folder.made.arg("batch_size")
        if folder.most * folder.image < LARGE:
            return
        again = f", and each of the {len(folder.reads)} [0] reads all of them again" if len(folder.reads) > 1 else ""
        yield self.finding(
            folder.made,
            file,
            f"one batch of up to {folder.most:,} images holds the whole folder as float32, {show_bytes(folder.image)} "
            f"an image{again}; give the model the iterator with a small batch_size",
            related=[(read, "the batch is read here") for read in folder.reads],
            contrast=fixes.replace_node(file, size.expression, str(limits.ONE_BATCH)) if size is not None else None,
        )
