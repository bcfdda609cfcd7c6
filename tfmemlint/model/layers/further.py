"""Layers that prepare data, attend without heads, or convolve along time: their shapes and parameters, as Keras 3 has
them."""

from __future__ import annotations

import math

from tfmemlint.model.calls import Call
from tfmemlint.model.layers.arguments import Effect, Model, flag, numbers, sizes, whole, word
from tfmemlint.model.layers.spatial import windows
from tfmemlint.model.values import Const, Shape


def _normalization(call: Call, shape: Shape) -> Effect | None:
    """Mean, variance and a count for each place of the axes that are kept apart, where they are not given."""
    if call.arg("mean") is not None:
        return Effect(shape, 0)
    axes = numbers(call.value_of("axis"))
    if axes is None:
        one_for_all = call.arg("axis") is not None and call.value_of("axis") == Const(None)
        axis = None if one_for_all else whole(call, "axis", -1)
        axes = () if axis is None else (axis,)
    kept = [shape[axis] for axis in axes if -len(shape) <= axis < len(shape)]
    return None if None in kept else Effect(shape, 2 * math.prod(n or 0 for n in kept) + 1)


def _text_vectorization(call: Call, shape: Shape) -> Effect | None:
    mode = word(call, "output_mode", "int")
    if mode != "int":
        most = whole(call, "max_tokens")
        return None if most is None else Effect((shape[0], most), 0)
    length = whole(call, "output_sequence_length")
    return Effect((shape[0], length), 0)


def _category_encoding(call: Call, shape: Shape) -> Effect | None:
    count, mode = whole(call, "num_tokens"), word(call, "output_mode", "multi_hot")
    if count is None or mode not in ("multi_hot", "one_hot", "count"):
        return None
    if mode == "one_hot":
        inner = shape[1:-1] if len(shape) > 1 and shape[-1] == 1 else shape[1:]
        return Effect((shape[0], *inner, count), 0)
    return Effect((*shape[:-1], count) if len(shape) > 1 else (shape[0], count), 0)


def _looked_up(call: Call, shape: Shape) -> Effect | None:
    """Numbers in place of words or of other numbers."""
    return Effect(shape, 0) if word(call, "output_mode", "int") == "int" else None


def _conv_lstm(rank: int) -> Model:
    """A recurrent layer whose products are convolutions."""

    def model(call: Call, shape: Shape) -> Effect | None:
        filters, bias, channels = whole(call, "filters"), flag(call, "use_bias", True), shape[-1]
        kernel, strides = sizes(call, "kernel_size", rank, 0), sizes(call, "strides", rank, 1)
        dilation, padding = sizes(call, "dilation_rate", rank, 1), word(call, "padding", "valid")
        whole_sequence, state = flag(call, "return_sequences", False), flag(call, "return_state", False)
        if len(shape) != rank + 3 or filters is None or channels is None or bias is None or not kernel or not strides:
            return None
        if 0 in kernel or 0 in strides or dilation is None or padding not in ("valid", "same"):
            return None
        if whole_sequence is None or state is not False or call.arg("data_format") is not None:
            return None
        space = windows(shape[2:-1], kernel, strides, dilation, padding)
        if space is None:
            return None
        cells = math.prod(kernel)
        count = 4 * filters * (cells * (channels + filters) + bias)
        given = (shape[0], shape[1], *space, filters) if whole_sequence else (shape[0], *space, filters)
        return Effect(given, count)

    return model


def attended(call: Call, shapes: list[Shape]) -> Effect | None:
    """`Attention` and `AdditiveAttention`: for each query a sum of values."""
    if len(shapes) not in (2, 3) or any(len(shape) != 3 for shape in shapes):
        return None
    query, value = shapes[0], shapes[1]
    additive = (call.name or "").endswith("AdditiveAttention")
    scaled = flag(call, "use_scale", additive)
    mode = "dot" if additive else word(call, "score_mode", "dot")
    if scaled is None or mode is None or (additive and query[2] is None):
        return None
    count = (query[2] or 0) if additive and scaled else int(bool(scaled)) + (mode == "concat")
    return Effect((*query[:2], value[2]), count)


def dotted(call: Call, shapes: list[Shape]) -> Effect | None:
    """`Dot`: products along one axis of each of two inputs."""
    if len(shapes) != 2:
        return None
    given = numbers(call.value_of("axes"))
    one = whole(call, "axes") if given is None else None
    axes = (one, one) if one is not None else given
    if axes is None or len(axes) != 2:
        return None
    places = [axis % len(shape) for axis, shape in zip(axes, shapes, strict=True) if axis is not None]
    if 0 in places or len(places) != 2:
        return None
    first, second = (
        [n for place, n in enumerate(shape) if place not in (0, axis)]
        for shape, axis in zip(shapes, places, strict=True)
    )
    return Effect((shapes[0][0], *(first + second or [1])), 0)


def _cropped(call: Call, shape: Shape) -> Effect | None:
    height, width = whole(call, "height"), whole(call, "width")
    known = height is not None and width is not None and len(shape) == 4
    return Effect((shape[0], height, width, shape[-1]), 0) if known else None


def _rms_normalization(call: Call, shape: Shape) -> Effect | None:
    axis = whole(call, "axis", -1)
    size = shape[axis] if axis is not None and -len(shape) <= axis < len(shape) else None
    return Effect(shape, size) if size is not None else None


FURTHER: dict[str, Model] = {
    "Normalization": _normalization, "TextVectorization": _text_vectorization, "CategoryEncoding": _category_encoding,
    **dict.fromkeys(("StringLookup", "IntegerLookup", "Hashing", "Discretization"), _looked_up),
    **{f"ConvLSTM{rank}D": _conv_lstm(rank) for rank in (1, 2, 3)}, "RandomCrop": _cropped,
    "RMSNormalization": _rms_normalization,
}  # fmt: skip
"""Layers by name that take one input."""
