"""Pooling."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.layers.plain import unary
from tfmemlint.estimate.place import Place


def _max_pooling(place: Place) -> None:
    """n, and on a CPU one byte an item for the kernel's index; keeps x, y and the index. Backward: x."""
    index = place.out_items() if place.state.backward and place.state.wanted else 0
    unary("MaxPool", place, keeps=True, extra=index)


def _average_pooling(place: Place) -> None:
    """n; keeps nothing. Backward: x."""
    unary("AvgPool", place)


def _global_average(place: Place) -> None:
    """n; keeps nothing. Backward: x."""
    unary("Mean", place)


def _global_max(place: Place) -> None:
    """n; keeps x and y. Backward: a mask of one byte an item, then x."""
    unary("Max", place, keeps=True, back=place.items())


_RANKS = ("1D", "2D", "3D")
KINDS: Mapping[str, Kind] = {
    **{f"MaxPooling{rank}": Kind(_max_pooling) for rank in _RANKS},
    **{f"AveragePooling{rank}": Kind(_average_pooling) for rank in _RANKS},
    **{f"GlobalAveragePooling{rank}": Kind(_global_average) for rank in _RANKS},
    **{f"GlobalMaxPooling{rank}": Kind(_global_max) for rank in _RANKS},
    **dict.fromkeys(("mean", "sum"), Kind(_global_average)),
    "max": Kind(_global_max),
}
