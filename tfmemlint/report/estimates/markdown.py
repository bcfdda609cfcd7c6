"""Estimates as Markdown for the summary of a GitHub job: a table of all steps, and each step's details to open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tfmemlint.report.base import clean
from tfmemlint.report.estimates import curve, words
from tfmemlint.report.estimates.reported import DOES_NOT_FIT, FITS, MAY_NOT_FIT, Options, Reported
from tfmemlint.units import show_bytes

_WIDTH = 80
"""Columns of the curve: as many as the page of a pull request shows without scrolling."""
_MARKS = {FITS: "\u2705", MAY_NOT_FIT: "\u26a0\ufe0f", DOES_NOT_FIT: "\u274c"}
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>()#+!|&~$@:-]")


def render(found: Sequence[Reported], options: Options) -> str:
    """The summary; a sentence where there is no step."""
    lines = ["### GPU memory of one step", ""]
    if not found:
        return "\n".join([*lines, "No training step and no `predict` was seen.", ""])
    lines += _overview(found)
    for each in found:
        lines += ["", *_details(each, options)]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """A text from outside that says in Markdown what it says: no markup, no mention, no link, no cell of a table."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match.group())};", clean(text))


def _overview(found: Sequence[Reported]) -> Iterator[str]:
    refs = list(dict.fromkeys(each.before.ref for each in found if each.before))
    head = ["step", "batch", "peak", *(f"at {plain(ref)}" for ref in refs)]
    budgets = any(each.budget for each in found)
    yield from _table([*head, *(["fits"] if budgets else [])], [_line(each, bool(refs), budgets) for each in found])


def _line(found: Reported, compared: bool, budgets: bool) -> list[str]:
    step = found.estimate.of
    row = [f"{plain(words.heading(found))} {plain(step.call)}", str(found.estimate.batch) if found.is_whole else "?"]
    row.append(words.interval(found.estimate) if found.is_whole else f"{words.example(found)} each example")
    if compared:
        row.append(plain(words.change(found)) if found.before else "")
    if budgets:
        mark = f"{_MARKS[found.verdict]} " if found.verdict else ""
        row.append(mark + words.fit(found) if found.budget else "")
    return row


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _details(found: Reported, options: Options) -> Iterator[str]:
    estimate = found.estimate
    yield f"<details><summary>{plain(words.heading(found))} {plain(words.about(estimate.of, estimate.batch))}</summary>"
    yield ""
    yield from _table(["", "bytes"], [[plain(name), plain(value)] for name, value in words.figures(found)])
    if missing := words.unknown(found):
        yield from ("", *(f"- {plain(each)}" for each in missing))
    if found.is_whole and (drawn := curve.in_text(estimate, _WIDTH)):
        yield from ("", "```text", *drawn, "```")
    if found.saves:
        rows = [[plain(each.change), f"-{show_bytes(each.saves)}"] for each in found.saves]
        yield from ("", *_table(["what would save", "bytes"], rows))
    if options.per_layer and found.is_whole:
        yield from ("", *_table(["line", "layer", "output", "parameters", "kept", "of the peak"], _layers(found)))
    yield from ("", "</details>")


def _layers(found: Reported) -> list[list[str]]:
    rows = []
    for each in found.estimate.layers:
        name = f"{plain(each.name)} ({plain(each.kind)})"
        kept = show_bytes(each.kept) if each.kept else ""
        share = words.share(each, found.estimate)
        place = found.place(each.line)
        rows.append([str(place or ""), name, words.shape(each), words.number(each.parameters), kept, share])
    return rows
