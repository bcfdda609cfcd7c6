"""tf.data: sources, steps and what they do to the element and the count."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.transfer.table import dtype_of, map_structure, models, shape_of
from tfmemlint.model.values import (
    Array,
    Const,
    Dataset,
    Function,
    Iterator,
    Length,
    Method,
    Sequence,
    Step,
    Unknown,
    Value,
    constant,
    integer,
    one_of,
)

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

D = "tf.data.Dataset"

INT64 = Array("tf", "int64", ())
STRING = Array("tf", "string", ())


def as_tensor(value: Value) -> Value:
    """What a value becomes as a tensor: arrays keep shape and dtype, Python numbers get TensorFlow's defaults."""
    if isinstance(value, Array):
        return replace(value, library="tf", variable=False)
    if isinstance(value, (Const, Length)):
        found = constant(value)
        names = {bool: "bool", int: "int32", float: "float32", str: "string", bytes: "string"}
        return Array("tf", names.get(type(found)), ())
    if isinstance(value, Sequence) and value.items and not value.open:
        first = as_tensor(value.items[0])
        if isinstance(first, Array) and all(isinstance(as_tensor(item), Array) for item in value.items):
            shape = None if first.shape is None else (len(value.items), *first.shape)
            return replace(first, shape=shape)
    return Unknown("not known as a tensor") if value.known else value


def rows(value: Value) -> Value:
    """One slice of a tensor-like value along its first axis."""
    tensor = as_tensor(value)
    if not isinstance(tensor, Array):
        return Unknown("a slice of something not known")
    return replace(tensor, shape=tensor.shape[1:] if tensor.shape else None)


def _slices(value: Value) -> Value:
    if isinstance(value, Sequence) and value.kind == "list":
        return rows(value)
    return map_structure(rows, value) if isinstance(value, Sequence) else map_structure(rows, value)


def _first_length(value: Value) -> int | None:
    from tfmemlint.model.transfer.table import elements

    if isinstance(value, Sequence) and value.kind == "list":
        return None if value.open else len(value.items)
    for leaf in elements(value):
        tensor = as_tensor(leaf)
        if isinstance(tensor, Array) and tensor.shape:
            return tensor.shape[0]
    return None


@models(f"{D}.from_tensor_slices")
def _from_tensor_slices(call: Call, target: Value) -> Value:
    data = call.value_of("tensors")
    return Dataset(f"{D}.from_tensor_slices", call, (), _slices(data), _first_length(data))


@models(f"{D}.from_tensors")
def _from_tensors(call: Call, target: Value) -> Value:
    return Dataset(f"{D}.from_tensors", call, (), map_structure(as_tensor, call.value_of("tensors")), 1)


@models(f"{D}.range", f"{D}.random", "tf.data.experimental.Counter", f"{D}.counter")
def _range(call: Call, target: Value) -> Value:
    name = call_name(target)
    bounds = [integer(call.value_of(i)) for i in range(3) if call.arg(i) is not None]
    count = None
    if name.endswith(".range") and bounds and None not in bounds:
        count = len(range(*[b for b in bounds if b is not None]))
    return Dataset(name, call, (), INT64, count)


@models(f"{D}.list_files", "tf.data.TFRecordDataset", "tf.data.TextLineDataset")
def _files(call: Call, target: Value) -> Value:
    return Dataset(call_name(target), call, (), STRING)


@models(f"{D}.from_generator")
def _from_generator(call: Call, target: Value) -> Value:
    return Dataset(call_name(target), call, (), _signature(call))


def _signature(call: Call) -> Value:
    specification = call.value_of("output_signature")
    if specification.known:
        return map_structure(lambda leaf: leaf if isinstance(leaf, Array) else Unknown("element"), specification)
    types, shapes = call.value_of("output_types"), call.value_of("output_shapes")
    if isinstance(types, Sequence):
        given = shapes.items if isinstance(shapes, Sequence) and len(shapes.items) == len(types.items) else ()
        return Sequence(tuple(
            Array("tf", dtype_of(t, "float32"), shape_of(given[i]) if given else None) for i, t in enumerate(types.items)
        ))  # fmt: skip
    return Array("tf", dtype_of(types, "float32"), shape_of(shapes)) if types.known else Unknown("element")


@models("tf.TensorSpec")
def _tensor_spec(call: Call, target: Value) -> Value:
    return Array("tf", dtype_of(call.value_of("dtype"), "float32") or "float32", shape_of(call.value_of("shape")))


@models(
    "tf.keras.utils.image_dataset_from_directory", "tf.keras.utils.text_dataset_from_directory",
    "tf.keras.utils.audio_dataset_from_directory", "tf.keras.utils.timeseries_dataset_from_array",
    "tf.keras.preprocessing.image_dataset_from_directory", "tf.keras.preprocessing.text_dataset_from_directory",
    "tf.data.experimental.make_csv_dataset", "tf.data.experimental.make_batched_features_dataset",
    "tf.data.experimental.CsvDataset", "tf.data.experimental.SqlDataset", "tf.data.FixedLengthRecordDataset",
    "tf.data.experimental.RandomDataset",
)  # fmt: skip
def _keras_source(call: Call, target: Value) -> Value:
    name = call_name(target)
    element: Value = Unknown("element")
    if name.endswith("image_dataset_from_directory"):
        size = call.value_of("image_size") if call.arg("image_size") is not None else Sequence((Const(256), Const(256)))
        batch = integer(call.value_of("batch_size")) if call.arg("batch_size") is not None else 32
        channels = {"grayscale": 1, "rgba": 4}.get(str(constant(call.value_of("color_mode"))), 3)
        shape = shape_of(size)
        if shape is not None:
            element = Sequence((Array("tf", "float32", (batch, *shape, channels)), Array("tf", None, (batch,))))
    made = Dataset(name, call, (), element)
    subset = constant(call.value_of("subset"))
    return Sequence((made, made)) if subset == "both" else made


@models("tfds.load")
def _tfds_load(call: Call, target: Value) -> Value:
    made = Dataset("tfds.load", call, (), Unknown("element"))
    split = call.value_of("split")
    if call.lacks("split"):
        return Unknown("a dictionary of splits")
    data: Value = Sequence((made,) * len(split.items), "list") if isinstance(split, Sequence) else made
    if not split.known:
        return split
    informed = constant(call.value_of("with_info"))
    return Sequence((data, Unknown("DatasetInfo"))) if informed else data


@models(f"{D}.zip", f"{D}.sample_from_datasets", f"{D}.choose_from_datasets", f"{D}.concatenate",
        "tf.data.experimental.sample_from_datasets", "tf.data.experimental.choose_from_datasets")  # fmt: skip
def _several(call: Call, target: Value) -> Value:
    given: list[Value] = []
    if isinstance(target, Method):
        given.append(target.receiver)
    for argument in call.node.args:
        value = call.evaluator.value(argument.value, call.frame)
        given += value.items if isinstance(value, Sequence) else [value]
    parts = tuple(v for v in given if isinstance(v, Dataset))
    name = call_name(target)
    element: Value = Sequence(tuple(p.element for p in parts)) if name.endswith(".zip") else parts[0].element if parts else Unknown("element")
    if len(parts) != len(given):
        return Dataset(None, call)
    counts = [p.count for p in parts]
    total = None
    if parts and None not in counts:
        known = [c for c in counts if c is not None]
        total = min(known) if name.endswith(".zip") else sum(known) if name.endswith(".concatenate") else None
    return Dataset(name, call, (), element, total, parts)


def call_name(target: Value) -> str:
    """The canonical name of an Api or Method."""
    return str(getattr(target, "name", ""))


# -- steps -----------------------------------------------------------------------------------------------------------

_KEEP = ("cache", "prefetch", "with_options", "snapshot", "ignore_errors", "shuffle", "unique", "filter", "shard",
         "take_while", "rejection_resample", "fingerprint", "sparse_batch", "window", "group_by_window",
         "bucket_by_sequence_length", "flat_map", "interleave", "scan", "apply", "rebatch", "ragged_batch")  # fmt: skip


@models(*(f"{D}.{name}" for name in (
    *_KEEP, "map", "batch", "padded_batch", "unbatch", "repeat", "take", "skip", "enumerate",
)))  # fmt: skip
def _step(call: Call, target: Value) -> Value:
    before = target.receiver if isinstance(target, Method) else Unknown("called on the class")
    if not isinstance(before, Dataset):
        return Dataset(None, call)
    name = call_name(target).rpartition(".")[2]
    if name == "apply":
        return _apply(call, before)
    after = replace(before, steps=(*before.steps, Step(name, call)))
    change = _CHANGES.get(name)
    return change(call, after) if change is not None else after


def _apply(call: Call, before: Dataset) -> Value:
    function = call.value_of("transformation_func")
    results = [
        call.evaluator.functions.apply(option, call, (before,)) if isinstance(option, Function) else Unknown("applied")
        for option in function.options
    ]
    result = one_of(results)
    if result.known:
        return result
    return replace(before, steps=(*before.steps, Step("apply", call)), element=Unknown("element"), count=None)


def _batched(call: Call, ds: Dataset) -> Dataset:
    size = integer(call.value_of("batch_size"))
    element = map_structure(
        lambda leaf: replace(leaf, shape=None if leaf.shape is None else (size, *leaf.shape))
        if isinstance(leaf, Array) else leaf, ds.element,
    )  # fmt: skip
    count = None if ds.count is None or not size else -(-ds.count // size)
    return replace(ds, element=element, count=count)


def _mapped(call: Call, ds: Dataset) -> Dataset:
    function = call.value_of("map_func")
    arguments = ds.element.items if isinstance(ds.element, Sequence) else (ds.element,)
    results = [
        call.evaluator.functions.apply(option, call, arguments) if isinstance(option, Function) else Unknown("mapped")
        for option in function.options
    ]
    element = one_of(results)
    element = map_structure(as_tensor, element) if element.known else Unknown("what the mapped function returns")
    return replace(ds, element=element)


def _changed(ds: Dataset) -> Dataset:
    return replace(ds, element=Unknown("element"), count=None)


def _repeated(call: Call, ds: Dataset) -> Dataset:
    times = integer(call.value_of("count"))
    return replace(ds, count=ds.count * times if ds.count is not None and times is not None and times > 0 else None)


def _taken(call: Call, ds: Dataset) -> Dataset:
    n = integer(call.value_of("count"))
    if n is None or n < 0:
        return replace(ds, count=ds.count if n == -1 else None)
    return replace(ds, count=n if ds.count is None else min(n, ds.count))


def _skipped(call: Call, ds: Dataset) -> Dataset:
    n = integer(call.value_of("count"))
    return replace(ds, count=max(0, ds.count - n) if ds.count is not None and n is not None and n >= 0 else None)


_CHANGES = {
    "batch": _batched, "padded_batch": lambda call, ds: replace(_changed(ds)), "map": _mapped, "repeat": _repeated,
    "take": _taken, "skip": _skipped, "shard": lambda call, ds: replace(ds, count=None),
    "enumerate": lambda call, ds: replace(ds, element=Sequence((INT64, ds.element))),
    "unbatch": lambda call, ds: replace(ds, element=map_structure(rows, ds.element), count=None),
    "filter": lambda call, ds: replace(ds, count=None),
    **{name: lambda call, ds: _changed(ds) for name in ("flat_map", "interleave", "scan", "window", "group_by_window",
       "bucket_by_sequence_length", "rebatch", "ragged_batch", "sparse_batch", "take_while", "unique",
       "rejection_resample", "ignore_errors")},
}  # fmt: skip


@models(f"{D}.as_numpy_iterator")
def _numpy_iterator(call: Call, target: Value) -> Value:
    receiver = target.receiver if isinstance(target, Method) else Unknown("dataset")
    item = map_structure(lambda leaf: replace(leaf, library="np") if isinstance(leaf, Array) else leaf,
                         receiver.element if isinstance(receiver, Dataset) else Unknown("element"))  # fmt: skip
    return Iterator(receiver, item, "as_numpy_iterator")


@models(f"{D}.cardinality", "tf.data.experimental.cardinality", f"{D}.__len__")
def _cardinality(call: Call, target: Value) -> Value:
    of = target.receiver if isinstance(target, Method) else call.value_of("dataset")
    return Length(of, of.count if isinstance(of, Dataset) else None)
