"""What a step was measured to take, as plain data, and how that compares with its estimate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from tfmemlint.estimate.answer import Estimate

NEARLY = 0.05
"""By how much bytes may differ for two entries to be about the same memory."""
ENOUGH = 0.01
"""The part of the peak from which on an entry is worth a word."""


@dataclass(frozen=True, slots=True)
class MeasuredHeld:
    """Bytes that one op has asked for and that are alive at the peak. `layers` are the names and classes of the layers
    that it belongs to, outer ones first; empty where none is known."""

    op: str
    bytes: int
    layers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredStep:
    """The bytes of one step as it ran: of all variables, of one batch of data (None where the step itself makes its
    batch, which then is in `step`), what its ops ask for at the peak beside them, and what the allocator has handed out
    for that. `batch` are its examples, None where the data does not tell. `layers` are names and classes in the order
    in which they were applied, `made_up` says what the program was given in place of what it lacks."""

    variables: int
    data: int | None
    step: int
    chunks: int
    batch: int | None
    held: tuple[MeasuredHeld, ...] = ()
    layers: tuple[tuple[str, str], ...] = ()
    made_up: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def peak(self) -> int:
        """All that is asked for at the peak."""
        return self.variables + (self.data or 0) + self.step

    @property
    def in_use(self) -> int:
        """The same as the allocator hands it out, which is what a card must have."""
        return self.variables + (self.data or 0) + self.chunks


class Pair(NamedTuple):
    """What one layer holds at the peak: estimated, measured, None where one of them has nothing of it. `name` is the
    estimate's; `instead` the layer in whose memory the other side has it."""

    name: str
    line: int
    estimated: int | None
    measured: int | None
    instead: str = ""


def compared(estimate: Estimate, measured: MeasuredStep) -> list[Pair]:
    """What is alive at the peak by layer, the most first. Memory that one list has with a layer and the other with one
    beside it, since ops work in place, is one entry."""
    lines = {each.layer: each.line for each in estimate.held}
    expected, seen = Counter[str](), Counter[str]()
    for held in estimate.held:
        expected[held.layer] += held.bytes
    names = _names(estimate, measured)
    kinds = {each.kind for each in estimate.layers}
    for each in measured.held:
        seen[_owner(each, names, kinds, estimate.of.mode)] += each.bytes
    least = ENOUGH * max(estimate.step, measured.step)
    pairs = [
        Pair(name, lines.get(name, 0), expected.get(name), seen.get(name))
        for name in dict.fromkeys((*expected, *seen))
        if max(expected[name], seen[name]) >= least
    ]
    order = [each.name for each in estimate.layers]
    return sorted(_in_place(pairs, order), key=lambda each: -max(each.estimated or 0, each.measured or 0))


def difference(estimated: int, measured: int) -> float | None:
    """By which part of the measured bytes the estimate is over them, or under (negative); None where there are none."""
    return (estimated - measured) / measured if measured else None


def _names(estimate: Estimate, measured: MeasuredStep) -> dict[str, str]:
    """The estimate's names of the layers that Keras calls otherwise: those of the same classes in the same order."""
    kinds = {each.kind for each in estimate.layers}
    ours = [(each.name, each.kind) for each in estimate.layers]
    theirs = [(name, kind) for name, kind in measured.layers if kind in kinds]
    same = SequenceMatcher(None, [kind for _, kind in ours], [kind for _, kind in theirs], autojunk=False)
    found = {}
    for block in same.get_matching_blocks():
        for index in range(block.size):
            found[theirs[block.b + index][0]] = ours[block.a + index][0]
    known = {name for name, _ in ours}
    return found | {name: name for name, _ in theirs if name in known and name not in found}


def _owner(held: MeasuredHeld, names: dict[str, str], kinds: Iterable[str], mode: str) -> str:
    """The layer that an entry is counted for: the outermost that the estimate knows of, else the innermost. In eager
    mode ops have no names of layers: what they compute stands for it."""
    for name, kind in held.layers:
        if kind in kinds:
            return names.get(name, name)
    if held.layers:
        return held.layers[-1][0]
    return f"op {held.op.rpartition('/')[2]}" if mode == "eager" else ""


def _in_place(pairs: Sequence[Pair], order: Sequence[str]) -> Iterator[Pair]:
    """The pairs, with those joined that have the same bytes in two layers of which one stands next to the other."""
    place = {name: index for index, name in enumerate(order)}
    left = [each for each in pairs if each.measured is None]
    right = [each for each in pairs if each.estimated is None and each.name in place]
    yield from (each for each in pairs if each not in left and each not in right)
    for each in left:
        size = each.estimated or 0
        near = [
            other for other in right
            if each.name in place
            and abs(place[other.name] - place[each.name]) <= 2
            and abs((other.measured or 0) - size) <= NEARLY * size
        ]  # fmt: skip
        if near:
            right.remove(near[0])
            yield each._replace(measured=near[0].measured, instead=near[0].name)
        else:
            yield each
    yield from right
