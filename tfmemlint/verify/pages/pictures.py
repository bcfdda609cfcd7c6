"""Pictures of figures as inline SVG; colours come from the page's style sheet, so that light and dark both work."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from html import escape

Point = tuple[float, float]
WIDTH = 520


def bars(rows: Sequence[tuple[str, str, float, str]], described: str) -> str:
    """Horizontal bars of one scale; a row is the class of the bar, its name, its value and the value in words."""
    most = max((value for _, _, value, _ in rows), default=0) or 1
    left, room, height = 64, WIDTH - 64 - 96, 34
    parts = []
    for number, (kind, name, value, words) in enumerate(rows):
        top = 8 + number * height
        length = max(2.0, room * max(value, 0) / most)
        parts.append(
            f'<text class="soft" x="0" y="{top + 16}">{escape(name)}</text>'
            f'<rect class="{escape(kind)}" x="{left}" y="{top}" width="{length:.1f}" height="24" rx="3"/>'
            f'<text x="{left + length + 8:.1f}" y="{top + 16}">{escape(words)}</text>'
        )
    return _svg(8 + len(rows) * height, described, parts)


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
    """Step lines over seconds, or over what `across` writes; a series is its class, its points and its name, `show`
    writes a value of the y axis."""
    points = [point for _, drawn, _ in series for point in drawn]
    end = max((x for x, _ in points), default=0) or 1e-9
    marks = steps(max((y for _, y in points), default=0), binary)
    left, top, right, bottom = 72, 24, WIDTH - 12, 200

    def x_of(value: float) -> float:
        return left + (right - left) * value / end

    def y_of(value: float) -> float:
        return bottom - (bottom - top) * value / marks[-1]

    parts = []
    for mark in marks:
        y = y_of(mark)
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="soft" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(show(mark))}</text>')
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x, words = left + (right - left) * share, escape((across or _seconds)(end * share))
        parts.append(f'<text class="soft" x="{x:.1f}" y="{bottom + 18}" text-anchor="{anchor}">{words}</text>')
    for number, (kind, drawn, name) in enumerate(series):
        x = left + number * 90
        parts.append(f'<path class="{escape(kind)}" d="{_path(drawn, x_of, y_of)}"/>')
        parts.append(f'<path class="{escape(kind)}" d="M{x} 10 h24"/><text x="{x + 30}" y="14">{escape(name)}</text>')
    return _svg(bottom + 24, described, parts)


def _path(points: Sequence[Point], x_of: Callable[[float], float], y_of: Callable[[float], float]) -> str:
    parts: list[str] = []
    for x, y in points:
        across, height = f"{x_of(x):.1f}", f"{y_of(max(y, 0)):.1f}"
        parts.append(f"H{across}V{height}" if parts else f"M{across} {height}")
    return "".join(parts)


def _seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if 0 < value < 1 else f"{value:.3g} s"


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
