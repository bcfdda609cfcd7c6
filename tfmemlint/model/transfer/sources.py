"""tf.data: where pipelines come from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.knowledge import Examples
from tfmemlint.model.transfer.structures import as_tensor, call_name, rows
from tfmemlint.model.transfer.table import dtype_of, elements, map_structure, models, shape_of
from tfmemlint.model.values import (
    Array,
    Const,
    Dataset,
    Instance,
    Iterator,
    Mapping,
    Method,
    Sequence,
    Unknown,
    Value,
    constant,
    integer,
)
from tfmemlint.syntax.numbers import range_length

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

D = "tf.data.Dataset"
TFDS = "tensorflow_datasets"

INT64 = Array("tf", "int64", ())
STRING = Array("tf", "string", ())


def _slices(value: Value) -> Value:
    if isinstance(value, Sequence) and value.kind == "list":
        return rows(value)
    return map_structure(rows, value)


def _first_length(value: Value) -> int | None:
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
    return Dataset(name, call, (), INT64, range_length(bounds) if name.endswith(".range") else None)


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
            Array("tf", dtype_of(t, "float32"), shape_of(given[i]) if given else None)
            for i, t in enumerate(types.items)
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
    "tf.data.experimental.CsvDataset", "tf.data.FixedLengthRecordDataset", "tf.data.experimental.RandomDataset",
)  # fmt: skip
def _keras_source(call: Call, target: Value) -> Value:
    name = call_name(target)
    element: Value = Unknown("element")
    if name.endswith("image_dataset_from_directory"):
        element = _images(call)
    elif name.endswith("text_dataset_from_directory"):
        element = _labelled(call, Array("tf", "string", _axis(call, 32)), 32)
    made = Dataset(name, call, (), element)
    subset = constant(call.given("subset"))
    return Sequence((made, made)) if subset == "both" else made


def _axis(call: Call, default: int) -> tuple[int | None, ...]:
    """The batch axis of a source that batches, or none where it is told not to."""
    if call.arg("batch_size") is None:
        return () if call.open else (default,)
    value = call.value_of("batch_size")
    return () if value == Const(None) else (integer(value),)


def _images(call: Call) -> Value:
    size = call.value_of("image_size") if call.arg("image_size") is not None else Sequence((Const(256), Const(256)))
    channels = {"grayscale": 1, "rgba": 4}.get(str(constant(call.value_of("color_mode"))), 3)
    shape = shape_of(size)
    if shape is None or call.open:
        return Unknown("images of a size that is not known")
    return _labelled(call, Array("tf", "float32", (*_axis(call, 32), *shape, channels)), 32)


def _labelled(call: Call, data: Array, default: int) -> Value:
    axis = _axis(call, default)
    if call.arg("label_mode") is None:
        label = Array("tf", "int32", axis)
    else:
        mode = call.value_of("label_mode")
        if mode == Const(None):
            return data
        if mode == Const("binary"):
            label = Array("tf", "float32", (*axis, 1))
        else:
            label = Array(
                "tf", "int32" if mode == Const("int") else "float32", axis if mode == Const("int") else (*axis, None)
            )
    return data if call.value_of("labels") == Const(None) else Sequence((data, label))


@models(f"{TFDS}.load", f"{TFDS}.Builder.as_dataset", f"{TFDS}.public_api.load")
def _tfds_load(call: Call, target: Value) -> Value:
    found = _examples(call, target)
    made = Dataset(f"{TFDS}.load", call, (), _element(call, found))
    given = call.arg(0 if call_name(target).endswith("as_dataset") else 1, "split")
    split = given.value if given is not None else call.value_of("split")
    data: Value = _of_split(made, found, split)
    if isinstance(split, Mapping):
        data = Unknown("splits by name")
    elif isinstance(split, Sequence):
        data = Sequence(tuple(_of_split(made, found, each) for each in split.items), "list")
    elif (given is None and not call.open) or split == Const(None):
        names = ("train", "test", "validation")
        data = Mapping(tuple((name, _of_split(made, found, Const(name))) for name in names), open=True)
    elif given is None:
        return Unknown("splits that are passed by **")
    if call_name(target).endswith("as_dataset"):
        return data
    informed = call.value_of("with_info")
    if call.lacks("with_info") or informed == Const(False):
        return data
    return (
        Sequence((data, Instance(f"{TFDS}.DatasetInfo", call)))
        if informed == Const(True)
        else Unknown("with or without info")
    )


def _examples(call: Call, target: Value) -> Examples | None:
    """What is documented of the data set that is loaded, by `load` or a builder, one example at a time."""
    if not (call.lacks("batch_size") or call.value_of("batch_size") == Const(None)):
        return None
    builder = target.receiver if isinstance(target, Method) else None
    named = builder.call if isinstance(builder, Instance) else None if isinstance(target, Method) else call
    name = constant(named.given(0, "name")) if named is not None else None
    return knowledge.tfds_examples(name) if isinstance(name, str) else None


def _element(call: Call, found: Examples | None) -> Value:
    """One example, as `as_supervised` has it."""
    supervised = False if call.lacks("as_supervised") else constant(call.value_of("as_supervised"))
    if found is None or not call.lacks("decoders") or not isinstance(supervised, bool):
        return Unknown("element")
    tensors = {key: Array("tf", dtype, shape) for key, (dtype, shape) in found.features.items()}
    if supervised:
        return Sequence(tuple(tensors[key] for key in found.supervised))
    return Mapping(tuple(tensors.items()))


def _of_split(made: Dataset, found: Examples | None, split: Value) -> Dataset:
    """The pipeline with the number of examples of a whole split."""
    name = constant(split)
    return replace(made, count=found.splits.get(name)) if found is not None and isinstance(name, str) else made


@models(f"{TFDS}.builder")
def _builder(call: Call, target: Value) -> Value:
    return Instance(f"{TFDS}.Builder", call)


@models(f"{TFDS}.as_numpy")
def _as_numpy(call: Call, target: Value) -> Value:
    of = call.value_of(0)
    if not isinstance(of, Dataset):
        return of
    item = map_structure(lambda leaf: replace(leaf, library="np") if isinstance(leaf, Array) else leaf, of.element)
    return Iterator(of, item, "as_numpy_iterator")


@models(f"{D}.load", "tf.data.experimental.load", f"{D}.from_sparse_tensor_slices", "tf.data.experimental.SqlDataset")
def _other(call: Call, target: Value) -> Value:
    return Dataset(call_name(target), call)


@models("h5py.File")
def _stored(call: Call, target: Value) -> Value:
    return Instance("h5py.File", call)
