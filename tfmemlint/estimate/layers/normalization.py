"""Normalisations: with mixed precision they compute in float32 and keep what they need in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.place import Place
from tfmemlint.estimate.program import Buffer
from tfmemlint.estimate.step import Applied
from tfmemlint.estimate.weights import Shape, Weight, flag, known

WHAT = "the shape of its input"


def _axes(applied: Applied, shape: Shape) -> tuple[int, ...]:
    axis = applied.arguments.get("axis", -1)
    axes = axis if isinstance(axis, Sequence) else (axis,)
    return tuple(known(shape[each], WHAT) for each in axes)


def _batch_weights(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    scaled = [name for name in ("scale", "center") if flag(applied.arguments, name, True)]
    size = _axes(applied, inputs[0])
    return (*(Weight(size) for _ in scaled), Weight(size, False), Weight(size, False))


def _layer_weights(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    scaled = [name for name in ("scale", "center") if flag(applied.arguments, name, True)]
    return tuple(Weight(_axes(applied, inputs[0])) for _ in scaled)


def _float32(place: Place) -> tuple[Buffer, int]:
    """The input in float32 or better, and its bytes."""
    x = place.x()
    if place.item >= 4:
        return x, x.bytes
    n = place.items() * 4
    return place.op("Cast", [x], n), n


def _batch_normalization(place: Place) -> None:
    """Not the fused kernel in Keras 3: mean, variance and scale are ops of their own. n, n more while the variance is
    computed; keeps x. Backward: two tiled means and dy * x. Frozen or in inference: in place, keeps nothing."""
    _scaled_once(place, place.training and place.applied.trainable)


def _group_normalization(place: Place) -> None:
    """As a batch normalisation in training, at all times: the scale is one number for each channel of an example."""
    _scaled_once(place, True)


def _scaled_once(place: Place, training: bool) -> None:
    x, n = _float32(place)
    if training:
        place.sink("SquaredDifference", [x], n)
    y = place.op("batchnorm/mul", [x], n, in_place=[x])
    narrow = place.item < 4
    place.give(place.op("Cast", [y], place.out_bytes()) if narrow else y)

    def backward(dy: Buffer) -> None:
        dy = place.op("Cast", [dy], n) if narrow else dy
        if not training:
            dx = place.op("batchnorm/mul", [dy], n, in_place=[dy])
        else:
            dx = _statistics_gradient(place, x, dy)
        if place.wants():
            place.pass_on(place.op("Cast", [dx], place.out_bytes()) if narrow else dx)

    place.on_backward(backward)


def _statistics_gradient(place: Place, x: Buffer, dy: Buffer) -> Buffer:
    n = x.bytes
    mean = place.op("moments/Tile", [], n)
    place.sink("Sum", [place.op("batchnorm/mul/Mul_1", [dy, x], n)])
    second = place.op("moments/Tile_1", [], n)
    centred = place.op("moments/sub", [x], n, in_place=[x])
    variance = place.op("moments/mul", [mean, centred], n, in_place=[mean, centred])
    scaled = place.op("batchnorm/mul/Mul", [dy], n, in_place=[dy])
    return place.op("AddN", [variance, scaled, second], n, in_place=[variance, scaled, second])


def _layer_normalization(place: Place) -> None:
    """n, the scale broadcast to the full shape, and n while the variance is computed; keeps x and the broadcast scale.
    Backward: four tensors of n."""
    x, n = _float32(place)
    place.sink("SquaredDifference", [x], n)
    scale = place.op("mul", [], n)
    shift = place.op("mul_2", [scale], n)
    scaled = place.op("mul_1", [x, scale], n)
    y = place.op("add", [scaled, shift], n, in_place=[scaled])
    narrow = place.item < 4
    place.give(place.op("Cast", [y], place.out_bytes()) if narrow else y)

    def backward(dy: Buffer) -> None:
        dy = place.op("Cast", [dy], n) if narrow else dy
        mean = place.op("moments/Tile", [], n)
        one = place.op("mul_2/Mul_1", [dy, scale], n)
        two = place.op("mul_1/Mul_1", [dy, x], n)
        both = place.op("sub", [one, two], n, in_place=[one, two])
        both = place.op("mul/Mul", [both], n, in_place=[both])
        scaled = place.op("mul_1/Mul", [dy, scale], n, in_place=[dy])
        second = place.op("moments/Tile_1", [], n)
        terms = [mean, scaled, second, both]
        if place.wants():
            dx = place.op("AddN", terms, n, in_place=terms[:3])
            place.pass_on(place.op("Cast", [dx], place.out_bytes()) if narrow else dx)

    place.on_backward(backward)


KINDS: Mapping[str, Kind] = {
    "BatchNormalization": Kind(_batch_normalization, _batch_weights),
    "LayerNormalization": Kind(_layer_normalization, _layer_weights),
    "GroupNormalization": Kind(_group_normalization, _layer_weights),
}
