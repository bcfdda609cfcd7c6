"""Shapes that functions give which pad images, take them apart, or sum products of several tensors."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Sequence as SequenceOf

from tfmemlint.estimate.facts.asked import Asked
from tfmemlint.estimate.facts.values import Traced, plain
from tfmemlint.model.values import Array, Sequence, Value, constant, integer


def argument(call: Asked, place: int, *names: str) -> Value | None:
    """What is passed at a place or by a name; None where nothing is."""
    found = call.given_values.get(place, *names)
    return plain(found) if found is not None else None


def _padded(tensors: SequenceOf[Traced], call: Asked) -> Array | None:
    first = tensors[0]
    if first.shape is None:
        return None
    rows = argument(call, 1, "paddings", "pad_width")
    if isinstance(rows, Array) and rows.origin is not None:  # tf.constant([[0, 0], ...])
        rows = rows.origin.given(0)
    pairs = [_both(row) for row in rows.items] if isinstance(rows, Sequence) and not rows.open else []
    if len(pairs) != len(first.shape) or None in pairs:
        return None
    sizes = [n + pair if n is not None and pair is not None else None
             for n, pair in zip(first.shape, pairs, strict=True)]  # fmt: skip
    return Array(first.library, first.dtype, tuple(sizes))


def _both(row: Value) -> int | None:
    found = [integer(each) for each in row.items] if isinstance(row, Sequence) else []
    return (found[0] or 0) + (found[1] or 0) if len(found) == 2 and None not in found else None


def _patches(tensors: SequenceOf[Traced], call: Asked) -> Array | None:
    """The pieces of images, each as one row: of Keras by one size, of TensorFlow by a list of four."""
    first = tensors[0]
    if first.shape is None or len(first.shape) != 4:
        return None
    batch, *sides, channels = first.shape
    size, stride = _pair(argument(call, 1, "size", "sizes")), _pair(argument(call, 2, "strides"))
    if size is None or channels is None or None in sides:
        return None
    stride = stride or size
    padding = argument(call, 4, "padding")
    same = padding is not None and str(constant(padding)).lower() == "same"
    counts = [
        -(-n // step) if same else (n - part) // step + 1
        for n, part, step in zip(sides, size, stride, strict=True) if n is not None
    ]  # fmt: skip
    return Array(first.library, first.dtype, (batch, *counts, size[0] * size[1] * channels))


def _pair(value: Value | None) -> tuple[int, int] | None:
    found = [integer(each) for each in value.items] if isinstance(value, Sequence) else []
    one = integer(value) if value is not None and not found else None
    if one:
        return one, one
    places = found[1:3] if len(found) == 4 else found
    return (places[0], places[1]) if len(places) == 2 and places[0] and places[1] else None


EQUATION = re.compile(r"([a-z,]+)->([a-z]*)", re.IGNORECASE)


def _summed(tensors: SequenceOf[Traced], call: Asked) -> Array | None:
    """`einsum`, of an equation without dots."""
    said = constant(argument(call, 0, "equation", "subscripts") or call.target)
    found = EQUATION.fullmatch(said.replace(" ", "")) if isinstance(said, str) else None
    terms = found.group(1).split(",") if found is not None else []
    if found is None or len(terms) != len(tensors):
        return None
    sizes: dict[str, int | None] = {}
    for term, tensor in zip(terms, tensors, strict=True):
        if tensor.shape is None or len(tensor.shape) != len(term):
            return None
        sizes.update({letter: n for letter, n in zip(term, tensor.shape, strict=True) if sizes.get(letter) is None})
    if any(letter not in sizes for letter in found.group(2)):
        return None
    return Array(tensors[0].library, tensors[0].dtype, tuple(sizes[letter] for letter in found.group(2)))


BY_NAME: dict[str, Callable[[SequenceOf[Traced], Asked], Array | None]] = {
    "pad": _padded, "extract_patches": _patches, "einsum": _summed,
}  # fmt: skip
