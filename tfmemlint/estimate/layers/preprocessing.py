"""Layers that prepare data: most stand before the first weight, so that nothing of them waits for a gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.layers.plain import alias, unary
from tfmemlint.estimate.place import Place
from tfmemlint.estimate.step import Applied
from tfmemlint.estimate.weights import Shape, Weight, known


def _scaled(place: Place) -> None:
    """In place if its input is free, as a batch is not; keeps nothing."""
    unary("Mul", place, in_place=True)


def _augmented(name: str, place: Place) -> None:
    """n in training; nothing in inference."""
    if place.training:
        unary(name, place)
    else:
        alias(place)


def _looked_up(place: Place) -> None:
    """Whole numbers of eight bytes; nothing of them waits for a gradient."""
    place.give(place.op(place.applied.kind, [place.x()], place.out_items() * 8), dtype="int64")


def _moments(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    if applied.arguments.get("mean") is not None:
        return ()
    axis = applied.arguments.get("axis", -1)
    axes = () if axis is None else axis if isinstance(axis, Sequence) else (axis,)
    size = tuple(known(inputs[0][each], "the shape of its input") for each in axes)
    return (Weight(size, False), Weight(size, False))


_LOOKUPS = ("TextVectorization", "StringLookup", "IntegerLookup", "Hashing", "Discretization")
_AUGMENTING = ("RandomFlip", "RandomRotation", "RandomZoom", "RandomTranslation", "RandomContrast", "RandomBrightness")
KINDS: Mapping[str, Kind] = {
    "Rescaling": Kind(_scaled),
    "CategoryEncoding": Kind(partial(unary, "OneHot")),
    **dict.fromkeys(_LOOKUPS, Kind(_looked_up)),
    "Normalization": Kind(_scaled, _moments),
    **{name: Kind(partial(_augmented, name)) for name in (*_AUGMENTING, "RandomCrop")},
    **dict.fromkeys(("Resizing", "CenterCrop"), Kind(partial(unary, "Resize"))),
}
