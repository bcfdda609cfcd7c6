"""What values become as tensors, and their slices along the first axis."""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.model.values import Array, Const, Length, Sequence, Unknown, Value, constant


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
        if isinstance(first, Array) and all(isinstance(as_tensor(item), Array) for item in value.items[1:]):
            shape = None if first.shape is None else (len(value.items), *first.shape)
            return replace(first, shape=shape)
    if isinstance(value, Sequence) and value.items and value.kind == "list":
        return _alike(value)
    return Unknown("not known as a tensor") if value.known else value


def _alike(listed: Sequence) -> Value:
    """The tensor of a list that a loop fills with arrays of one shape, so many that nobody knows."""
    first = listed.items[0]
    if isinstance(first, Array) and all(isinstance(v, Array) and v.shape == first.shape for v in listed.items):
        return replace(first, library="tf", variable=False, shape=(None, *first.shape) if first.shape else None)
    return Unknown("not known as a tensor")


def rows(value: Value) -> Value:
    """One slice of a tensor-like value along its first axis."""
    tensor = as_tensor(value)
    if not isinstance(tensor, Array):
        return Unknown("a slice of something not known")
    return replace(tensor, shape=tensor.shape[1:] if tensor.shape else None)


def call_name(target: Value) -> str:
    """The canonical name of an Api or Method."""
    return str(getattr(target, "name", ""))
