"""Layers that only move or reduce numbers: no weights, and at most their input or output waits for the gradient."""

from __future__ import annotations

from tfmemlint.estimate.place import Place
from tfmemlint.estimate.program import Buffer


def unary(name: str, place: Place, *, in_place: bool = False, keeps: bool = False, extra: int = 0) -> None:
    """One op on one input. `keeps`: the gradient reads input and output; `extra` bytes are made forward and kept for
    it."""
    x = place.x()
    more = [place.op(f"{name} workspace", [], extra)] if extra else []
    y = place.op(name, [x], place.out_items() * place.item, in_place=[x] if in_place else ())
    place.give(y)

    def backward(dy: Buffer) -> None:
        if place.wants():
            reads = [dy, *([x, y] if keeps else []), *more]
            taken = [dy] if in_place else []
            place.pass_on(place.op(f"{name}Grad", reads, x.bytes, in_place=taken))

    place.on_backward(backward)


def alias(place: Place) -> None:
    """No new memory, forward or backward."""
    place.give(place.alias("Reshape", place.x()))
    place.on_backward(lambda dy: place.pass_on(place.alias("Reshape", dy)) if place.wants() else None)
