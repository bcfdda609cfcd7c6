"""Dense layers and convolutions: what multiplies its input by a kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

from tfmemlint.estimate.layers.activations import activate
from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.place import Place
from tfmemlint.estimate.program import OPTIMIZER, Buffer
from tfmemlint.estimate.step import Applied
from tfmemlint.estimate.weights import Shape, Weight, channels, channels_last, flag, known, number, numbers

# -- weights


def dense_weights(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    units = number(applied.arguments, "units")
    return _with_bias(applied, units, Weight((known(inputs[0][-1], "the shape of its input"), units)))


def _with_bias(applied: Applied, size: int, *kernels: Weight) -> tuple[Weight, ...]:
    return (*kernels, Weight((size,))) if flag(applied.arguments, "use_bias", True) else kernels


def _rank(applied: Applied) -> int:
    return next(int(letter) for letter in applied.kind if letter.isdigit())


def _kernel(applied: Applied) -> tuple[int, ...]:
    return numbers(applied.arguments, "kernel_size", _rank(applied))


def _conv_weights(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    filters, groups = number(applied.arguments, "filters"), number(applied.arguments, "groups", 1)
    return _with_bias(applied, filters, Weight((*_kernel(applied), channels(applied, inputs[0]) // groups, filters)))


def _transposed_weights(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    filters = number(applied.arguments, "filters")
    return _with_bias(applied, filters, Weight((*_kernel(applied), filters, channels(applied, inputs[0]))))


def _depthwise_weights(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    given, each = channels(applied, inputs[0]), number(applied.arguments, "depth_multiplier", 1)
    return _with_bias(applied, given * each, Weight((*_kernel(applied), given, each)))


def _separable_weights(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    given, each = channels(applied, inputs[0]), number(applied.arguments, "depth_multiplier", 1)
    filters, kernel = number(applied.arguments, "filters"), _kernel(applied)
    point = Weight((*(1 for _ in kernel), given * each, filters))
    return _with_bias(applied, filters, Weight((*kernel, given, each)), point)


# -- ops


def cast_kernel(place: Place, index: int = 0) -> list[Buffer]:
    """With mixed precision a copy of each kernel, made when the step begins; nothing otherwise."""
    if place.variable_item == place.item:
        return []
    return [place.op("Cast", [], place.weight_bytes(index), why=OPTIMIZER, early=True)]


def _linear(name: str, place: Place) -> None:
    """n, the bias added in place; keeps x. The gradient of the kernel (W) is used before dx is made."""
    x = place.x()
    kernel = cast_kernel(place)
    z = place.op(name, [x, *kernel], place.out_bytes())
    y, gradient = activate(place, z)
    place.give(y)

    def backward(dy: Buffer) -> None:
        dz = gradient(dy)
        if place.trained:
            dw = place.op(f"{name}BackpropFilter", [x, dz], place.weight_bytes(0))
            place.update(0, dw, read=place.wants())
        if place.wants():
            place.pass_on(place.op(f"{name}BackpropInput", [dz, *kernel], x.bytes))
        _bias(place, dz)

    place.on_backward(backward)


def _bias(place: Place, dz: Buffer) -> None:
    if len(place.weights) > 1 and place.weights[-1].trainable:
        place.sink("BiasAddGrad", [dz])


def _conv(place: Place) -> None:
    """As a dense layer. Causal or dilated ones keep a padded and rearranged copy of their input instead of x."""
    dilated = max(numbers(place.arguments, "dilation_rate", _rank(place.applied), 1)) > 1
    causal = place.arguments.get("padding") == "causal"
    if dilated or causal:
        _rearranged(place, dilated, causal)
    else:
        _linear("Conv", place)


def _padded(place: Place, x: Buffer, rate: Sequence[int]) -> int:
    """The bytes of the input with the zeros around it that padding and blocks of `rate` need. Sides that are not known
    have none."""
    shape, kernel = place.shape(), _kernel(place.applied)
    sides = shape[1:-1] if channels_last(place.applied) else shape[2:]
    size = Fraction(x.bytes)
    for side, width, step in zip(sides, kernel, rate, strict=True):
        if side is not None:
            around = 0 if place.arguments.get("padding", "valid") == "valid" else (width - 1) * step
            size = size * (-(-(side + around) // step) * step) / side
    return int(size)


def _rearranged(place: Place, dilated: bool, causal: bool) -> None:
    """Pad and SpaceToBatch of x, then n; keeps the last copy of x. Backward: SpaceToBatch of dy, then the gradient of
    that copy and its way back."""
    x = place.x()
    n = place.out_bytes()
    rate = numbers(place.arguments, "dilation_rate", _rank(place.applied), 1)
    padded = place.op("Pad", [x], _padded(place, x, [1] * len(rate))) if causal else x
    blocks = place.op("SpaceToBatch", [padded], _padded(place, x, rate)) if dilated else padded
    kernel = cast_kernel(place)
    z = place.op("Conv", [blocks, *kernel], n)
    if dilated:
        z = place.op("BatchToSpace", [z], n)
    y, gradient = activate(place, z)
    place.give(y)

    def backward(dy: Buffer) -> None:
        dz = gradient(dy)
        if dilated:
            dz = place.op("SpaceToBatch", [dz], n)
        if place.trained:
            dw = place.op("ConvBackpropFilter", [blocks, dz], place.weight_bytes(0))
            place.update(0, dw, read=place.wants())
        if not place.wants():
            return
        dx = place.op("ConvBackpropInput", [dz, *kernel], blocks.bytes)
        if dilated:
            dx = place.op("BatchToSpace", [dx], padded.bytes)
        place.pass_on(place.op("Slice", [dx], x.bytes) if causal else dx)

    place.on_backward(backward)


def _separable(place: Place) -> None:
    """The depthwise output (space x channels x multiplier) and n; keeps x and the depthwise output."""
    x = place.x()
    n = place.out_bytes()
    filters = place.weights[1].shape[-1]
    middle = n // filters * math.prod(place.weights[0].shape[-2:])
    first, second = cast_kernel(place, 0), cast_kernel(place, 1)
    depth = place.op("Depthwise", [x, *first], middle)
    z = place.op("Conv", [depth, *second], n)
    y, gradient = activate(place, z)
    place.give(y)

    def backward(dy: Buffer) -> None:
        dz = gradient(dy)
        if place.trained:
            dw = place.op("ConvBackpropFilter", [depth, dz], place.weight_bytes(1))
            place.update(1, dw, read=True)
        dd = place.op("ConvBackpropInput", [dz, *second], middle)
        if place.trained:
            dw = place.op("DepthwiseBackpropFilter", [x, dd], place.weight_bytes(0))
            place.update(0, dw, read=place.wants())
        if place.wants():
            place.pass_on(place.op("DepthwiseBackpropInput", [dd, *first], x.bytes))

    place.on_backward(backward)


_CONV = Kind(_conv, _conv_weights)
_TRANSPOSED = Kind(partial(_linear, "ConvTranspose"), _transposed_weights)
_DEPTHWISE = Kind(partial(_linear, "Depthwise"), _depthwise_weights)
_SEPARABLE = Kind(_separable, _separable_weights)
KINDS: Mapping[str, Kind] = {
    "Dense": Kind(partial(_linear, "MatMul"), dense_weights),
    **dict.fromkeys(("Conv1D", "Conv2D", "Conv3D"), _CONV),
    **dict.fromkeys(("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"), _TRANSPOSED),
    **dict.fromkeys(("DepthwiseConv1D", "DepthwiseConv2D"), _DEPTHWISE),
    **dict.fromkeys(("SeparableConv1D", "SeparableConv2D"), _SEPARABLE),
}
