"""The pictures of the page."""

from __future__ import annotations

from benchmarks.report import scaling
from benchmarks.report.svg import COLOURS, Series, curves, dots
from benchmarks.results import Results
from benchmarks.tools import LIBCST, OURS, PEERS


def pictures(results: Results) -> dict[str, str]:
    """The pictures by the names of their files; those of which nothing was measured are not there."""
    made = {"peers.svg": peers(results), "scaling.svg": growth(results), "memory.svg": memory(results)}
    return {name: text for name, text in made.items() if text}


def peers(results: Results) -> str:
    """How long tools take for the same files, in times of parsing."""
    subjects = list(dict.fromkeys(each.subject for each in results.of("peers")))[:COLOURS]
    rows: list[tuple[str, list[float | None]]] = []
    for tool in PEERS:
        row: list[float | None] = []
        for name in subjects:
            parse, each = (results.get("peers", name, wanted.name) for wanted in (LIBCST, tool))
            row.append(each.cpu / parse.cpu if each and parse else None)
        if any(row):
            rows.append((tool.title.replace("`", ""), row))
    names = [results.subjects[name].title.replace("`", "") for name in subjects]
    title = "CPU time of a whole process, in times of parsing with libcst"
    return dots(title, rows, names, "times parsing, logarithmic") if rows else ""


def growth(results: Results) -> str:
    """CPU seconds by lines; a dashed line is the parser's."""
    series = []
    for number, shape in enumerate(scaling.shapes(results)[:COLOURS]):
        series.append(Series(shape.title, shape.points[OURS.name], number))
        series.append(Series("", shape.points[LIBCST.name], number, dashed=True))
    title = "CPU seconds by lines of a program: linting, and dashed, parsing alone"
    return curves(title, series, "lines, logarithmic", "CPU s, logarithmic") if series else ""


def memory(results: Results) -> str:
    """Peak memory by the lines of all files that one process reads."""
    series = []
    for number, tool in enumerate((OURS, LIBCST)):
        points = [
            (float(results.subjects[each.subject].lines), each.taken.peak / 2**20)
            for each in results.of("memory-tree")
            if each.tool == tool.name
        ]
        if points:
            series.append(Series(tool.title, sorted(points), number))
    title = "Peak memory of one process by the lines of all files that it reads"
    return curves(title, series, "lines, logarithmic", "MiB", logarithmic=False) if series else ""
