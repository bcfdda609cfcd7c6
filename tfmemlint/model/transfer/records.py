"""Records and raw buffers read in TensorFlow: what their features are said to hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.transfer.structures import as_tensor
from tfmemlint.model.transfer.table import dtype_of, models, shape_of
from tfmemlint.model.values import Array, Instance, Mapping, Sequence, Shape, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


@models("tf.io.parse_single_example", "tf.compat.v1.parse_single_example")
def _single(call: Call, target: Value) -> Value:
    return _parsed(call.value_of("features"), ())


@models("tf.io.parse_example", "tf.compat.v1.parse_example")
def _examples(call: Call, target: Value) -> Value:
    return _parsed(call.value_of("features"), _records(call))


@models("tf.io.parse_single_sequence_example", "tf.compat.v1.parse_single_sequence_example")
def _sequence(call: Call, target: Value) -> Value:
    """The features of the whole record, and those of its steps."""
    context, steps = call.value_of("context_features"), call.value_of("sequence_features")
    return Sequence((_parsed(context, ()), _parsed(steps, ())))


@models("tf.io.parse_sequence_example", "tf.compat.v1.io.parse_sequence_example")
def _sequences(call: Call, target: Value) -> Value:
    records = _records(call)
    context, steps = _parsed(call.value_of("context_features"), records), call.value_of("sequence_features")
    return Sequence((context, _parsed(steps, records), Unknown("lengths")))


def _records(call: Call) -> Shape | None:
    """The shape of the records: () for one, their number for a batch of them."""
    given = as_tensor(call.value_of("serialized"))
    return given.shape if isinstance(given, Array) else None


def _parsed(features: Value, records: Shape | None) -> Value:
    """A dictionary with a tensor for each feature."""
    if not isinstance(features, Mapping):
        return Unknown("features that are not seen")
    return Mapping(tuple((key, _feature(kind, records)) for key, kind in features.items), features.open)


def _feature(kind: Value, records: Shape | None) -> Value:
    """The tensor of one feature. How many steps a sequence has only the records say; sparse and ragged ones have no
    shape."""
    name = kind.type_name if isinstance(kind, Instance) else None
    if not isinstance(kind, Instance) or kind.call is None or name not in FIXED:
        return Unknown("a feature of another kind")
    shape, dtype = shape_of(kind.call.value_of("shape")), dtype_of(kind.call.value_of("dtype"), "float32")
    steps: Shape = () if name == "tf.io.FixedLenFeature" else (None,)
    return Array("tf", dtype, None if shape is None or records is None else (*records, *steps, *shape))


FIXED = frozenset({"tf.io.FixedLenFeature", "tf.io.FixedLenSequenceFeature"})


@models("tf.io.decode_raw", "tf.compat.v1.decode_raw")
def _raw(call: Call, target: Value) -> Value:
    """The numbers of a text, whose length only the text says."""
    texts = as_tensor(call.value_of(0))
    shape = texts.shape if isinstance(texts, Array) else None
    dtype = dtype_of(call.value_of("out_type"), "float32")
    return Array("tf", dtype, None if shape is None else (*shape, None), call, True)


@models("tf.ensure_shape")
def _ensured(call: Call, target: Value) -> Value:
    data, shape = as_tensor(call.value_of("x")), shape_of(call.value_of("shape"))
    if not isinstance(data, Array):
        return Array("tf", None, shape)
    if shape is None or (data.shape is not None and len(data.shape) != len(shape)):
        return data
    known = data.shape if data.shape is not None else (None,) * len(shape)
    return replace(data, shape=tuple(a if a is not None else b for a, b in zip(shape, known, strict=True)))


@models("tf.numpy_function", "tf.py_function", "tf.compat.v1.py_func")
def _python(call: Call, target: Value) -> Value:
    """Tensors of the dtypes that the call says; their shapes nobody knows."""
    given = call.value_of("Tout")
    if isinstance(given, Sequence):
        return Sequence(tuple(Array("tf", dtype_of(each, "float32")) for each in given.items), "list")
    dtype = dtype_of(given, "float32")
    return Array("tf", dtype) if dtype is not None else Unknown("what a Python function gives")
