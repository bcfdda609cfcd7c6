"""Pictures of figures as inline SVG; colours come from the page's style sheet, so that light and dark both work."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from html import escape

Point = tuple[float, float]
WIDTH = 320
"""Units across; about the pixels there are on a phone, so that text is readable there and not too large elsewhere."""
LETTER = 6.5
"""Units that one letter takes at most."""


def bars(rows: Sequence[tuple[str, str, float, str]], described: str) -> str:
    """Horizontal bars of one scale; a row is the class of the bar, its name, its value and the value in words."""
    most = max((value for _, _, value, _ in rows), default=0) or 1
    left, height = 52, 22
    room = WIDTH - left - 6 - LETTER * max((len(words) for *_, words in rows), default=0)
    parts = []
    for number, (kind, name, value, words) in enumerate(rows):
        top = 4 + number * height
        length = max(2.0, room * max(value, 0) / most)
        parts.append(
            f'<text class="soft" x="0" y="{top + 11}">{escape(name)}</text>'
            f'<rect class="{escape(kind)}" x="{left}" y="{top}" width="{length:.1f}" height="15" rx="2"/>'
            f'<text x="{left + length + 5:.1f}" y="{top + 11}">{escape(words)}</text>'
        )
    return _svg(4 + len(rows) * height, described, parts)


def steps(limit: float, binary: bool, count: int = 4) -> list[float]:
    """About `count` round values from 0 to one that is about `limit` or more; binary ones for bytes."""
    if limit <= 0:
        return [0.0, 1.0]
    raw = limit / count
    base = 2 ** (10 * math.floor(math.log2(raw) / 10)) if binary and raw >= 1 else 10 ** math.floor(math.log10(raw))
    choices = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024) if binary and raw >= 1 else (1, 2, 2.5, 5, 10)
    size = next(base * choice for choice in choices if base * choice >= raw)
    return [size * number for number in range(math.ceil(limit / size - 0.02) + 1)]  # a line may stick out by a little


def lines(
    series: Sequence[tuple[str, Sequence[Point], str]],
    show: Callable[[float], str],
    described: str,
    binary: bool = True,
    across: Callable[[float], str] | None = None,
) -> str:
    """Step lines over seconds, or over what `across` writes; a series is its class, its points (at least one) and its
    name, `show` writes a value of the y axis."""
    points = [point for _, drawn, _ in series for point in drawn]
    end = max((x for x, _ in points), default=0) or 1e-9
    marks = steps(max((y for _, y in points), default=0), binary)
    left, top, right, bottom = 60, 22, WIDTH - 4, 134

    def x_of(value: float) -> float:
        return left + (right - left) * value / end

    def y_of(value: float) -> float:
        return bottom - (bottom - top) * value / marks[-1]

    parts = []
    for mark in marks:
        y = y_of(mark)
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="soft" x="{left - 5}" y="{y + 3:.1f}" text-anchor="end">{escape(show(mark))}</text>')
    middle = end // 2 if across else end / 2  # there is no half of a round
    for value, anchor in ((0.0, "start"), (middle, "middle"), (end, "end")):
        x, words = x_of(value), escape((across or _seconds)(value))
        parts.append(f'<text class="soft" x="{x:.1f}" y="{bottom + 13}" text-anchor="{anchor}">{words}</text>')
    x = float(left)
    for kind, drawn, name in series:
        parts.append(f'<path class="{escape(kind)}" d="{_path(drawn, x_of, y_of)}"/>')
        parts.append(f'<path class="{escape(kind)}" d="M{x:g} 8h16"/><text x="{x + 20:g}" y="11">{escape(name)}</text>')
        x += 20 + LETTER * len(name) + 12
    most = ", ".join(f"{show(max(y for _, y in drawn))} {name}" for _, drawn, name in series)
    return _svg(bottom + 18, f"{described}: at most {most}", parts)


def _path(points: Sequence[Point], x_of: Callable[[float], float], y_of: Callable[[float], float]) -> str:
    """Steps from point to point. What happens within half a unit is one upright line, so that thousands of points make
    a path of some hundred."""
    columns: dict[float, list[float]] = {}
    for x, y in points:
        columns.setdefault(round(2 * x_of(x)) / 2, []).append(round(y_of(max(y, 0)), 1))
    parts: list[str] = []
    at = None
    for across, heights in columns.items():
        if at is None:
            at = heights[0]
            parts.append(f"M{across:g} {at:g}")
        turns = []
        for height in (heights[0], min(heights), max(heights), heights[-1]):
            if height != at:
                turns.append(f"V{height:g}")
                at = height
        if turns:
            parts += [f"H{across:g}", *turns]
    return "".join(parts) + f"H{max(columns):g}"


def _seconds(value: float) -> str:
    if 0 < value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def _svg(height: float, described: str, parts: Sequence[str]) -> str:
    words = escape(described)
    head = f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{words}"><title>{words}</title>'
    return head + "".join(parts) + "</svg>"


def sparkline(values: Sequence[float], columns: int = 60) -> str:
    """One line of text with a block for the largest value of each stretch."""
    if not values or max(values) <= 0:
        return ""
    columns = min(columns, len(values))
    edges = [len(values) * number // columns for number in range(columns + 1)]
    tops = [max(values[start:end]) for start, end in itertools.pairwise(edges)]
    blocks = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
    return "".join(blocks[math.ceil(max(top, 0) / max(values) * 8)] for top in tops)
