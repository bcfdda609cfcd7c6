"""The figures of one monitored program as an HTML page that needs nothing but itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape

from tfmemlint.report.pages import pictures
from tfmemlint.report.pages.html import document, shown, shown_path
from tfmemlint.units import show_bytes
from tfmemlint.verify.monitor import Hot, headline
from tfmemlint.verify.run.runs import Run


def page(name: str, run: Run, lines: Sequence[Hot]) -> str:
    """The whole page as text."""
    title = f"Memory of {name}"
    versions = ", ".join(f"{what} {version}" for what, version in run.versions.items())
    parts = [f'<h1>{shown(title)}</h1><p class="made">{shown(versions)}</p>']
    if run.error is not None:
        parts.append(f'<p class="warning">ended by {shown(run.error.text)}</p>')
    if run.allocator_problem:
        parts.append(f'<p class="warning">tensors could not be counted: {shown(run.allocator_problem)}</p>')
    rows = "".join(
        f'<tr><td class="indented">{escape(label)}</td><td class="number">{value}</td></tr>'
        for label, value in headline(run)
    )
    both = f'<div class="pictures"><div><table>{rows}</table></div>{_course(run)}</div>'
    parts.append(f"<section><h2>The whole run</h2>{both}</section>")
    if lines:
        parts.append(f"<section><h2>Lines that were executing</h2>{_table(lines)}</section>")
    return document(title, "\n".join(parts))


def _course(run: Run) -> str:
    start = run.rss_start or 0
    resident = [(sample[0], float(sample[2] - start)) for sample in run.timeline if sample[2] is not None]
    held = [(sample[0], float(sample[1])) for sample in run.timeline]
    both = [("before", held, "tensors"), ("after", resident, "process, since its start")]
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
            f'<span class="place">{shown_path(os.path.relpath(hot.line.file))}:{hot.line.line}</span>',
            f"<code>{shown(hot.code)}</code>",
        ]
        texts += [f'<span class="warning">{each.code}</span> {shown(each.message)}' for each in hot.findings]
        numbers = [f'<td class="number">{show_bytes(value)}</td>' for value in (hot.line.rise, hot.line.live)]
        rows.append(f'<tr>{"".join(numbers)}<td class="wide">{"<br>".join(texts)}</td></tr>')
    return f"<table>{head}{''.join(rows)}</table>"
