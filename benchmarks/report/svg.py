"""Pictures of figures as SVG that needs nothing but itself, readable on light and on dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 720
"""Units across; about the pixels that a page gives the picture."""
_TOP, _ROW, _LEFT, _RIGHT, _PLOT = 52, 24, 60, WIDTH - 16, 280
COLOURS = 9
_STYLE = """
.plot { --paper: #ffffff; --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --c0: #0969da; --c1: #c4432b;
  --c2: #1a7f6b; --c3: #bf8700; --c4: #8250df; --c5: #5f7d1f; --c6: #bf3989; --c7: #1b7c9e; --c8: #7a5c3e; }
@media (prefers-color-scheme: dark) { .plot { --paper: #0d1117; --ink: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --c0: #58a6ff; --c1: #ff8a70; --c2: #4fd0b5; --c3: #e3b341; --c4: #bc8cff; --c5: #a5c261; --c6: #f778ba;
  --c7: #56b8d8; --c8: #c9a27c; } }
.plot text { fill: var(--ink); font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.plot text.soft { fill: var(--soft); } .plot text.title { font-weight: 600; }
.plot .paper { fill: var(--paper); } .plot .grid { stroke: var(--line); } .plot .one { stroke: var(--soft); }
.plot circle { fill-opacity: .8; } .plot path.dashed { stroke-dasharray: 5 4; }
""" + "".join(f".plot .c{n} {{ fill: var(--c{n}); stroke: var(--c{n}); }}\n" for n in range(COLOURS))
_STYLE += ".plot path { fill: none !important; stroke-width: 1.8; }\n"


@dataclass(frozen=True)
class Series:
    """Points of one colour; the name stands in the legend, if it is not empty."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: int
    dashed: bool = False


@dataclass(frozen=True)
class Scale:
    """Where values lie between two ends of an axis, by their logarithms or evenly from zero."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = True

    def at(self, value: float) -> float:
        """The place of a value."""
        if self.logarithmic:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return round(self.start + (self.end - self.start) * part, 1)

    def marks(self) -> list[float]:
        """Round values on the axis."""
        if not self.logarithmic:
            size = _round_up((self.high - self.low) / 5)
            return [size * number for number in range(int(self.high / size) + 1)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        marks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        inside = [mark for mark in marks if self.low * 0.999 <= mark <= self.high * 1.001]
        return inside if len(inside) <= 9 else [mark for mark in inside if f"{mark:.0e}"[0] == "1"]


def scale(values: Sequence[float], start: float, end: float, logarithmic: bool = True) -> Scale:
    """An axis on which all these values lie, with some room around them."""
    if not logarithmic:
        return Scale(0, 1.08 * max(values), start, end, False)
    return Scale(min(values) / 1.3, max(values) * 1.3, start, end)


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= value)


def curves(title: str, series: Sequence[Series], across: str, up: str, logarithmic: bool = True) -> str:
    """Lines over an axis of sizes; `across` and `up` say what the axes are."""
    points = [point for each in series for point in each.points]
    bottom = _TOP + _PLOT
    x = scale([x for x, _ in points], _LEFT, _RIGHT)
    y = scale([y for _, y in points], bottom, _TOP, logarithmic)
    parts = [text(8, _TOP - 14, up, "soft"), text(_RIGHT, bottom + 34, across, "soft", "end")]
    for mark in y.marks():
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y.at(mark)}" y2="{y.at(mark)}"/>')
        parts.append(text(_LEFT - 6, y.at(mark) + 4, short(mark), "soft", "end"))
    for mark in x.marks():
        parts.append(f'<line class="grid" x1="{x.at(mark)}" x2="{x.at(mark)}" y1="{_TOP}" y2="{bottom}"/>')
        parts.append(text(x.at(mark), bottom + 16, short(mark), "soft", "middle"))
    for each in series:
        places = [(x.at(a), y.at(b)) for a, b in each.points]
        path = "L".join(f"{a} {b}" for a, b in places)
        words = escape(f"{each.name}: {', '.join(f'{short(a)}: {short(b)}' for a, b in each.points)}")
        dashed = " dashed" if each.dashed else ""
        parts.append(f'<path class="c{each.colour}{dashed}" d="M{path}"><title>{words}</title></path>')
        if not each.dashed:
            parts += [f'<circle class="c{each.colour}" cx="{a}" cy="{b}" r="2.5"/>' for a, b in places]
    height, legend = _legend([each for each in series if each.name], bottom + 56)
    return picture(title, height, [*parts, *legend])


def dots(title: str, rows: Sequence[tuple[str, Sequence[float | None]]], names: Sequence[str], across: str) -> str:
    """Rows of dots on one logarithmic axis, a colour for each of `names`; a line stands at one."""
    left = 150
    values = [value for _, row in rows for value in row if value] + [1.0]
    x = scale(values, left, _RIGHT - 20)
    bottom = _TOP + _ROW * len(rows)
    parts = [text(_RIGHT, bottom + 34, across, "soft", "end")]
    for mark in x.marks():
        kind = "one" if mark == 1 else "grid"
        parts.append(f'<line class="{kind}" x1="{x.at(mark)}" x2="{x.at(mark)}" y1="{_TOP - 8}" y2="{bottom}"/>')
        parts.append(text(x.at(mark), bottom + 16, short(mark), "soft", "middle"))
    for number, (name, row) in enumerate(rows):
        y = _TOP + _ROW * number + 8
        parts.append(text(left - 12, y + 4, name, "", "end"))
        for colour, value in enumerate(row):
            if value:
                words = escape(f"{name}, {names[colour]}: {short(value)}")
                place = f'cx="{x.at(value)}" cy="{y}" r="5"'
                parts.append(f'<circle class="c{colour}" {place}><title>{words}</title></circle>')
    shown = [Series(name, [], colour) for colour, name in enumerate(names)]
    height, legend = _legend(shown, bottom + 56)
    return picture(title, height, [*parts, *legend])


def _legend(series: Sequence[Series], top: float) -> tuple[float, list[str]]:
    """The height of the picture, and which colour is whose, in two columns."""
    parts = []
    for place, each in enumerate(series):
        x, y = 8 + (WIDTH // 2) * (place % 2), top + _ROW * (place // 2)
        parts.append(f'<rect class="c{each.colour}" x="{x}" y="{y - 10}" width="12" height="12" rx="2"/>')
        parts.append(text(x + 18, y, each.name))
    return top + _ROW * ((len(series) + 1) // 2), parts


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Words at a place."""
    style = f' class="{kind}"' if kind else ""
    where = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text{style} x="{x:g}" y="{y:g}"{where}>{escape(words)}</text>'


def short(value: float) -> str:
    """A value with few digits."""
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    return f"{value / 1000:.3g} k" if value >= 1000 else f"{value:.3g}"


def picture(title: str, height: float, parts: Sequence[str]) -> str:
    """A whole file."""
    name = escape(title)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 {WIDTH} {height:g}" role="img"'
    return (
        f'{head} aria-label="{name}"><title>{name}</title><style>{_STYLE}</style>\n'
        f'<rect class="paper" width="100%" height="100%"/>\n{text(8, 18, title, "title")}\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
