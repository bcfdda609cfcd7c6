"""Embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.place import Place
from tfmemlint.estimate.step import Applied
from tfmemlint.estimate.weights import Shape, Weight, number


def _table(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    return (Weight((number(applied.arguments, "input_dim"), number(applied.arguments, "output_dim"))),)


def _embedding(place: Place) -> None:
    """The numbers as int32 and n; keeps the numbers. The gradient of the table are the rows of dy."""
    numbers = place.op("Cast", [place.x()], place.items() * 4)
    place.give(place.op("Gather", [numbers], place.out_bytes()))
    place.on_backward(lambda dy: place.update(0, dy, rows=numbers))


KINDS: Mapping[str, Kind] = {"Embedding": Kind(_embedding, _table)}
