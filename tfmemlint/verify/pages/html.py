"""The verdicts as one HTML page that needs nothing but itself."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Container, Sequence
from html import escape

from tfmemlint.report.pages import pictures
from tfmemlint.report.pages.html import document, shown, shown_path
from tfmemlint.verify.pages.report import HEADINGS, NAMES, YES_NO, cells, figure, made_with, summary
from tfmemlint.verify.result import Environment, Result
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.verdicts import KINDS, Verdict

SIDES = ("before", "after")
MARKED = {"live_slope": 1, "rss_slope": 3, "traces_slope": 4, "nodes_slope": 5}
"""What is drawn round by round for growth, as the column of the marks that holds it."""

_ALONE = '<span class="badge alone" title="the flagged statements only, with made-up operands">measured alone</span>'


def page(results: Sequence[Result], where: Environment, title: str = "Memory before and after") -> str:
    """The page of these verdicts as text."""
    opening = f'<h1>{shown(title)}</h1>{_counts(results)}<p class="made">{shown(made_with(where))}</p>\n'
    sections = [_section(number, result) for number, result in enumerate(results)]
    return document(title, opening + _overview(results) + "".join(sections))


def _counts(results: Sequence[Result]) -> str:
    counted = Counter(result.verdict.kind for result in results)
    badges = [
        f'<span class="badge {_class(kind)}">{counted[kind]} {escape(kind)}</span>' for kind in KINDS if counted[kind]
    ]
    return f'<p class="counts">{" ".join(badges) or escape(summary(results))}</p>'


def _overview(results: Sequence[Result]) -> str:
    if not results:
        return ""
    rows = []
    for number, result in enumerate(results):
        kind = result.verdict.kind
        label = f'<a href="#finding-{number}">{shown_path(_heading(result))}</a>'
        texts = (label, *map(escape, cells(result.verdict)), f'<span class="{_class(kind)}">{escape(kind)}</span>')
        rows.append(_row("td", texts))
    table = f"<thead>{_row('th', HEADINGS)}</thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="scroll" role="region" aria-label="all findings" tabindex="0"><table>{table}</table></div>\n'


def _row(tag: str, texts: Sequence[str]) -> str:
    """A row of the overview, with the verdict, which a narrow page must show, right after the finding."""
    styles = ("finding", "measured", *("number",) * 4, "verdict")
    made = [f'<{tag} class="{style}">{text}</{tag}>' for style, text in zip(styles, texts, strict=True)]
    return f"<tr>{''.join((made[0], made[-1], *made[1:-1]))}</tr>"


def _heading(result: Result) -> str:
    return result.place if result.place.startswith(result.code) else f"{result.code} {result.place}"


def _class(kind: str) -> str:
    return kind.replace(" ", "-")


def _section(number: int, result: Result) -> str:
    verdict = result.verdict
    kind = verdict.kind
    title = result.code if result.place.startswith(result.code) else f"{result.code} {result.name}"
    parts = [
        f'<section id="finding-{number}"><header><h2>{shown(title)}</h2>'
        f'<span class="badge {_class(kind)}">{escape(kind)}</span>{_ALONE if result.alone else ""}'
        f'<span class="place">{shown_path(result.place)}</span></header>'
    ]
    parts += [f'<p class="message">{shown(text)}</p>' for text in (result.message, verdict.reason) if text]
    if result.notes:
        parts.append(f'<ul class="notes">{"".join(f"<li>{shown(note)}</li>" for note in result.notes)}</ul>')
    drawn = [picture for picture in (_bars(verdict), _rounds(result) or _timeline(result)) if picture]
    if drawn:
        parts.append(f'<div class="pictures">{"".join(drawn)}</div>')
    if result.pair is not None:
        after = result.pair.after
        parts.append(_programs(result.pair.before.listing, None if after is None else after.listing))
    return "".join(parts) + "</section>\n"


def _bars(verdict: Verdict) -> str:
    """The figures beside each other: before and after, or what the message claims and what was seen."""
    if verdict.seen:
        rows = [("claimed", "claimed", verdict.claimed), ("before", "seen", verdict.before)]
    else:
        rows = [("before", "before", verdict.before), ("after", "after", verdict.after)]
    known = [(kind, name, value, figure(value, verdict.unit)) for kind, name, value in rows if value is not None]
    if len(known) < len(rows) or verdict.metric in YES_NO:
        return ""
    title = NAMES.get(verdict.metric or "", verdict.metric or "")
    described = f"{title}: {', '.join(f'{words} {name}' for _, name, _, words in known)}"
    return f"<div><h3>{escape(title)}</h3>{pictures.bars(known, described)}</div>"


def _series(
    result: Result, points: Callable[[Run], list[pictures.Point]]
) -> list[tuple[str, list[pictures.Point], str]]:
    """One line for each side that has one, of the first run that has enough points."""
    single = result.pair is not None and result.pair.after is None
    drawn = []
    for name, runs in zip(SIDES, (result.before, result.after), strict=True):
        found = next((made for run in runs if len(made := points(run)) > 1), None)
        if found is not None:
            drawn.append((name, found, "seen" if single else name))
    return drawn if any(value > 0 for _, made, _ in drawn for _, value in made) else []


def _rounds(result: Result) -> str:
    """What is there after each round, where it is the growth from round to round that counts."""
    metric, unit = result.verdict.metric or "", result.verdict.unit
    column = MARKED.get(metric)
    if column is None:
        return ""

    def points(run: Run) -> list[pictures.Point]:
        start = (run.rss_start or 0) if metric == "rss_slope" else 0
        values = [row[column] if column < len(row) else None for row in run.marks]
        return [(number, value - start) for number, value in enumerate(values, 1) if value is not None]

    series = _series(result, points)
    if not series:
        return ""
    what = f"{NAMES[metric].removesuffix(' a step')}, round by round"
    drawn = pictures.lines(series, lambda value: figure(value, unit), what, unit == "bytes", "{:.0f}".format)
    return f"<div><h3>{what}</h3>{drawn}</div>"


def _timeline(result: Result) -> str:
    resident = (result.verdict.metric or "").startswith("rss")

    def points(run: Run) -> list[pictures.Point]:
        if resident:
            start = run.rss_start or 0
            return [(sample[0], sample[2] - start) for sample in run.timeline if sample[2] is not None]
        return [(sample[0], sample[1]) for sample in run.timeline]

    series = _series(result, points)
    if not series:
        return ""
    what = "process memory over time" if resident else "bytes held by tensors over time"
    drawn = pictures.lines(series, lambda value: figure(value, "bytes"), what)
    return f"<div><h3>{what}</h3>{drawn}</div>"


def _programs(before: str, after: str | None) -> str:
    """Both programs beside each other with what differs marked, or the only one."""
    old = before.splitlines()
    if after is None:
        return f'<div class="programs"><div><h3>program</h3>{_listing(old, set(), "")}</div></div>'
    new = after.splitlines()
    gone: set[int] = set()
    come: set[int] = set()
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag != "equal":
            gone.update(range(start, end))
            come.update(range(new_start, new_end))
    blocks = (("before", _listing(old, gone, "gone")), ("after", _listing(new, come, "come")))
    return f'<div class="programs">{"".join(f"<div><h3>{name}</h3>{text}</div>" for name, text in blocks)}</div>'


def _listing(lines: Sequence[str], marked: Container[int], kind: str) -> str:
    spans = (f' class="{kind}"' if number in marked else "" for number in range(len(lines)))
    texts = (shown(line.expandtabs(4)) for line in lines)
    return f"<pre>{''.join(f'<span{span}>{text}</span>' for span, text in zip(spans, texts, strict=True))}</pre>"
