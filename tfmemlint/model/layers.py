"""Keras layers: the shape that comes out and the number of parameters, from a layer's arguments and its input's shape.

Shapes have the batch size first (None where it is not known). None instead of a result means unknown: a rule that
meets it stops.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tfmemlint.model.calls import Call
from tfmemlint.model.values import Array, Const, Instance, Iterator, Sequence, Shape, Value, constant, integer

L = "tf.keras.layers."


@dataclass(frozen=True, slots=True)
class Effect:
    """What a layer does to one input: the output's shape and the parameters it holds (0 for none)."""

    shape: Shape
    parameters: int


def effect(layer: Value, shape: Shape | None) -> Effect | None:
    """The effect of a layer object on an input of this shape, or None where it is not known for certain."""
    if not isinstance(layer, Instance) or layer.call is None or layer.class_node is not None or shape is None:
        return None
    model = _EFFECTS.get((layer.type_name or "").removeprefix(L))
    if model is None or layer.call.open:
        return None
    return model(layer.call, shape)


def _whole(call: Call, name: str, default: int | None = None) -> int | None:
    if call.arg(name) is None:
        return default
    return integer(call.value_of(name))


def _sizes(call: Call, name: str, rank: int, default: int) -> tuple[int, ...] | None:
    """A size for each of `rank` axes, given as one number or as a tuple."""
    if call.arg(name) is None or call.value_of(name) == Const(None):
        return (default,) * rank
    value = call.value_of(name)
    if isinstance(value, Sequence):
        found = tuple(integer(item) for item in value.items)
        return tuple(n for n in found if n is not None) if len(found) == rank and None not in found else None
    one = integer(value)
    return None if one is None else (one,) * rank


def _flag(call: Call, name: str, default: bool) -> bool | None:
    if call.arg(name) is None:
        return default
    value = constant(call.value_of(name))
    return value if isinstance(value, bool) else None


def _word(call: Call, name: str, default: str) -> str | None:
    if call.arg(name) is None:
        return default
    value = constant(call.value_of(name))
    return value if isinstance(value, str) else None


def _dense(call: Call, shape: Shape) -> Effect | None:
    units, bias, last = _whole(call, "units"), _flag(call, "use_bias", True), shape[-1]
    if units is None or bias is None or last is None:
        return None
    return Effect((*shape[:-1], units), last * units + units * bias)


def _windows(shape: Shape, kernel: tuple[int, ...], strides: tuple[int, ...], dilation: tuple[int, ...], padding: str) -> Shape:
    sizes: list[int | None] = []
    for size, k, s, d in zip(shape, kernel, strides, dilation, strict=True):
        if size is None:
            sizes.append(None)
        elif padding == "valid":
            sizes.append(max(0, (size - (d * (k - 1) + 1)) // s + 1))
        else:
            sizes.append(math.ceil(size / s))
    return tuple(sizes)


def _conv(rank: int, kind: str = "plain") -> Callable[[Call, Shape], Effect | None]:
    def model(call: Call, shape: Shape) -> Effect | None:
        channels, bias = shape[-1], _flag(call, "use_bias", True)
        kernel, strides = _sizes(call, "kernel_size", rank, 0), _sizes(call, "strides", rank, 1)
        dilation, padding = _sizes(call, "dilation_rate", rank, 1), _word(call, "padding", "valid")
        first = _word(call, "data_format", "channels_last") != "channels_last"
        if len(shape) != rank + 2 or channels is None or bias is None or not kernel or 0 in kernel or first:
            return None
        if strides is None or dilation is None or padding not in ("valid", "same"):
            return None
        cells = math.prod(kernel)
        if kind == "depthwise":
            multiplier = _whole(call, "depth_multiplier", 1)
            filters = None if multiplier is None else channels * multiplier
            weights = None if filters is None else cells * filters
        else:
            filters = _whole(call, "filters")
            weights = None if filters is None else _conv_weights(call, kind, cells, channels, filters)
        if filters is None or weights is None:
            return None
        space = _windows(shape[1:-1], kernel, strides, dilation, padding)
        if kind == "transpose":
            if call.arg("output_padding") is not None or any(d != 1 for d in dilation):
                return None
            space = tuple(
                None if n is None else n * s + (max(k - s, 0) if padding == "valid" else 0)
                for n, s, k in zip(shape[1:-1], strides, kernel, strict=True)
            )
        return Effect((shape[0], *space, filters), weights + filters * bias)

    return model


def _conv_weights(call: Call, kind: str, cells: int, channels: int, filters: int) -> int | None:
    if kind == "separable":
        multiplier = _whole(call, "depth_multiplier", 1)
        return None if multiplier is None else cells * channels * multiplier + channels * multiplier * filters
    groups = _whole(call, "groups", 1)
    if not groups or channels % groups:
        return None
    return cells * (channels // groups) * filters


def _pool(rank: int) -> Callable[[Call, Shape], Effect | None]:
    def model(call: Call, shape: Shape) -> Effect | None:
        size, padding = _sizes(call, "pool_size", rank, 2), _word(call, "padding", "valid")
        if len(shape) != rank + 2 or size is None or padding not in ("valid", "same") or call.arg("data_format") is not None:
            return None
        strides = size if call.arg("strides") is None else _sizes(call, "strides", rank, 0)
        if call.arg("strides") is not None and call.value_of("strides") == Const(None):
            strides = size
        if strides is None or 0 in strides:
            return None
        return Effect((shape[0], *_windows(shape[1:-1], size, strides, (1,) * rank, padding), shape[-1]), 0)

    return model


def _global_pool(call: Call, shape: Shape) -> Effect | None:
    keep = _flag(call, "keepdims", False)
    if keep is None or call.arg("data_format") is not None:
        return None
    return Effect((shape[0], *((1,) * (len(shape) - 2) if keep else ()), shape[-1]), 0)


def _flatten(call: Call, shape: Shape) -> Effect | None:
    inner = shape[1:]
    return None if None in inner else Effect((shape[0], math.prod(n or 0 for n in inner)), 0)


def _reshape(call: Call, shape: Shape) -> Effect | None:
    target = call.value_of("target_shape")
    if not isinstance(target, Sequence) or target.open:
        return None
    sizes = [integer(item) for item in target.items]
    total = None if None in shape[1:] else math.prod(n or 0 for n in shape[1:])
    if None in sizes or (-1 in sizes and total is None):
        return None
    known = math.prod(n for n in sizes if n is not None and n != -1)
    return Effect((shape[0], *((total or 0) // max(known, 1) if n == -1 else n for n in sizes)), 0)


def _same(call: Call, shape: Shape) -> Effect | None:
    return Effect(shape, 0)


def _batch_normalization(call: Call, shape: Shape) -> Effect | None:
    scale, center = _flag(call, "scale", True), _flag(call, "center", True)
    axis = _whole(call, "axis", -1)
    last = shape[axis] if axis is not None and -len(shape) <= axis < len(shape) else None
    if scale is None or center is None or last is None:
        return None
    return Effect(shape, last * (2 + scale + center))


def _layer_normalization(call: Call, shape: Shape) -> Effect | None:
    scale, center, last = _flag(call, "scale", True), _flag(call, "center", True), shape[-1]
    if scale is None or center is None or last is None or _whole(call, "axis", -1) != -1:
        return None
    return Effect(shape, last * (scale + center))


def _embedding(call: Call, shape: Shape) -> Effect | None:
    rows, width = _whole(call, "input_dim"), _whole(call, "output_dim")
    if rows is None or width is None:
        return None
    return Effect((*shape, width), rows * width)


def _recurrent(gates: int) -> Callable[[Call, Shape], Effect | None]:
    def model(call: Call, shape: Shape) -> Effect | None:
        units, bias, last = _whole(call, "units"), _flag(call, "use_bias", True), shape[-1]
        sequences, state = _flag(call, "return_sequences", False), _flag(call, "return_state", False)
        if units is None or bias is None or last is None or sequences is None or state is not False or len(shape) != 3:
            return None
        reset = _flag(call, "reset_after", True) if gates == 3 else False
        if reset is None:
            return None
        biases = gates * units * (2 if reset else 1) * bias
        return Effect((shape[0], shape[1], units) if sequences else (shape[0], units), gates * units * (last + units) + biases)

    return model


def _zero_padding(call: Call, shape: Shape) -> Effect | None:
    padding = _sizes(call, "padding", 2, 1)
    if padding is None or len(shape) != 4 or call.arg("data_format") is not None:
        return None
    space = tuple(None if n is None else n + 2 * p for n, p in zip(shape[1:3], padding, strict=True))
    return Effect((shape[0], *space, shape[3]), 0)


def _up_sampling(call: Call, shape: Shape) -> Effect | None:
    size = _sizes(call, "size", 2, 2)
    if size is None or len(shape) != 4 or call.arg("data_format") is not None:
        return None
    return Effect((shape[0], *(None if n is None else n * s for n, s in zip(shape[1:3], size, strict=True)), shape[3]), 0)


_UNCHANGED = ("Dropout", "Activation", "ReLU", "LeakyReLU", "Softmax", "ELU", "GaussianNoise", "GaussianDropout", "Rescaling",
              "SpatialDropout1D", "SpatialDropout2D", "ActivityRegularization", "RandomFlip", "RandomRotation", "RandomZoom",
              "RandomTranslation", "RandomContrast", "Identity")  # fmt: skip

_EFFECTS: dict[str, Callable[[Call, Shape], Effect | None]] = {
    "Dense": _dense, "Flatten": _flatten, "Reshape": _reshape, "BatchNormalization": _batch_normalization,
    "LayerNormalization": _layer_normalization, "Embedding": _embedding, "LSTM": _recurrent(4), "GRU": _recurrent(3),
    "SimpleRNN": _recurrent(1), "ZeroPadding2D": _zero_padding, "UpSampling2D": _up_sampling,
    **{f"Conv{n}D": _conv(n) for n in (1, 2, 3)}, **{f"Conv{n}DTranspose": _conv(n, "transpose") for n in (1, 2, 3)},
    **{f"Convolution{n}D": _conv(n) for n in (1, 2, 3)}, **{f"SeparableConv{n}D": _conv(n, "separable") for n in (1, 2)},
    "DepthwiseConv2D": _conv(2, "depthwise"), "DepthwiseConv1D": _conv(1, "depthwise"),
    **{f"{kind}Pool{end}{n}D": _pool(n) for kind in ("Max", "Average", "Avg") for end in ("", "ing") for n in (1, 2, 3)},
    **{f"Global{kind}Pool{end}{n}D": _global_pool for kind in ("Max", "Average", "Avg") for end in ("", "ing") for n in (1, 2, 3)},
    **dict.fromkeys(_UNCHANGED, _same),
}  # fmt: skip


def first_shape(layer: Value) -> Shape | None:
    """The input shape (batch size first) that a Sequential model's first layer states, or an Input's."""
    if isinstance(layer, Array) and layer.library == "keras":
        return layer.shape
    if not isinstance(layer, Instance) or layer.call is None:
        return None
    for name in ("input_shape", "batch_input_shape", "batch_shape", "shape"):
        value = layer.call.value_of(name)
        if isinstance(value, Sequence) and not value.open:
            sizes = tuple(integer(item) for item in value.items)
            return sizes if name.startswith("batch") else (None, *sizes)
    width = integer(layer.call.value_of("input_dim"))
    if width is not None and not (layer.type_name or "").endswith("Embedding"):
        return (None, width)
    length = integer(layer.call.value_of("input_length"))
    return (None, length) if (layer.type_name or "").endswith("Embedding") else None


def layers_of(model: Call) -> tuple[Value, ...] | None:
    """The layers that a `Sequential([...])` call lists, or None where they are not all seen."""
    listed = model.value_of("layers")
    if isinstance(listed, Iterator) or not isinstance(listed, Sequence) or listed.open:
        return None
    return listed.items
