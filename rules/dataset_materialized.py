from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._keeping import keeping
from tfmemlint_rules._lengths import TFDS_EXAMPLES, TINY, covers, is_tiny, whole_length
from tfmemlint_rules._materialized import small, weight

from tfmemlint.api import Call, Dataset, File, Finding, Node, Rule, on_file, walk

BATCHES = ("tf.data.Dataset.batch", "tf.data.Dataset.padded_batch")


class DatasetMaterialized(Rule):
    """
    ## What it does
    Reports pipelines that are turned into a list, tuple or array as a whole, by a call, a comprehension or a loop that
    appends every element, and batches of the size of the data.

    ## Why it costs memory
    A pipeline makes one element after the other so that only a few are in memory. `list(ds)` keeps all of them, and an
    array made of that list is a second copy.

    ## When not to use it
    When the data is known to be small, as a validation set of a few megabytes.

    ## References
    - https://www.tensorflow.org/guide/data#basic_mechanics
    """

    code = "TFM310"
    summary = "a whole dataset is kept in memory as a list, an array or one batch"
    no_fix = "what should happen to each element is not known"
    in_tests = False

    @on_file("Dataset", "TFRecordDataset", "load", "image_dataset_from_directory", "make_csv_dataset")
    def check(self, file: File) -> Iterator[Finding]:
        for where, ds in keeping(file):
            yield from self._report(where, ds, file)
        for batch in file.calls(*BATCHES):
            yield from self._one_batch(batch, file)

    def _report(self, where: Call | Node, ds: Dataset, file: File) -> Iterator[Finding]:
        if small(ds):
            return
        size = weight(ds)
        yield self.finding(
            where,
            file,
            "this keeps every element of the dataset in memory at once{cost}; take elements as they come",
            bytes=size,
        )

    def _one_batch(self, batch: Call, file: File) -> Iterator[Finding]:
        argument, datasets = batch.arg("batch_size"), batch.datasets()
        length = whole_length(argument)
        counts = {ds.count for ds in datasets}
        all_of_it = covers(argument, counts.pop()) if len(counts) == 1 else False
        all_of_it = all_of_it and not any("batch" in ds.names() for ds in datasets)
        if not datasets or (length is None and not all_of_it) or (length is not None and is_tiny(length)):
            return
        if length is not None and not self._same_data(
            length.of, datasets, argument.expression if argument else None, file
        ):
            return
        sizes = {weight(ds) for ds in datasets}
        size = sizes.pop() if len(sizes) == 1 else None
        if any(small(ds, peeks=False) for ds in datasets) or (all_of_it and (size is None or size <= TINY)):
            return
        yield self.finding(
            batch,
            file,
            "one batch holds the whole dataset{cost}, a second copy of it; batch a few hundred examples",
            bytes=size,
        )

    def _same_data(self, of: object, datasets: tuple[Dataset, ...], expression: Node | None, file: File) -> bool:
        """Whether the length is that of the data in the pipeline, or of something that is not seen and named there."""
        if isinstance(of, Dataset):
            return True
        words = {n.value for n in walk(expression) if isinstance(n, cst.Name)} if expression is not None else set()
        for ds in datasets:
            if of == TFDS_EXAMPLES and ds.source == "tensorflow_datasets.load":
                return True
            if ds.call is not None:
                given = {n.value for arg in ds.call.node.args for n in walk(arg) if isinstance(n, cst.Name)}
                values = {value for arg in ds.call.node.args for value in (file.value(arg.value),)}
                if (words & given) - {"len", "self", "np", "tf"} or of in values or isinstance(expression, cst.Name):
                    return True
        return False
