"""The layers of the networks of `keras.applications`, as an installed Keras has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfmemlint.knowledge.tables import table


@dataclass(frozen=True, slots=True)
class Row:
    """A layer or, in small letters, an operation with a number: its class, its name, what it is made with where that
    is not the default, and the places of the tensors that it takes, 0 for the network's input and n for what the n-th
    layer gives.

    A padding with `odd` has one row and column more in front where the side that it pads is odd."""

    kind: str
    name: str
    arguments: dict[str, Any]
    inputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Network:
    """A network: the side of the images for which it is made by default, its layers in the order in which it runs them,
    and how many of them are left without its top."""

    side: int
    body: int
    layers: tuple[Row, ...]


def network(name: str) -> Network | None:
    """The layers of a model of `tf.keras.applications`; None for one that was not probed."""
    found = table("networks")
    if name not in found or not name.startswith("tf."):
        return None
    kinds, arguments = found["kinds"], found["arguments"]
    rows = []
    for place, (kind, called, made, *back) in enumerate(found[name]["layers"], 1):
        rows.append(Row(kinds[kind], called, arguments[made], tuple(place - each for each in back or [1])))
    return Network(found[name]["side"], found[name]["body"], tuple(rows))
