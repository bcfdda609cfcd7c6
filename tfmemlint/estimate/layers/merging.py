"""Layers and operations that merge tensors."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.place import Place
from tfmemlint.estimate.program import Buffer


def _sum(place: Place) -> None:
    """In place on one input; keeps nothing. All inputs share dy, without a copy; what was broadcast gets a sum."""
    xs = place.xs()
    n = place.out_bytes()
    place.give(place.op("Add", xs, n, in_place=xs))

    def backward(dy: Buffer) -> None:
        for j, x in enumerate(xs):
            if place.wants(j):
                place.pass_on(dy if x.bytes in (n, 0) else place.op("Sum", [dy], x.bytes), j)

    place.on_backward(backward)


def _product(place: Place) -> None:
    """In place on one input if that is free; keeps both. Backward: n for each input, sums where it was broadcast."""
    xs = place.xs()
    n = place.out_bytes()
    place.give(place.op("Mul", xs, n, in_place=xs))

    def backward(dy: Buffer) -> None:
        for j, x in enumerate(xs):
            if place.wants(j):
                others = [other for k, other in enumerate(xs) if k != j]
                dx = place.op("MulGrad", [dy, *others], n, in_place=[dy])
                place.pass_on(dx if x.bytes in (n, 0) else place.op("Sum", [dx], x.bytes), j)

    place.on_backward(backward)


def _extremum(place: Place) -> None:
    """n for each pair; keeps the inputs. Backward: a mask of one byte an item and n for each input. From the code of
    TensorFlow's gradient of Maximum."""
    xs = place.xs()
    n = place.out_bytes()
    y, pairs = xs[0], []
    for x in xs[1:]:
        pairs.append((y, x))
        y = place.op("Maximum", [y, x], n)
    place.give(y)

    def backward(dy: Buffer) -> None:
        for j, (left, right) in reversed(list(enumerate(pairs, start=1))):
            mask = place.op("GreaterEqual", [left, right], place.out_items())
            place.pass_on(place.op("Select", [mask, dy], n), j)
            dy = place.op("Select", [mask, dy], n)
        place.pass_on(dy, 0)

    place.on_backward(backward)


def _concatenate(place: Place) -> None:
    """n; keeps nothing. Backward: one copy for each input, n together."""
    xs = place.xs()
    place.give(place.op("Concat", xs, sum(x.bytes for x in xs)))

    def backward(dy: Buffer) -> None:
        for j, x in enumerate(xs):
            if place.wants(j):
                place.pass_on(place.op("Slice", [dy], x.bytes), j)

    place.on_backward(backward)


def _dot(place: Place) -> None:
    """n; keeps both inputs. Backward: each input's bytes."""
    xs = place.xs()
    place.give(place.op("BatchMatMul", xs, place.out_bytes()))

    def backward(dy: Buffer) -> None:
        for j, x in enumerate(xs):
            if place.wants(j):
                others = [other for k, other in enumerate(xs) if k != j]
                place.pass_on(place.op("BatchMatMulGrad", [dy, *others], x.bytes), j)

    place.on_backward(backward)


KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("Add", "Subtract", "Average", "add", "subtract"), Kind(_sum)),
    **dict.fromkeys(("Multiply", "multiply"), Kind(_product)),
    **dict.fromkeys(("Maximum", "Minimum", "maximum", "minimum"), Kind(_extremum)),
    **dict.fromkeys(("Concatenate", "concatenate"), Kind(_concatenate)),
    **dict.fromkeys(("Dot", "matmul"), Kind(_dot)),
}
