"""The verdicts as one HTML page that needs nothing but itself: no script, no font, no picture from elsewhere."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from html import escape
from importlib import resources

from tfmemlint.report.base import clean
from tfmemlint.verify.pages import pictures
from tfmemlint.verify.pages.report import NAMES, YES_NO, cells, figure, made_with, summary
from tfmemlint.verify.result import Environment, Result
from tfmemlint.verify.run.runs import Run

SIDES = ("before", "after")


def shown(text: str) -> str:
    """The text for a page, without characters that draw it in another place or order."""
    return escape(clean(text))


def document(title: str, body: str) -> str:
    """A page with this body and the style of all pages."""
    style = resources.files("tfmemlint.verify.pages").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>tfmemlint: {escape(title)}</title><style>\n{style}</style></head><body>\n{body}</body></html>\n"
    )


def page(results: Sequence[Result], where: Environment, title: str = "Memory before and after") -> str:
    """The page of these verdicts as text."""
    opening = f'<h1>{escape(title)}</h1><p class="made">{escape(summary(results))}<br>{shown(made_with(where))}</p>\n'
    sections = [_section(number, result) for number, result in enumerate(results)]
    return document(title, opening + _overview(results) + "".join(sections))


def _overview(results: Sequence[Result]) -> str:
    if not results:
        return ""
    headings = ("finding", "measured", "before", "after", "saved", "ratio", "verdict")
    numeric = {"before", "after", "saved", "ratio"}

    def cell(tag: str, name: str, text: str) -> str:
        return f'<{tag} class="number">{text}</{tag}>' if name in numeric else f"<{tag}>{text}</{tag}>"

    rows = ["".join(cell("th", name, name) for name in headings)]
    for number, result in enumerate(results):
        kind = result.verdict.kind
        label = f'<a href="#finding-{number}">{shown(_heading(result))}</a>'
        texts = (label, *map(escape, cells(result.verdict)), f'<span class="{_class(kind)}">{escape(kind)}</span>')
        rows.append("".join(cell("td", name, text) for name, text in zip(headings, texts, strict=True)))
    return f'<div class="scroll"><table>{"".join(f"<tr>{row}</tr>" for row in rows)}</table></div>\n'


def _heading(result: Result) -> str:
    return result.place if result.place.startswith(result.code) else f"{result.code} {result.place}"


def _class(kind: str) -> str:
    return kind.replace(" ", "-")


def _section(number: int, result: Result) -> str:
    verdict = result.verdict
    kind = verdict.kind
    title = result.code if result.place.startswith(result.code) else f"{result.code} {result.name}"
    parts = [
        f'<section id="finding-{number}"><header class="finding"><h2>{escape(title)}</h2>'
        f'<span class="place">{shown(result.place)}</span>'
        f'<span class="badge {_class(kind)}">{escape(kind)}</span></header>'
    ]
    parts += [f'<p class="message">{shown(text)}</p>' for text in (result.message, verdict.reason) if text]
    if result.notes:
        parts.append(f'<ul class="notes">{"".join(f"<li>{shown(note)}</li>" for note in result.notes)}</ul>')
    drawn = [picture for picture in (_bars(result), _timeline(result)) if picture]
    if drawn:
        parts.append(f'<div class="pictures">{"".join(drawn)}</div>')
    if result.pair is not None:
        after = result.pair.after.listing if result.pair.after is not None else ""
        parts.append(_programs(result.pair.before.listing, after))
    return "".join(parts) + "</section>\n"


def _bars(result: Result) -> str:
    verdict = result.verdict
    if verdict.before is None or verdict.after is None or verdict.metric in YES_NO:
        return ""
    name = NAMES.get(verdict.metric or "", verdict.metric or "")
    values = (verdict.before, verdict.after)
    rows = [(side, value, figure(value, verdict.unit)) for side, value in zip(SIDES, values, strict=True)]
    described = f"{name}: {rows[0][2]} before, {rows[1][2]} after"
    return f"<div><h3>{escape(name)}</h3>{pictures.bars(rows, described)}</div>"


def _points(run: Run, resident: bool) -> list[pictures.Point]:
    if resident:
        start = run.rss_start or 0
        return [(sample[0], sample[2] - start) for sample in run.timeline if sample[2] is not None]
    return [(sample[0], sample[1]) for sample in run.timeline]


def _timeline(result: Result) -> str:
    runs = [next((run for run in side if len(run.timeline) > 1), None) for side in (result.before, result.after)]
    resident = (result.verdict.metric or "").startswith("rss")
    series = [(name, _points(run, resident), name) for name, run in zip(SIDES, runs, strict=True) if run is not None]
    if not any(value > 0 for _, points, _ in series for _, value in points):
        return ""
    what = "process memory over time" if resident else "bytes held by tensors over time"
    drawn = pictures.lines(series, lambda value: figure(value, "bytes"), what)
    return f"<div><h3>{what}</h3>{drawn}</div>"


def _programs(before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    changed: tuple[set[int], set[int]] = (set(), set())
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag != "equal":
            changed[0].update(range(start, end))
            changed[1].update(range(new_start, new_end))
    blocks = []
    for name, text, marked, kind in (("before", old, changed[0], "gone"), ("after", new, changed[1], "come")):
        lines = "".join(
            f'<span class="{kind}">{escape(line)}</span>' if number in marked else f"<span>{escape(line)}</span>"
            for number, line in enumerate(text)
        )
        blocks.append(f"<div><h3>{name}</h3><pre>{lines}</pre></div>")
    return f'<div class="programs">{"".join(blocks)}</div>'
