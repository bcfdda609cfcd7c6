"""The curve of a step as SVG that needs nothing but itself: stacked by layer, over the parts of the step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from tfmemlint.report.base import clean
from tfmemlint.report.estimates import curve, words
from tfmemlint.report.estimates.reported import Options, Reported
from tfmemlint.report.estimates.stack import Band, bands
from tfmemlint.report.pages.html import shown
from tfmemlint.report.pages.pictures import steps
from tfmemlint.units import show_bytes

WIDTH = 720
"""Units across; about the pixels that a page gives the picture."""
_LEFT, _RIGHT, _TOP, _BOTTOM, _ROW = 84, WIDTH - 8, 56, 300, 22
_MOST_COLUMNS = 200
"""Columns of the picture; what happens within one is the moment of it at which most is alive."""
_LETTER = 9.5
"""Units that one letter takes at most, on a narrow page."""
_NEAR = 1.6
"""How many times the peak a budget may be, to be drawn; otherwise the curve would be too low to see."""

STYLE = """
.curve { --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --bad: #b42318; --base: #aeb7c1; --rest: #d8dee4;
  --c0: #0969da; --c1: #c4432b; --c2: #1a7f6b; --c3: #bf8700; --c4: #8250df; --c5: #5f7d1f;
  --c6: #bf3989; --c7: #1b7c9e;
  width: 100%; max-width: 900px; height: auto; display: block; }
@media (prefers-color-scheme: dark) { .curve { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d; --bad: #ff7b72;
  --base: #59636e; --rest: #353d47; --c0: #58a6ff; --c1: #ff8a70; --c2: #4fd0b5; --c3: #e3b341; --c4: #bc8cff;
  --c5: #a5c261; --c6: #f778ba; --c7: #56b8d8; } }
.curve text { fill: var(--ink); font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.curve text.soft { fill: var(--soft); }
.curve text.title { font-weight: 600; }
.curve .grid { stroke: var(--line); }
.curve .base { fill: var(--base); }
.curve .rest { fill: var(--rest); }
.curve .c0 { fill: var(--c0); } .curve .c1 { fill: var(--c1); } .curve .c2 { fill: var(--c2); }
.curve .c3 { fill: var(--c3); } .curve .c4 { fill: var(--c4); } .curve .c5 { fill: var(--c5); }
.curve .c6 { fill: var(--c6); } .curve .c7 { fill: var(--c7); }
.curve .part { stroke: var(--soft); stroke-dasharray: 2 3; }
.curve .peak { stroke: var(--ink); }
.curve .dot { fill: var(--ink); }
.curve .usable { stroke: var(--bad); stroke-dasharray: 6 3; }
.curve text.over { fill: var(--bad); }
.curve .hit { fill: transparent; }
.curve .hit:hover { fill: var(--ink); fill-opacity: .18; }
@media (max-width: 600px) { .curve text { font-size: 17px; } }
"""


def render(found: Sequence[Reported], options: Options) -> str:
    """One picture with the curves of all steps below each other."""
    made, top = [], 0.0
    for each in found:
        height, parts = panel(each, titled=True)
        made.append(f'<g transform="translate(0 {top:g})">{"".join(parts)}</g>\n')
        top += height
    return _svg(top, "Memory of one step", made, standalone=True)


def inline(found: Reported) -> str:
    """The curve of one step for a page that has `STYLE`; empty where there is none."""
    height, parts = panel(found, titled=False)
    return _svg(height, f"Memory over one step of {words.heading(found)}", parts) if parts else ""


def _svg(height: float, described: str, parts: Sequence[str], standalone: bool = False) -> str:
    name = shown(described)
    head = f'viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{name}"'
    if not standalone:
        return f'<svg class="curve" {head}>{"".join(parts)}</svg>'
    paper = "<rect width='100%' height='100%' class='paper'/>"
    style = STYLE + ".paper { fill: #ffffff; } @media (prefers-color-scheme: dark) { .paper { fill: #0d1117; } }\n"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="curve" {head}><title>{name}</title>'
        f"<style>{style}</style>{paper}\n{''.join(parts)}</svg>\n"
    )


def panel(found: Reported, titled: bool) -> tuple[float, list[str]]:
    """The height and the parts of one step's picture; the title alone where no curve is known."""
    estimate = found.estimate
    title = [_text(8, 18, f"{words.heading(found)} {clean(estimate.of.call)}", "title")] if titled else []
    drawn = curve.columns(estimate, _MOST_COLUMNS)
    if not drawn or not found.is_whole:
        told = [_text(8, 40, each, "soft") for each in words.unknown(found)[:1]]
        return (60, title + told) if titled else (0, [])
    stacked = bands(estimate, drawn)
    totals = [sum(each) for each in zip(*(band.bytes for band in stacked), strict=True)]
    usable = found.budget.usable if found.budget and found.budget.usable <= _NEAR * max(totals) else None
    scale = _Scale(len(drawn), steps(max(*totals, usable or 0), binary=True, count=6))
    parts = [*title, *scale.grid(), *_areas(stacked, scale), *_parts(drawn, scale)]
    if usable is not None:
        y = scale.y(usable)
        parts.append(f'<line class="usable" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:g}" y2="{y:g}"/>')
        parts.append(_text(_RIGHT, y - 5, f"{show_bytes(usable)} can be used", "over", "end"))
    parts += _peak(found, totals, scale)
    parts += _hits(found, drawn, totals, scale)
    height, legend = _legend(stacked)
    return height, parts + legend


class _Scale:
    """Where columns and bytes lie in a picture."""

    def __init__(self, count: int, marks: Sequence[float]) -> None:
        self.count = count
        self.marks = marks

    def x(self, column: int) -> float:
        """The left edge of a column."""
        return round(_LEFT + (_RIGHT - _LEFT) * column / self.count, 1)

    def y(self, value: float) -> float:
        """The height of some bytes."""
        return round(_BOTTOM - (_BOTTOM - _TOP) * value / self.marks[-1], 1)

    def grid(self) -> Iterator[str]:
        """Lines at round numbers of bytes."""
        for mark in self.marks:
            y = self.y(mark)
            yield f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:g}" y2="{y:g}"/>'
            yield _text(_LEFT - 6, y + 4, _mark(mark), "soft", "end")


def _mark(value: float) -> str:
    """A round number of bytes, whole or with what `show_bytes` would cut off: `1.25 GiB`."""
    unit = 1024 ** min(int(math.log(max(value, 1), 1024) + 1e-9), 4)
    return f"{value / unit:g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[round(math.log(unit, 1024))]}"


def _areas(stacked: Sequence[Band], scale: _Scale) -> Iterator[str]:
    below = [0] * scale.count
    for number, band in enumerate(stacked):
        above = [low + own for low, own in zip(below, band.bytes, strict=True)]
        if any(band.bytes):
            edges = [*_steps(above, scale), *reversed(_steps(below, scale))]
            path = "L".join(f"{x:g} {y:g}" for x, y in edges)
            most = show_bytes(max(band.bytes))
            words = f"{shown(band.name)}: {'' if number == 0 else 'at most '}{most}"
            yield f'<path class="{_class(band, number)}" d="M{path}Z"><title>{words}</title></path>'
        below = above


def _steps(values: Sequence[int], scale: _Scale) -> list[tuple[float, float]]:
    """The corners of a line that keeps each value for its column."""
    points: list[tuple[float, float]] = []
    for column, value in enumerate(values):
        y = scale.y(value)
        if points and points[-1][1] == y:
            points[-1] = (scale.x(column + 1), y)
        else:
            points += [(scale.x(column), y), (scale.x(column + 1), y)]
    return points


def _class(band: Band, number: int) -> str:
    return f"c{band.rank}" if band.rank is not None else "rest" if number else "base"


def _parts(drawn: Sequence[curve.Column], scale: _Scale) -> Iterator[str]:
    """A line where each part of the step begins, and its name below; short ones have theirs before the line."""
    stretches = curve.parts(drawn)
    free = 0.0
    for each in stretches:
        x, end = scale.x(each.start), scale.x(each.end)
        if each.start:
            yield f'<line class="part" x1="{x:g}" x2="{x:g}" y1="{_TOP}" y2="{_BOTTOM + 16}"/>'
        at = max(x + 4, free)
        if at < max(end, x + 60) and at + 8 * len(each.name) < WIDTH + 20:
            yield _text(at, _BOTTOM + 18, each.name, "soft")
            free = at + 9 * len(each.name) + 8


def _peak(found: Reported, totals: Sequence[int], scale: _Scale) -> Iterator[str]:
    column = totals.index(max(totals))
    x, y = (scale.x(column) + scale.x(column + 1)) / 2, scale.y(totals[column])
    yield f'<line class="peak" x1="{x:g}" x2="{x:g}" y1="{_TOP - 10}" y2="{y:g}"/>'
    yield f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="3.5"/>'
    told = f"{show_bytes(totals[column])} in {words.peak(found)}"
    room = _LETTER * len(told)
    if x - 6 + room <= WIDTH:
        yield _text(x - 6, _TOP - 16, told)
    else:
        yield _text(x + 6 if x + 6 >= room else _RIGHT, _TOP - 16, told, "", "end")


def _hits(
    found: Reported, drawn: Sequence[curve.Column], totals: Sequence[int], scale: _Scale
) -> Iterator[str]:
    """Columns that say what runs there to who points at them; those of one layer and part are one."""
    moments = found.estimate.curve
    start = 0
    for index in range(1, len(drawn) + 1):
        here, before = drawn[index] if index < len(drawn) else None, drawn[index - 1]
        one = here is not None and moments[here.moment].layer == moments[before.moment].layer
        if one and here is not None and here.part == before.part:
            continue
        most = max(totals[start:index])
        layer = shown(moments[before.moment].layer)
        told = f"{before.part}{f' of {layer}' if layer else ''}: {show_bytes(most)}"
        x, end = scale.x(start), scale.x(index)
        yield (
            f'<rect class="hit" x="{x:g}" y="{_TOP}" width="{end - x:.1f}" height="{_BOTTOM - _TOP}">'
            f"<title>{told}</title></rect>"
        )
        start = index


def _legend(stacked: Sequence[Band]) -> tuple[float, list[str]]:
    """The height of the picture, and which colour is whose, in two columns."""
    parts = []
    named = [(number, band) for number, band in enumerate(stacked) if any(band.bytes)]
    top = _BOTTOM + 46
    for place, (number, band) in enumerate(named):
        x, y = 8 + (WIDTH // 2) * (place % 2), top + _ROW * (place // 2)
        name = band.name if len(band.name) <= 26 else f"{band.name[:25]}\u2026"
        parts.append(f'<rect class="{_class(band, number)}" x="{x}" y="{y - 10}" width="12" height="12" rx="2"/>')
        parts.append(_text(x + 18, y, f"{name}: {show_bytes(max(band.bytes))}"))
    return top + _ROW * ((len(named) + 1) // 2), parts


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    style = f' class="{kind}"' if kind else ""
    where = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text{style} x="{x:g}" y="{y:g}"{where}>{escape(clean(words))}</text>'
