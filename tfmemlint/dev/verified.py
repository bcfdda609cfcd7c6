"""The picture of what `verify` measured: one finding as its page shows it, drawn from figures that were kept.

Measuring takes TensorFlow and gives other figures on another machine. So the figures are kept in a file, made of what
`tfmemlint verify examples/data.py --output-format json` printed, and the picture is drawn from that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from tfmemlint.report.pages import pictures
from tfmemlint.verify.pages.report import NAMES, figure

KEPT = "verified.json"
_KEYS = ("code", "name", "place", "message", "verdict", "metric", "unit", "before", "after", "alone")
_WIDTH, _HEIGHT, _EDGE = 880, 310, 20
_MOST_POINTS = 120
_STYLE = """
.page text { fill: var(--ink); font: 14px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.page text.title { font-size: 17px; font-weight: 600; } .page .mark { fill: var(--good); }
.page text.place { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12.5px; }
.page .card { fill: var(--card); stroke: var(--line); }
.page text.head { font-size: 12px; font-weight: 600; fill: var(--soft); }
.page svg text { font-size: 9.5px; } .page text.soft { fill: var(--soft); }
.page text.made { font-size: 12px; fill: var(--soft); }
"""


def keep(printed: Path, out: Path) -> None:
    """Keep of what `verify` printed as JSON what the picture of its first finding needs."""
    told = json.loads(printed.read_text("utf-8"))
    found = told["results"][0]
    sides = {side: _thinned(found["runs"][side][0]["timeline"]) for side in ("before", "after")}
    where = {key: told["environment"][key] for key in ("versions", "device", "repeats")}
    text = json.dumps({**{key: found[key] for key in _KEYS}, **where, "timeline": sides})
    (out / KEPT).write_text(f"{text}\n", "utf-8")


def _thinned(timeline: list[list[float]]) -> list[list[float]]:
    """Seconds and bytes of the moments at which the bytes change, and of the last one."""
    moments = zip([[0.0, -1.0], *timeline], timeline, strict=False)
    points = [[round(now[0], 3), now[1]] for before, now in moments if now[1] != before[1]]
    return [*points[:: len(points) // _MOST_POINTS + 1], [round(timeline[-1][0], 3), timeline[-1][1]]]


def picture(kept: Path) -> str:
    """The picture of the finding whose figures are kept in this file."""
    found = json.loads(kept.read_text("utf-8"))
    name = f"{found['code']} {found['name']}"
    sides = {side: figure(found[side], found["unit"]) for side in ("before", "after")}
    what = NAMES[found["metric"]]
    figures = f"{sides['before']} before and {sides['after']} after the repair"
    described = escape(f"{name}, {found['verdict']}: {what} {figures}")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="page" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
    parts = [f'{head} aria-label="{described}"><title>{described}</title><style>{_page_style()}{_STYLE}</style>']
    parts.append(f'<rect class="card" x=".5" y=".5" width="{_WIDTH - 1}" height="{_HEIGHT - 1}" rx="8"/>')
    title = f'{escape(name)}<tspan dx="14" class="mark">\N{CHECK MARK} {escape(found["verdict"])}</tspan>'
    parts.append(f'<text class="title" x="{_EDGE}" y="34">{title}</text>')
    parts.append(_text("place soft", _WIDTH - _EDGE, 34, found["place"], "end"))
    parts.append(_text("", _EDGE, 60, found["message"]))
    parts.append(_text("head", _EDGE, 92, what.upper()))
    parts.append(_text("head", _WIDTH // 2 + _EDGE, 92, "BYTES HELD BY TENSORS OVER TIME"))
    rows = [(side, side, found[side], words) for side, words in sides.items()]
    series = [(side, [(x, y) for x, y in found["timeline"][side]], side) for side in sides]
    parts.append(_placed(pictures.bars(rows, what), _EDGE))
    parts.append(_placed(pictures.lines(series, lambda value: figure(value, "bytes"), what), _WIDTH // 2 + _EDGE))
    parts.append(_text("made", _EDGE, _HEIGHT - 20, _made(found)))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _made(found: Mapping[str, Any]) -> str:
    alone = "the flagged statements alone, with made-up data; " if found["alone"] else ""
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items() if name != "numpy")
    return f"{alone}{versions}; {found['device'].partition(' ')[0]}, {found['repeats']} runs each"


def _text(kind: str, x: int, y: int, words: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'


def _placed(drawn: str, x: int) -> str:
    """A picture of the page at its place in this one."""
    where = f'x="{x}" y="100" width="{_WIDTH // 2 - 2 * _EDGE}" height="170" preserveAspectRatio="xMinYMin"'
    return drawn.replace("<svg ", f"<svg {where} ", 1)


def _page_style() -> str:
    """Of the page's style sheet its colours, light and dark, and what it says of pictures."""
    sheet = files("tfmemlint.report.pages").joinpath("page.css").read_text("utf-8")
    colours = re.search(r"\A.*?\} \}\n", sheet, re.DOTALL)
    drawn = re.findall(r"^svg (?:path|\.).*\n", sheet, re.MULTILINE)
    return (colours[0] if colours else "") + "".join(drawn)
