"""Which pipelines are small, whatever the number of their elements: names of files, indices, labels, a few."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.mapped import body, function_of
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Array, Dataset, Function, Iterator, Sequence, Step, Value, integer
from tfmemlint.query.limits import FEW_ELEMENTS, PEEKED, RUN_THROUGH, SMALL_DATA, SMALL_SAMPLE
from tfmemlint.query.pipelines.elements import is_label, is_name, is_number
from tfmemlint.query.pipelines.pipelines import BATCHES, MAPPING, REGROUPING, made_by_source, weight
from tfmemlint.units import at_most

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

SLICES = "tf.data.Dataset.from_tensor_slices"

SAID = re.compile(r"path|file|fname|url|shard|pattern|glob|dirs|indices|index|idx|_ids?\b|nodes", re.IGNORECASE)
"""What names and lengths of files and indices are called by.

They only silence, where the data itself is a parameter or comes from another module and the pipeline does not show
whether it opens files later. Without them every further finding on 2800 files of real projects (6) is on names of
files, among them `shuffle(len(input_files))` of the training of BERT.
"""


# -- names and indices -----------------------------------------------------------------------------------------------


def names_or_indices(file: File, step: Call) -> bool:
    """Whether a step of a pipeline handles names of files or indices, as far as can be told: True when in doubt about
    what is spelled like them, False when nothing points there."""
    return any(_of_names(file, ds, step) for ds in step.datasets())


def _of_names(file: File, ds: Dataset, step: Call) -> bool:
    mapped = [done for done in ds.steps if done.name in MAPPING]
    if any(body(done).reads for done in mapped):
        return False
    if knowledge.in_group(ds.source, "lists_files") or (knowledge.in_group(ds.source, "gives_numbers") and not mapped):
        return True
    size = step.arg("buffer_size")
    if ds.source is None and size is not None and _says(file, size.expression):
        return True  # a pipeline of something not known, `shuffle(len(paths))`
    leaves = elements(ds.element)
    if ds.source == SLICES and any(isinstance(leaf, Array) and leaf.dtype == "string" for leaf in leaves):
        return True
    if mapped:
        return False
    if ds.source == SLICES and leaves and all(_counted(leaf) for leaf in leaves):
        return True
    return _opens_later(file, step) or sliced_names(ds)


def _says(file: File, length: cst.BaseExpression) -> bool:
    """Whether a length, or what its name stands for, is spelled as that of names or indices."""
    return bool(SAID.search(file.text(length)) or SAID.search(file.text(file.written(length))))


def _counted(leaf: Value) -> bool:
    """Whether an element is a number out of a range: an index."""
    made = leaf.origin if isinstance(leaf, Array) and leaf.shape == () else None
    return made is not None and knowledge.in_group(made.name, "counts")


def _opens_later(file: File, step: Call) -> bool:
    """Whether a later step of the same pipeline opens files by the names that its elements are."""
    for call in file.calls("tf.data.Dataset.map", "tf.data.Dataset.interleave", "tf.data.Dataset.flat_map"):
        for after in (option for option in call.value.options if isinstance(option, Dataset)):
            comes_after = any(s.call is not None and s.call.node is step.node for s in after.steps)
            if comes_after and body(after.steps[-1]).reads:
                return True
    return False


def sliced_names(ds: Dataset) -> bool:
    """Whether the data that a pipeline slices is called by a name that stands for names or indices."""
    source = ds.call
    argument = source.arg("tensors") if source is not None and ds.source == SLICES else None
    if source is None or argument is None:
        return False
    expression = argument.expression
    if isinstance(expression, (cst.Tuple, cst.List)) and expression.elements:
        expression = expression.elements[0].value
    if isinstance(expression, cst.Call) and expression.args and not is_name(expression.func, "dict"):
        expression = expression.args[0].value  # of `dict(table)`, the columns: rows of numbers
    return bool(SAID.search(source.evaluator.file.text(expression)))


# -- small data ------------------------------------------------------------------------------------------------------


def run_through(value: Value) -> Dataset | None:
    """The pipeline whose elements a value gives one by one, what only counts or converts them taken off; of several
    that it may be the smallest. None if it may be anything else, or a pipeline that is not seen from its beginning."""
    options = [option for each in value.options for option in _unwrapped(each)]
    found = [option for option in options if isinstance(option, Dataset) and option.source is not None]
    if not found or len(found) < len(options):
        return None
    return min(found, key=lambda ds: (not is_small(ds), weight(ds) or 0))


def _unwrapped(value: Value) -> list[Value]:
    if isinstance(value, Iterator) and value.function in RUN_THROUGH:
        return [inner for option in value.of.options for inner in _unwrapped(option)]
    return [value]


def few_examples(datasets: Iterable[Dataset]) -> bool:
    """Whether each of these pipelines certainly has a handful of examples; a batch counts as the examples in it."""
    counts = [_example_count(ds) for ds in datasets]
    return all(count is not None and count <= FEW_ELEMENTS for count in counts)


def _example_count(ds: Dataset) -> int | None:
    """The number of examples, where it is known; of each batch as many as it may hold."""
    each: int | None = 1
    for step in ds.steps:
        if step.name in BATCHES:
            size = integer(step.call.value_of("batch_size")) if step.call is not None else None
            each = each * size if each is not None and size is not None else None
        elif step.name in REGROUPING:
            each = 1
    return ds.count * each if ds.count is not None and each is not None else None


def is_small(ds: Dataset, *, peeks: bool = True) -> bool:
    """Whether all elements together are certainly, or by what they are, no burden: a few, names, labels. Without
    `peeks` it does not count that only a few are taken."""
    if knowledge.in_group(ds.source, "lists_files") and not {"map", "interleave", "flat_map"}.intersection(ds.names()):
        return True
    size, few = weight(ds), peeks and any(_leaves_part(step) for step in ds.steps)
    most = SMALL_SAMPLE if few else SMALL_DATA
    if size is not None and (size > most or at_most(size, most)):
        return size <= most or (peeks and any(_peeks(step) for step in ds.steps))
    if few or _few_in_source(ds) or any(_keeps_labels(step) for step in ds.steps):
        return True
    if ds.source == "tf.data.TFRecordDataset" and "map" not in ds.names():
        return False
    return _undecoded(ds) or all(
        isinstance(leaf, Array) and (is_number(leaf, ds) or leaf.dtype == "string") for leaf in elements(ds.element)
    )


def _few_in_source(ds: Dataset) -> bool:
    """Whether the source has a handful of elements."""
    count = made_by_source(ds).count if ds.call is not None else None
    if ds.source == "tf.keras.utils.timeseries_dataset_from_array" and ds.call is not None:
        data = ds.call.value_of("data")
        if isinstance(data, Sequence):
            return not data.open
        count = data.shape[0] if isinstance(data, Array) and data.shape else None
    return count is not None and count <= FEW_ELEMENTS and ds.source != "tf.data.Dataset.from_tensors"


def _leaves_part(step: Step) -> bool:
    """Whether a step leaves a part that is not known to be more than a few elements."""
    if step.name not in ("take", "shard") or step.call is None:
        return False
    count = integer(step.call.value_of("count")) if step.name == "take" else None
    return count is None or 0 <= count <= FEW_ELEMENTS


def _peeks(step: Step) -> bool:
    count = integer(step.call.value_of("count")) if step.name == "take" and step.call is not None else None
    return count is not None and 0 <= count <= PEEKED


def _keeps_labels(step: Step) -> bool:
    """Whether a map keeps only the last part of each element: the labels."""
    value = function_of(step) if step.name == "map" else None
    node = value.node if isinstance(value, Function) else None
    if not isinstance(node, cst.Lambda):
        return False
    names = [p.name.value for p in node.params.params]
    if len(names) > 1 and is_name(node.body, names[-1]):
        return True
    before = step.call.datasets() if step.call is not None else ()
    return bool(before) and all(is_label(node.body, ds.element) for ds in before)


def _undecoded(ds: Dataset) -> bool:
    """Whether the elements are names that a later step would open, or lines of text: nothing here has opened them."""
    if sliced_names(ds) and not MAPPING.intersection(ds.names()):
        return True
    maps = [step for step in ds.steps if step.name == "map"]
    return ds.source == "tf.data.TextLineDataset" and not any(body(step).decodes for step in maps)
