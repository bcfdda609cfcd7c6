"""Estimates for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.report.base import clean
from tfmemlint.report.estimates import curve, measured, words
from tfmemlint.report.estimates.reported import DOES_NOT_FIT, FITS, MAY_NOT_FIT, Options, Reported
from tfmemlint.report.style import Style, width
from tfmemlint.units import show_bytes

if TYPE_CHECKING:
    from tfmemlint.estimate.answer import Held, WhatIf

_MOST_HELD = 8
_BAR = 24
_COLOURS = {FITS: "green", MAY_NOT_FIT: "yellow", DOES_NOT_FIT: "red"}


def render(found: Sequence[Reported], options: Options) -> str:
    """The estimates, one block each."""
    return "\n".join("".join(f"{line}\n" for line in _block(each, options)) for each in found)


def _block(found: Reported, options: Options) -> Iterator[str]:
    style = Style(options.color)
    estimate, step = found.estimate, found.estimate.of
    yield f"{style(words.heading(found), 'bold')}  {clean(step.call)}  {words.about(step, estimate.batch)}"
    yield ""
    rows = words.figures(found)
    verdict = found.verdict
    for name, value in _aligned(rows):
        if found.budget is not None and verdict and name.strip() == words.card(found.budget):
            value = value.replace(verdict, style(verdict, "bold", _COLOURS[verdict]), 1)
        yield f"  {name}  {value}"
    yield from _section("not known", words.unknown(found))
    if found.measured is not None:
        yield from _measured(found)
    if found.is_whole:
        yield from _section("alive at the peak", _alive(found) if found.measured is None else _both(found))
        drawn = curve.in_text(estimate, min(options.width, 120) - 2)
        yield from _section("", drawn)
    if options.per_layer:
        yield from _section("layers", _layers(found))
    saved = found.saves or ()
    yield from _section("what would save", [f"{name}  {value}" for name, value in _aligned(_saved(saved))])


def _section(name: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        if name:
            yield f"  {name}"
        indent = "    " if name else "  "
        yield from (f"{indent}{line}".rstrip() for line in lines)


def _aligned(rows: Sequence[words.Row]) -> list[words.Row]:
    longest = max((width(name) for name, _ in rows), default=0)
    return [(name + " " * (longest - width(name)), value) for name, value in rows]


def _saved(saves: Sequence[WhatIf]) -> list[words.Row]:
    return [(clean(each.change), f"-{show_bytes(each.saves)}, peak from {show_bytes(each.low)}") for each in saves]


def _alive(found: Reported) -> list[str]:
    """What lives at the peak, the most first, with a bar for its bytes."""
    held = sorted(found.estimate.held, key=lambda each: -each.bytes)
    rest = sum(each.bytes for each in held[_MOST_HELD:])
    rows = [(clean(each.layer) or "no layer", _place(found, each), each.bytes, each.why) for each in held[:_MOST_HELD]]
    most = max((row[2] for row in rows), default=0) or 1
    table = [
        (name, place, show_bytes(size), "\u2588" * max(round(size / most * _BAR), 1), why)
        for name, place, size, why in rows
        if size
    ]
    if rest:
        table.append((f"{len(held) - _MOST_HELD} more", "", show_bytes(rest), "", ""))
    return list(_columns(table, (False, False, True, False, False)))


def _measured(found: Reported) -> Iterator[str]:
    """What a run took beside the estimate, and what it was given that it lacks."""
    table = _columns(measured.figures(found), (False, True, True, True))
    yield from _section(measured.heading(found), list(table))
    assert found.measured is not None
    yield from _section("made up or left out to measure it", [clean(each) for each in found.measured.made_up])


def _both(found: Reported) -> list[str]:
    table, lists = measured.alive(found)
    return [*_columns(table, (False, False, True, True, False)), *lists]


def _place(found: Reported, held: Held) -> str:
    place = found.place(held.line)
    return str(place) if place else ""


def _layers(found: Reported) -> list[str]:
    head = ("line", "layer", "type", "output", "parameters", "kept", "gradients", "of the peak")
    rows = [head]
    for layer in found.estimate.layers:
        place = found.place(layer.line)
        line = "" if place is None else str(place.line) if place.cell is None else f"{place.cell}:{place.line}"
        known = (show_bytes(layer.kept) if layer.kept else "", show_bytes(layer.gradients) if layer.gradients else "",
                 words.share(layer, found.estimate)) if found.is_whole else ("", "", "")  # fmt: skip
        rows.append((line, clean(layer.name), clean(layer.kind), words.shape(layer), words.number(layer.parameters),
                     *known))  # fmt: skip
    return list(_columns(rows, (True, False, False, False, True, True, True, True)))


def _columns(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """The rows with their cells below each other; a column that is empty in all of them is left out."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for cell, wide, to_right in zip(row, widths, right, strict=True):
            if wide:
                blanks = " " * (wide - width(cell))
                cells.append(blanks + cell if to_right else cell + blanks)
        yield "  ".join(cells).rstrip()
