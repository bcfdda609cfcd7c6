"""Layers that give another shape: reshaping, padding, cropping, upsampling."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.layers.plain import alias, unary
from tfmemlint.estimate.place import Place
from tfmemlint.estimate.program import Buffer


def _upsampling(place: Place) -> None:
    """Nearest: one axis after the other, n/2 then n; keeps nothing. Backward: n/2, then x. Others: as a resize."""
    if place.arguments.get("interpolation", "nearest") != "nearest":
        unary("Resize", place)
        return
    x = place.x()
    n = place.out_bytes()
    place.give(place.op("Repeat_1", [place.op("Repeat", [x], n // 2)], n))

    def backward(dy: Buffer) -> None:
        if place.wants():
            place.pass_on(place.op("Sum", [place.op("Sum", [dy], n // 2)], x.bytes))

    place.on_backward(backward)


def _repeated(place: Place) -> None:
    """n; keeps nothing. Backward: x."""
    unary("Repeat", place)


_ALIASES = ("Flatten", "Reshape", "Identity", "InputLayer", "ActivityRegularization", "reshape", "squeeze")
_RANKS = ("1D", "2D", "3D")
KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(_ALIASES, Kind(alias)),
    **dict.fromkeys(("Permute", "transpose", "swapaxes"), Kind(partial(unary, "Transpose"))),
    **{f"ZeroPadding{rank}": Kind(partial(unary, "Pad")) for rank in _RANKS},
    **{f"Cropping{rank}": Kind(partial(unary, "Slice")) for rank in _RANKS},
    "UpSampling1D": Kind(_repeated),
    "UpSampling2D": Kind(_upsampling),
    "UpSampling3D": Kind(_repeated),
    "RepeatVector": Kind(_repeated),
}
