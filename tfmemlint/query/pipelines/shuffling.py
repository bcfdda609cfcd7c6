"""What a pipeline makes of its own, and what it only hands on: references to what is in memory anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.mapped import body, function_of
from tfmemlint.model.transfer.table import elements, structure_bytes
from tfmemlint.model.values import Array, Const, Dataset, Function, Instance, Step, constant, integer
from tfmemlint.query.limits import SMALL_DATA
from tfmemlint.query.pipelines.chains import following, later_steps
from tfmemlint.query.pipelines.mapped import cheap, only_regroups
from tfmemlint.query.pipelines.pipelines import (
    BATCHES,
    MAPPING,
    REGROUPING,
    batched,
    caches_in_memory,
    element_bytes,
    made_by_source,
    pipelines_of,
)
from tfmemlint.units import AtLeast, at_most

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.model.values import Value

HANDS_ON = frozenset({
    "shuffle", "take", "skip", "shard", "filter", "repeat", "prefetch", "with_options", "enumerate", "cache",
})  # fmt: skip
"""Steps that hand on the tensors which they are given, some or all of them."""

KEEPS_ALL = frozenset({"prefetch", "with_options"})
"""Steps that hand on all elements as they are, once."""

ZIP = "tf.data.Dataset.zip"

ALIGNMENT = 64
"""Bytes to which TensorFlow aligns tensors: rows of an array that all begin at a multiple share its memory, of others
most are copied. Measured on 2.21: a buffer of 10 000 rows of 4096 bytes takes none, of rows of 4112 bytes 33 MB."""


AUTO_CACHED = 250 << 20
"""Bytes of files up to which `tensorflow_datasets` keeps a data set in memory by itself, all splits together
(tensorflow.org/datasets/performances#auto-caching)."""


SMALL_BATCH = 2 << 20
"""2 MiB, a batch that is put together in a millisecond. Measured on two busy cores, behind a cache: 400 pictures of
32 x 32 (1.6 MiB) take 1.0 ms, 32 of 128 x 128 x 3 (6 MiB) 2.3 ms."""


FEW_LINES = 4
"""Lines of text or rows of a table in a batch that a program makes to show how pipelines work."""


def needs_no_prefetch(ds: Dataset) -> bool:
    """Whether a pipeline certainly only picks, regroups and batches what is in memory already, or lines of text as they
    are: there is next to nothing in it to compute or to wait for. Measured: 64 rows of 3 KiB are one batch after half a
    millisecond, 32 lines after a fifth of one, and `fit` is no faster with a prefetch behind it. So does one of a table
    that is tiny as a whole, whatever arithmetic is done to its rows, and one that parses a few numbers of a few lines;
    so do small batches of what a cache in memory keeps.
    """
    if _parses_few_lines(ds) or _batches_of_cache(ds):
        return True
    picks = (HANDS_ON | BATCHES) - {"filter"}
    light = cheap if _cached_by_tfds(ds, SMALL_DATA) else only_regroups
    if not all(step.name in picks or (step.name == "map" and light(step)) for step in ds.steps):
        return False
    if ds.source == "tf.data.Dataset.zip" and ds.parents:
        return all(isinstance(each, Dataset) and needs_no_prefetch(each) for each in ds.parents)
    sources = ("slices_memory", "reads_text_lines")
    return any(knowledge.in_group(ds.source, group) for group in sources) or _cached_by_tfds(ds)


def _parses_few_lines(ds: Dataset) -> bool:
    """Whether each batch is certainly a few lines of text or records, of which maps make numbers."""
    batches = [step for step in ds.steps if step.name in BATCHES and step.call is not None]
    size = integer(batches[0].call.value_of("batch_size")) if len(batches) == 1 and batches[0].call else None
    if size is None or size > FEW_LINES:
        return False
    bodies = [body(step) for step in ds.steps if step.name in MAPPING]
    if any(each.reads or each.decodes or each.unseen for each in bodies):
        return False
    lines = knowledge.in_group(ds.source, "reads_text_lines")
    return lines or (ds.source == "tf.data.TFRecordDataset" and at_most(element_bytes([ds]), SMALL_DATA))


def _batches_of_cache(ds: Dataset) -> bool:
    """Whether all that is done to what a cache in memory keeps is certainly picking and putting it together to small
    batches."""
    batches = (pipelines_of(step.call.value) for step in ds.steps if step.name in BATCHES and step.call is not None)
    picked = next((step for step in reversed(ds.steps) if _cached(step) or not _picks(step)), None)
    if picked is None or not _cached(picked):
        return False
    return all(bool(made) and at_most(element_bytes(made), SMALL_BATCH) for made in batches)


def _picks(step: Step) -> bool:
    return (step.name in HANDS_ON | BATCHES and step.name != "filter") or (step.name == "map" and only_regroups(step))


def _cached_by_tfds(ds: Dataset, most: int = AUTO_CACHED) -> bool:
    """Whether `tensorflow_datasets` certainly keeps the decoded examples in memory: all of them would be small enough
    as they are, and files are smaller; it does not where files are shuffled or the call sets how they are read. With
    `most` all of them certainly take no more bytes than that."""
    call, name = ds.call, _name_of(ds)
    found = knowledge.tfds_examples(name) if name is not None else None
    if call is None or found is None:
        return False
    size = structure_bytes(made_by_source(ds).element)
    files = found.files
    if files is None and size is not None and not isinstance(size, AtLeast):
        files = size * sum(found.splits.values())
    in_order = call.lacks("shuffle_files") or call.value_of("shuffle_files") == Const(False)
    return files is not None and files <= most and in_order and call.lacks("read_config")


def _name_of(ds: Dataset) -> str | None:
    """The name by which `tensorflow_datasets` is asked for the data set that a pipeline begins with."""
    call = ds.call if ds.source == "tensorflow_datasets.load" else None
    if call is not None and isinstance(call.receiver, Instance):  # a builder's `as_dataset`
        call = call.receiver.call
    name = constant(call.given(0, "name")) if call is not None else None
    return name if isinstance(name, str) else None


def expanding_map(ds: Dataset) -> Step | None:
    """The first map that certainly makes larger elements than it is given, if a buffer at the end of the pipeline holds
    them as it made them: no batch, and no cache in memory, whose elements a buffer shares, stands behind it. Of
    pipelines that are joined or mixed all must have one."""
    parts = [expanding_map(part) for part in ds.parents if isinstance(part, Dataset)]
    joined = ds.source != ZIP and parts and None not in parts
    first = parts[0] if joined else None
    decoded = knowledge.in_group(ds.source, "reads_folder") or ds.source == "tensorflow_datasets.load"
    reads = knowledge.in_group(ds.source, "reads_records")
    for step in ds.steps:
        if _cached(step) or step.name in BATCHES | REGROUPING:
            first = None
        elif step.name == "map" and first is None and _expands(step, decoded):
            first = step
        if not decoded and step.name in ("map", "interleave", "flat_map"):
            reads = reads or body(step).reads
            decoded = reads and body(step).decodes
    return first


def is_saved(ds: Dataset) -> bool:
    """Whether a pipeline has a cache that is given the name of a file: shuffled before it, elements would come in one
    order for good."""
    return any(step.name == "cache" and step.call is not None and not _cached(step) for step in ds.steps)


def kept_anyway(file: File, shuffle: Call) -> bool:
    """Whether the elements that a shuffle hands on certainly go straight into a cache in memory, which keeps the same
    tensors for good: the buffer takes no memory beside it."""
    after = next((each for each in following(file, shuffle) if each.method not in KEEPS_ALL), None)
    return after is not None and after.method == "cache" and caches_in_memory(after)


def decoded_by_tfds(file: File, shuffle: Call) -> Call | None:
    """The call of `tensorflow_datasets` that decodes the images which a shuffle buffers, where a later step of the same
    pipeline resizes them: they are of sizes of their own. None where their size is known, and where a cache, of the
    program's or of `tensorflow_datasets` itself, keeps them in memory anyway."""
    datasets = shuffle.datasets()
    if not datasets or not all(_decodes_all(ds) for ds in datasets):
        return None
    resized = any(body(Step("map", call)).decodes for call in later_steps(file, shuffle, "map"))
    return datasets[0].call if resized else None


def _decodes_all(ds: Dataset) -> bool:
    """Whether a pipeline certainly hands on single examples as `tensorflow_datasets` decodes them. Of a data set that
    is not named here the images may be tiny."""
    if _name_of(ds) is None or ds.call is None or batched(ds) is not False:
        return False
    if not ds.call.lacks("decoders") or any(step.name not in HANDS_ON - {"cache"} for step in ds.steps):
        return False
    return _may_have_large(ds) and not _cached_by_tfds(ds)


def _may_have_large(ds: Dataset) -> bool:
    """Whether an example may have an image, that is an array of any size: texts beside it, as names of files, are as
    small as the rest."""
    parts = elements(ds.element)
    return any(not isinstance(part, Array) or (part.bytes is None and part.dtype != "string") for part in parts)


def _expands(step: Step, decoded: bool) -> bool:
    """Whether a map certainly makes larger elements: by their bytes, where these are known. Of images that are
    `decoded` already a resized or cropped one may be as large, or smaller, in a larger dtype, too."""
    if step.call is None or _gives_nothing(step):
        return False
    small, large = element_bytes(step.call.datasets()), element_bytes(pipelines_of(step.call.value))
    if large is not None and at_most(small, large - 1):
        return True
    if small is not None and at_most(large, small):
        return False
    found = body(step)
    if "tf.image.convert_image_dtype" in found.names and not any(map(_resizes, found.names)):
        return True
    return not decoded and (found.decodes or found.reads)


def _resizes(name: str) -> bool:
    """Whether an API makes an image of another size: `tf.image.resize`, `tf.image.random_crop`."""
    return name.startswith("tf.image.") and ("resize" in name or "crop" in name)


def _gives_nothing(step: Step) -> bool:
    """Whether the function of a map is certainly not finished: it returns nothing, which `map` refuses."""
    made = function_of(step)
    if step.call is None or not isinstance(made, Function) or not isinstance(made.node, cst.FunctionDef):
        return False
    leaving = step.call.evaluator.file.returns(made.node)
    return all(each.value is None for each in leaving)


def own_parts(ds: Dataset) -> list[Value]:
    """The parts of an element that a buffer at the end of a pipeline holds memory for: none of what a cache in memory
    keeps anyway, nor rows of arrays that are in memory as a whole and shared. Rows of which the size is not known may
    be: images are, and what is copied of a table is little."""
    made_by = next((step for step in reversed(ds.steps) if _cached(step) or not _hands_on(step)), None)
    if made_by is not None:
        return [] if _cached(made_by) else elements(ds.element)
    if ds.source == ZIP and ds.parents:
        return [part for each in ds.parents for part in (own_parts(each) if isinstance(each, Dataset) else [each])]
    if ds.parents and not any(own_parts(each) for each in ds.parents if isinstance(each, Dataset)):
        return []
    parts = elements(ds.element)
    if ds.source == "tf.data.Dataset.from_tensors":
        return []  # one element, which is the tensor itself
    if not knowledge.in_group(ds.source, "slices_memory"):
        return parts
    sizes = [part.bytes if isinstance(part, Array) else None for part in parts]
    if any(size is None for size in sizes):
        return []
    return [part for part, size in zip(parts, sizes, strict=True) if not size or size % ALIGNMENT]


def kept_by_cache(ds: Dataset) -> bool:
    """Whether a buffer at the end of a pipeline certainly refers to elements that a cache in memory keeps anyway.

    Measured on 2.21, 62 MiB of batches behind a cache: 63 MiB with `prefetch(1)` or `shuffle(1)` behind it, 63 MiB with
    100 of either.
    """
    made_by = next((step for step in reversed(ds.steps) if _cached(step) or not _hands_on(step)), None)
    return made_by is not None and _cached(made_by)


def _hands_on(step: Step) -> bool:
    return step.name in HANDS_ON or (step.name == "map" and only_regroups(step))


def copied_bytes(ds: Dataset) -> int | None:
    """Bytes that all elements take once more where something keeps them: 0 of rows that share the memory of their
    array. None where they are not known. Measured on 2.21, a cache of 50 000 rows: 18.3 MiB for rows of 400 bytes (19.1
    in all), none for rows of 512 bytes."""
    sizes = [leaf.bytes if isinstance(leaf, Array) else None for leaf in elements(ds.element)]
    if ds.count is None or not sizes or any(size is None for size in sizes):
        return None
    return ds.count * sum(part.bytes or 0 for part in own_parts(ds) if isinstance(part, Array))


def _cached(step: Step) -> bool:
    return step.name == "cache" and step.call is not None and caches_in_memory(step.call)
