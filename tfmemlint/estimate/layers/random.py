"""Layers that draw random numbers in training and do nothing in inference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.layers.plain import alias
from tfmemlint.estimate.place import Place
from tfmemlint.estimate.program import MASK, Buffer
from tfmemlint.estimate.weights import Shape


def drawn(place: Place, kind: str | None = None) -> int:
    """The items of the mask that a layer draws for one application; 0 where it draws none."""
    kind = kind or place.applied.kind
    rate = place.arguments.get("rate", 1)
    if not place.training or not rate or kind not in MASKED:
        return 0
    noise = place.arguments.get("noise_shape") if kind == "Dropout" else None
    if isinstance(noise, Sequence) and len(noise) == len(place.out_shape()):
        return _broadcast(noise, (place.rows(), *place.out_shape()[1:]))
    if not kind.startswith("Spatial"):
        return place.out_items()
    shape = place.out_shape()
    if len(shape) < 2 or not place.applied.inputs or not place.shape():
        return 0
    last = shape[1] if place.arguments.get("data_format") == "channels_first" else shape[-1]
    return place.rows() * (last or 1)


def _broadcast(noise: Sequence[int | None], shape: Shape) -> int:
    """The items of a mask whose sizes are those of the output where they are None."""
    return math.prod(size or 1 if given is None else given for given, size in zip(noise, shape, strict=True))


def draw(place: Place, early: bool) -> Buffer:
    """The uniform numbers and the mask of a byte an item that is made of them."""
    count = drawn(place)
    uniform = place.op("random_uniform", [], count * 4, why=MASK, early=early)
    return place.op("GreaterEqual", [uniform], count, why=MASK)


def _dropout(place: Place) -> None:
    """A mask of a byte an item, four bytes an item while it is drawn; the output in place; keeps the mask. All masks
    of a graph are drawn when the step begins."""
    if not drawn(place):
        alias(place)
        return
    x = place.x()
    mask = place.state.masks.pop(id(place.applied), None) or draw(place, early=False)
    place.give(place.op("dropout/Mul", [x, mask], x.bytes, in_place=[x]))

    def backward(dy: Buffer) -> None:
        if place.wants():
            place.pass_on(place.op("dropout/MulGrad", [dy, mask], x.bytes, in_place=[dy]))

    place.on_backward(backward)


def _noise(place: Place) -> None:
    """GaussianNoise: n for the noise while it is added in place; keeps nothing."""
    if not place.training:
        alias(place)
        return
    x = place.x()
    noise = place.op("random_normal", [], x.bytes)
    place.give(place.op("Add", [x, noise], x.bytes, in_place=[x, noise]))
    place.on_backward(lambda dy: place.pass_on(dy))


def _factor(place: Place) -> None:
    """GaussianDropout, AlphaDropout: a factor of n, the output in place; keeps the factor."""
    if not place.training or not place.arguments.get("rate", 1):
        alias(place)
        return
    x = place.x()
    factor = place.op("random_normal", [], x.bytes, why=MASK)
    place.give(place.op("Mul", [x, factor], x.bytes, in_place=[x]))
    place.on_backward(lambda dy: place.pass_on(place.op("MulGrad", [dy, factor], x.bytes, in_place=[dy])))


MASKED = ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D")
KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(MASKED, Kind(_dropout)),
    "GaussianNoise": Kind(_noise),
    **dict.fromkeys(("GaussianDropout", "AlphaDropout"), Kind(_factor)),
}
