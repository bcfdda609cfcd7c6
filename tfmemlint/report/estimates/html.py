"""Estimates as one HTML page that needs nothing but itself: what is known, the curve, what lives at the peak."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tfmemlint.report.estimates import svg, words
from tfmemlint.report.estimates.reported import DOES_NOT_FIT, FITS, MAY_NOT_FIT, Options, Reported
from tfmemlint.report.pages.html import document, shown, shown_path
from tfmemlint.units import show_bytes

TITLE = "Memory of one step"
_BADGES = {FITS: "confirmed", MAY_NOT_FIT: "not-confirmed", DOES_NOT_FIT: "the-repair-fails-here"}
"""The classes of the page's style that have the colour and the mark for a verdict."""


def render(found: Sequence[Reported], options: Options) -> str:
    """The page as text."""
    parts = [f'<h1>{TITLE}</h1><p class="made">Read from the code, which was not run.</p>']
    parts += [f"<style>{svg.STYLE}</style>"]
    parts += ['<p class="message">No training step and no predict was seen.</p>'] if not found else []
    return document(TITLE, "\n".join([*parts, *map(_section, found)]))


def _section(found: Reported) -> str:
    estimate, verdict = found.estimate, found.verdict
    badge = f'<span class="badge {_BADGES[verdict]}">{verdict}</span>' if verdict else ""
    parts = [
        f'<section><header><h2>{shown_path(words.heading(found))}</h2>{badge}'
        f'<span class="place">{shown(estimate.of.call)}</span></header>'
        f'<p class="message">{shown(words.about(estimate.of, estimate.batch))}</p>'
    ]
    if missing := words.unknown(found):
        parts.append(f'<ul class="notes">{"".join(f"<li>{shown(each)}</li>" for each in missing)}</ul>')
    figures = "".join(_row((name, value), ("", "wide")) for name, value in words.figures(found))
    parts.append(f"<h3>bytes</h3><table>{figures}</table>")
    if found.is_whole:
        if picture := svg.inline(found):
            parts.append(f"<h3>over one step</h3>{_scroll(picture, 'over one step')}")
        parts.append(_alive(found))
    if found.saves:
        head = _row(("change", "saves", "peak"), ("", "number", "number"), "th")
        rows = "".join(
            _row((each.change, show_bytes(each.saves), show_bytes(each.low)), ("wide", "number", "number"))
            for each in found.saves
        )
        parts.append(f"<h3>what would save</h3><table>{head}{rows}</table>")
    return "".join([*parts, _layers(found)]) + "</section>"


def _row(cells: Sequence[str], styles: Sequence[str], tag: str = "td") -> str:
    made = (
        f"<{tag}{f' class={chr(34)}{style}{chr(34)}' if style else ''}>{shown(cell)}</{tag}>"
        for cell, style in zip(cells, styles, strict=True)
    )
    return f"<tr>{''.join(made)}</tr>"


def _alive(found: Reported) -> str:
    held = sorted(found.estimate.held, key=lambda each: -each.bytes)
    if not held:
        return ""
    styles = ("wide", "", "number", "")
    rows = "".join(
        _row((each.layer or "no layer", str(found.place(each.line) or ""), show_bytes(each.bytes), each.why), styles)
        for each in held[:20]
    )
    more = sum(each.bytes for each in held[20:])
    rows += _row((f"{len(held) - 20} more", "", show_bytes(more), ""), styles) if more else ""
    head = _row(("layer", "place", "bytes", "why"), styles, "th")
    return f"<h3>alive at the peak</h3>{_scroll(_table(head + rows), 'alive at the peak')}"


def _layers(found: Reported) -> str:
    if not found.estimate.layers:
        return ""
    styles = ("wide", "", "", "", *("number",) * 4)
    head = _row(("layer", "type", "place", "output", "parameters", "kept", "gradients", "of the peak"), styles, "th")
    rows = []
    for each in found.estimate.layers:
        known: tuple[str, ...] = ("", "", "")
        if found.is_whole:
            sizes = (show_bytes(size) if size else "" for size in (each.kept, each.gradients))
            known = (*sizes, words.share(each, found.estimate))
        place = str(found.place(each.line) or "")
        parameters = words.number(each.parameters)
        rows.append(_row((each.name, each.kind, place, words.shape(each), parameters, *known), styles))
    return f"<h3>layers</h3>{_scroll(_table(head + ''.join(rows)), 'layers')}"


def _scroll(what: str, name: str) -> str:
    """What is wider than a small screen, to be moved there on its own."""
    region = f'<div class="scroll" role="region" aria-label="{escape(name)}" tabindex="0">'
    return f"{region}{what}</div>"


def _table(rows: str) -> str:
    return f"<table>{rows}</table>"
