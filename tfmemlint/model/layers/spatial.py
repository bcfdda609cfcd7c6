"""Layers that work on sequences, images and volumes: convolutions, pooling, padding, cropping, resizing."""

from __future__ import annotations

import math

from tfmemlint.model.calls import Call
from tfmemlint.model.layers.arguments import Effect, Model, data_format, flag, numbers, sizes, whole, word
from tfmemlint.model.values import Const, Sequence, Shape


def windows(
    shape: Shape, kernel: tuple[int, ...], strides: tuple[int, ...], dilation: tuple[int, ...], padding: str
) -> Shape | None:
    """The number of windows along each axis; None where the kernel does not fit or the padding is not known."""
    found: list[int | None] = []
    for size, k, s, d in zip(shape, kernel, strides, dilation, strict=True):
        if size is None:
            found.append(None)
        elif padding == "valid":
            if size < d * (k - 1) + 1:
                return None
            found.append((size - (d * (k - 1) + 1)) // s + 1)
        elif padding == "causal" or padding == "same":
            found.append(-(-size // s))
    return tuple(found)


def _conv(rank: int, kind: str = "plain") -> Model:
    def model(call: Call, shape: Shape) -> Effect | None:
        channels, bias = shape[-1], flag(call, "use_bias", True)
        kernel, strides = sizes(call, "kernel_size", rank, 0), sizes(call, "strides", rank, 1)
        dilation, padding = sizes(call, "dilation_rate", rank, 1), word(call, "padding", "valid")
        if (
            len(shape) != rank + 2
            or channels is None
            or bias is None
            or not kernel
            or 0 in kernel
        ):
            return None
        if not strides or 0 in strides or dilation is None or padding not in ("valid", "same", "causal"):
            return None
        cells = math.prod(kernel)
        if kind == "depthwise":
            multiplier = whole(call, "depth_multiplier", 1)
            filters = None if multiplier is None else channels * multiplier
            weights = None if filters is None else cells * filters
        else:
            filters = whole(call, "filters")
            weights = None if filters is None else _conv_weights(call, kind, cells, channels, filters)
        if filters is None or weights is None:
            return None
        if kind == "transpose":
            space = _transposed(call, shape[1:-1], kernel, strides, dilation, padding)
        else:
            space = windows(shape[1:-1], kernel, strides, dilation, padding)
        return None if space is None else Effect((shape[0], *space, filters), weights + filters * bias)

    return model


def _transposed(
    call: Call, space: Shape, kernel: tuple[int, ...], strides: tuple[int, ...], dilation: tuple[int, ...], padding: str
) -> Shape | None:
    if call.arg("output_padding") is not None or any(d != 1 for d in dilation):
        return None
    return tuple(
        None if n is None else n * s + (max(k - s, 0) if padding == "valid" else 0)
        for n, s, k in zip(space, strides, kernel, strict=True)
    )


def _conv_weights(call: Call, kind: str, cells: int, channels: int, filters: int) -> int | None:
    if kind == "separable":
        multiplier = whole(call, "depth_multiplier", 1)
        return None if multiplier is None else cells * channels * multiplier + channels * multiplier * filters
    groups = whole(call, "groups", 1)
    if not groups or channels % groups:
        return None
    return cells * (channels // groups) * filters


def _pool(rank: int) -> Model:
    def model(call: Call, shape: Shape) -> Effect | None:
        size, padding = sizes(call, "pool_size", rank, 2), word(call, "padding", "valid")
        if len(shape) != rank + 2 or size is None or padding not in ("valid", "same"):
            return None
        strides = size if call.arg("strides") is None else sizes(call, "strides", rank, 0)
        if call.arg("strides") is not None and call.value_of("strides") == Const(None):
            strides = size
        if strides is None or 0 in strides:
            return None
        space = windows(shape[1:-1], size, strides, (1,) * rank, padding)
        return None if space is None else Effect((shape[0], *space, shape[-1]), 0)

    return model


def _global_pool(rank: int) -> Model:
    def model(call: Call, shape: Shape) -> Effect | None:
        keep = flag(call, "keepdims", False)
        if keep is None or len(shape) != rank + 2:
            return None
        return Effect((shape[0], *((1,) * rank if keep else ()), shape[-1]), 0)

    return model


def _pairs(call: Call, name: str, rank: int) -> tuple[int, ...] | None:
    """How much a padding or cropping adds up to along each axis: one number for all, one for each, or pairs."""
    value = call.value_of(name)
    if isinstance(value, Sequence) and not value.open and rank > 1 and len(value.items) == rank:
        pairs = [numbers(item) for item in value.items]
        if all(pair is not None and len(pair) == 2 for pair in pairs):
            return tuple(sum(pair) for pair in pairs if pair is not None)
    if rank == 1 and isinstance(value, Sequence):
        both = numbers(value)
        return (sum(both),) if both is not None and len(both) == 2 else None
    each = sizes(call, name, rank, 1)
    return None if each is None else tuple(2 * n for n in each)


def _padding(rank: int, name: str, sign: int) -> Model:
    def model(call: Call, shape: Shape) -> Effect | None:
        added = _pairs(call, name, rank)
        if (
            added is None
            or len(shape) != rank + 2
            or (sign < 0 and rank == 2 and call.arg(name) is None)
        ):
            return None
        space = tuple(None if n is None else n + sign * p for n, p in zip(shape[1:-1], added, strict=True))
        if any(n is not None and n <= 0 for n in space):
            return None
        return Effect((shape[0], *space, shape[-1]), 0)

    return model


def _up_sampling(rank: int) -> Model:
    def model(call: Call, shape: Shape) -> Effect | None:
        size = sizes(call, "size", rank, 2)
        if size is None or len(shape) != rank + 2:
            return None
        space = tuple(None if n is None else n * s for n, s in zip(shape[1:-1], size, strict=True))
        return Effect((shape[0], *space, shape[-1]), 0)

    return model


def _resized(call: Call, shape: Shape) -> Effect | None:
    height, width = whole(call, "height"), whole(call, "width")
    if height is None or width is None or len(shape) != 4:
        return None
    return Effect((shape[0], height, width, shape[-1]), 0)


def _either_way(model: Model) -> Model:
    """A model of channels in the last axis, for channels behind the batch, too."""

    def placed(call: Call, shape: Shape) -> Effect | None:
        where = data_format(call)
        if where != "channels_first" or len(shape) < 3:
            return model(call, shape) if where is not None else None
        effect = model(call, (shape[0], *shape[2:], shape[1]))
        if effect is None or len(effect.shape) < 3:
            return effect
        batch, *space, channels = effect.shape
        return Effect((batch, channels, *space), effect.parameters)

    return placed


_EITHER: dict[str, Model] = {
    **{f"Conv{n}D": _conv(n) for n in (1, 2, 3)}, **{f"Conv{n}DTranspose": _conv(n, "transpose") for n in (1, 2, 3)},
    **{f"SeparableConv{n}D": _conv(n, "separable") for n in (1, 2)},
    **{f"DepthwiseConv{n}D": _conv(n, "depthwise") for n in (1, 2)},
    **{f"{kind}Pooling{n}D": _pool(n) for kind in ("Max", "Average") for n in (1, 2, 3)},
    **{f"Global{kind}Pooling{n}D": _global_pool(n) for kind in ("Max", "Average") for n in (1, 2, 3)},
    **{f"ZeroPadding{n}D": _padding(n, "padding", 1) for n in (1, 2, 3)},
    **{f"Cropping{n}D": _padding(n, "cropping", -1) for n in (2, 3)},
    **{f"UpSampling{n}D": _up_sampling(n) for n in (2, 3)},
    "Resizing": _resized, "CenterCrop": _resized,
}  # fmt: skip

SPATIAL: dict[str, Model] = {
    **{name: _either_way(model) for name, model in _EITHER.items()},
    "Cropping1D": _padding(1, "cropping", -1), "UpSampling1D": _up_sampling(1),
}  # fmt: skip
"""Layers by name. The last two know no other axis than the second."""
