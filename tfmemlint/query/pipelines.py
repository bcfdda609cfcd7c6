"""What a tf.data pipeline is known to be: batched, random, in memory, and what one element or batch weighs."""

from __future__ import annotations

from tfmemlint.model.axes import has_scalar_part, may_group
from tfmemlint.model.mapped import body
from tfmemlint.model.transfer.datasets import inner_pipelines
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Array, Const, Dataset, Step, Value

D = "tf.data.Dataset"

BATCHING = frozenset(
    {"batch", "padded_batch", "ragged_batch", "sparse_batch", "bucket_by_sequence_length", "group_by_window"}
)
OPAQUE = frozenset({"apply", "flat_map", "interleave", "window", "scan", "rebatch"})
BATCHED_SOURCES = frozenset({
    "tf.keras.utils.image_dataset_from_directory", "tf.keras.utils.text_dataset_from_directory",
    "tf.keras.utils.audio_dataset_from_directory", "tf.keras.utils.timeseries_dataset_from_array",
    "tf.keras.preprocessing.image_dataset_from_directory", "tf.keras.preprocessing.text_dataset_from_directory",
    "tf.data.experimental.make_csv_dataset", "tf.data.experimental.make_batched_features_dataset",
})  # fmt: skip
DIRECTORY_SOURCES = frozenset(f"tf.keras.utils.{kind}_dataset_from_directory" for kind in ("image", "text", "audio"))
"""Sources that read and decode the files of a directory."""
FILE_NAME_SOURCES = frozenset({f"{D}.list_files"})
RECORD_SOURCES = frozenset({
    "tf.data.TFRecordDataset", "tf.data.TextLineDataset", "tf.data.FixedLengthRecordDataset",
    "tf.data.experimental.CsvDataset", "tf.data.experimental.SqlDataset",
})  # fmt: skip
SINGLE_SOURCES = (
    frozenset({f"{D}.from_tensor_slices", f"{D}.range", f"{D}.random"}) | FILE_NAME_SOURCES | RECORD_SOURCES
)
ORDERED_SOURCES = RECORD_SOURCES | {f"{D}.from_tensor_slices", f"{D}.from_tensors", f"{D}.range"}
"""Sources that give the same elements in the same order each time."""


def batched(ds: Dataset) -> bool | None:
    """Whether the elements are batches; None where it cannot be known."""
    state = batched_source(ds)
    for step in ds.steps:
        if step.name in BATCHING:
            state = True
        elif step.name == "unbatch":
            state = False
        elif step.name in ("interleave", "flat_map"):
            state = _batched_inside(step)
        elif step.name in OPAQUE or (step.name == "map" and state is not True and may_group(step)):
            state = None
    return state


def batched_source(ds: Dataset) -> bool | None:
    """Whether the source itself gives batches; None where it cannot be known."""
    if ds.source in BATCHED_SOURCES:
        call = ds.call
        if call is None or call.open:
            return None
        return not (call.arg("batch_size") is not None and call.value_of("batch_size") == Const(None))
    if ds.source == "tensorflow_datasets.load" and ds.call is not None:
        size = ds.call.arg("batch_size")
        return None if ds.call.open else not (size is None or size.value == Const(None))
    if ds.source == f"{D}.from_tensor_slices" and ds.call is not None and _grouped(_sliced(ds)):
        return None
    if ds.source in SINGLE_SOURCES:
        return False
    if ds.source == f"{D}.from_generator" and ds.call is not None:
        made = ds.call.value
        return False if isinstance(made, Dataset) and has_scalar_part(made.element) else None
    if ds.parents:
        states = {batched(p) if isinstance(p, Dataset) else None for p in ds.parents}
        return states.pop() if len(states) == 1 else None
    return None


def _sliced(ds: Dataset) -> Value:
    """One element of the source itself, before any step."""
    made = ds.call.value if ds.call is not None else ds
    return made.element if isinstance(made, Dataset) else ds.element


def _grouped(element: Value) -> bool:
    """Whether all parts of an element may be batches already: first axes of one length, with other axes that differ."""
    shapes = [leaf.shape if isinstance(leaf, Array) else None for leaf in elements(element)]
    known = [shape for shape in shapes if shape]
    if len(known) != len(shapes) or not known:
        return False
    if len(known) == 1:
        return known[0][0] == 1
    return len({shape[0] for shape in known}) == 1 and (known[0][0] == 1 or len({len(shape) for shape in known}) > 1)


def _batched_inside(step: Step) -> bool | None:
    """Whether the pipelines that an `interleave` or `flat_map` makes give batches."""
    if step.call is None:
        return None
    made = [one for ds in step.call.datasets() for one in inner_pipelines(step.call, ds.element)]
    states = {batched(one) for one in made}
    return states.pop() if len(states) == 1 else None


def draws_at_random(step: Step) -> bool | None:
    """Whether a step gives other elements each time it runs; None where its function is not seen."""
    if step.name == "shuffle":
        return True
    if step.name not in ("map", "filter", "flat_map", "interleave", "apply", "scan", "take_while", "group_by_window"):
        return False
    found = body(step)
    return True if found.random else None if found.unseen or found.does("runs_python") else False


def source_draws(ds: Dataset) -> bool | None:
    """Whether the source gives another order or other elements each time it is run through; None if not known."""
    if ds.parents:
        drawn = [
            source_draws(p) or any(draws_at_random(s) for s in p.steps) for p in ds.parents if isinstance(p, Dataset)
        ]
        return True if any(drawn) or (ds.source or "").endswith("sample_from_datasets") else None
    if ds.source in FILE_NAME_SOURCES and ds.call is not None:
        return ds.call.open or ds.call.value_of("shuffle") != Const(False)
    if ds.source in ORDERED_SOURCES:
        return False
    return None


def expensive_source(ds: Dataset) -> bool:
    """Whether the pipeline reads files."""
    return ds.source in FILE_NAME_SOURCES | RECORD_SOURCES
