"""The figures of one monitored program as an HTML page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tfmemlint.report.pages import pictures
from tfmemlint.report.pages.html import document, shown, shown_path
from tfmemlint.units import show_bytes
from tfmemlint.verify.compared import Earlier, remarks
from tfmemlint.verify.compared import rows as both_rows
from tfmemlint.verify.monitor import Hot, headline
from tfmemlint.verify.run.runs import Run


def page(name: str, run: Run, lines: Sequence[Hot], earlier: Earlier | None = None) -> str:
    """The whole page as text; with the figures and the course of an `earlier` run beside those of this one."""
    title = f"Memory of {name}"
    versions = ", ".join(f"{what} {version}" for what, version in run.versions.items())
    parts = [f'<h1>{shown(title)}</h1><p class="made">{shown(versions)}</p>']
    if run.error is not None:
        parts.append(f'<p class="warning">ended by {shown(run.error.text)}</p>')
    if run.allocator_problem:
        parts.append(f'<p class="warning">tensors could not be counted: {shown(run.allocator_problem)}</p>')
    if earlier is None:
        both, heading = f'<div class="pictures"><div>{_figures(run)}</div>{_course(run)}</div>', "The whole run"
    else:
        parts += [f'<p class="warning">{shown(remark)}</p>' for remark in remarks(earlier, name, run)]
        pictures_of_both = "".join(_courses(earlier.run, run))
        both = f'{_figures_of_both(earlier.run, run)}<div class="pictures">{pictures_of_both}</div>'
        heading = f"This run, and before it {shown(earlier.name)}"
    parts.append(f"<section><h2>{heading}</h2>{both}</section>")
    if lines:
        parts.append(f"<section><h2>Lines that were executing</h2>{_table(lines)}</section>")
    return document(title, "\n".join(parts))


def _figures(run: Run) -> str:
    rows = "".join(
        f'<tr><td class="indented">{escape(label)}</td><td class="number">{value}</td></tr>'
        for label, value in headline(run)
    )
    return f"<table>{rows}</table>"


def _figures_of_both(before: Run, now: Run) -> str:
    head = '<tr><th></th><th class="number">before</th><th class="number">now</th><th class="number"></th></tr>'
    rows = [
        f'<tr><td class="indented">{escape(row.label)}</td>'
        + "".join(f'<td class="number">{escape(text)}</td>' for text in (row.before, row.now, row.change))
        + "</tr>"
        for row in both_rows(before, now)
    ]
    return f"<table>{head}{''.join(rows)}</table>"


def _courses(before: Run, now: Run) -> Iterator[str]:
    """Two pictures, of tensors and of the process, with a curve for each run."""
    held = [("before", _held(before), "before"), ("after", _held(now), "now")]
    resident = [("before", _resident(before), "before"), ("after", _resident(now), "now")]
    for heading, series in (("tensors over time", held), ("process since its start", resident)):
        if series := [each for each in series if each[1]]:
            drawn = pictures.lines(series, show_bytes_of, f"{heading}, before and now")
            yield f"<div><h3>{heading}</h3>{drawn}</div>"


def _held(run: Run) -> list[pictures.Point]:
    return [(sample[0], float(sample[1])) for sample in run.timeline]


def _resident(run: Run) -> list[pictures.Point]:
    start = run.rss_start or 0
    return [(sample[0], float(sample[2] - start)) for sample in run.timeline if sample[2] is not None]


def _course(run: Run) -> str:
    both = [("before", _held(run), "tensors"), ("after", _resident(run), "process, since its start")]
    series = [each for each in both if each[1]]
    if not series:
        return ""
    described = "memory over time: held by tensors, and by the process since its start"
    drawn = pictures.lines(series, show_bytes_of, described)
    return f"<div><h3>memory over time</h3>{drawn}</div>"


def show_bytes_of(value: float) -> str:
    """A mark of the axis in words."""
    return show_bytes(round(value))


def _table(lines: Sequence[Hot]) -> str:
    head = '<tr><th class="number">peak rose by</th><th class="number">held then</th><th>line</th></tr>'
    rows = []
    for hot in lines:
        texts = [
            f'<span class="place">{shown_path(hot.where)}</span>',
            f"<code>{shown(hot.code)}</code>",
        ]
        texts += [f'<span class="warning">{each.code}</span> {shown(each.message)}' for each in hot.findings]
        numbers = [f'<td class="number">{show_bytes(value)}</td>' for value in (hot.line.rise, hot.line.live)]
        rows.append(f'<tr>{"".join(numbers)}<td class="wide">{"<br>".join(texts)}</td></tr>')
    return f"<table>{head}{''.join(rows)}</table>"
