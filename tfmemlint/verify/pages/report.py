"""Verdicts for people and programs: a table on a terminal, JSON with every figure, the lines of a rule's page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import msgspec

from tfmemlint.report.base import clean
from tfmemlint.report.style import Style, width
from tfmemlint.units import show_bytes
from tfmemlint.verify.result import Environment, Result
from tfmemlint.verify.run.measure import Program
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.verdicts import (
    CONFIRMED,
    INCONCLUSIVE,
    KINDS,
    NEEDS_MORE,
    NOT_CONFIRMED,
    REPAIR_FAILS,
    RULE_ONLY,
    TOO_SMALL,
    Verdict,
)

COLORS = {
    CONFIRMED: "green",
    NOT_CONFIRMED: "yellow",
    NEEDS_MORE: "red",
    REPAIR_FAILS: "red",
    TOO_SMALL: "dim",
    RULE_ONLY: "dim",
    INCONCLUSIVE: "cyan",
}
NAMES = {
    "peak_bytes": "peak of tensors",
    "live_bytes": "tensors at the end",
    "iterated_bytes": "held while iterated",
    "array_bytes": "peak of NumPy arrays",
    "rss": "process memory",
    "device_bytes": "card's memory",
    "traces": "traces",
    "seconds": "time",
    "step_seconds": "time of a step",
    "value": "counted",
    "live_slope": "tensors kept a step",
    "rss_slope": "memory kept a step",
    "traces_slope": "traces a step",
    "nodes_slope": "nodes a step",
    "taken": "taken there",
    "left": "left there",
    "wide": "float64 arrays given",
    "eager_runs": "ran eagerly",
    "element": "an element",
    "repeating": "repeated draws",
    "copied": "times copied",
    "unmixed": "batches unmixed",
    "growth_dropped": "memory growth lost",
    "error": "error",
    "output": "message",
    "out_of_memory": "out of memory",
}
YES_NO = ("error", "output", "out_of_memory", "growth_dropped")
LABEL = 48
MOST = 1e9
"""Counts from this on are written with three digits."""
HEADINGS = ("finding", "measured", "before", "after", "saved", "ratio", "verdict")


def figure(value: float | None, unit: str, metric: str | None = None) -> str:
    """A figure for people; a dash where there is none."""
    if value is None:
        return "-"
    if metric in YES_NO:
        return "yes" if value else "no"
    sign = "-" if value < 0 else ""
    if unit == "bytes":
        return sign + show_bytes(round(abs(value)))
    if unit == "s":
        return f"{value:.2f} s" if abs(value) >= 0.1 or not value else f"{1000 * value:.3g} ms"
    if value == round(value) and abs(value) < MOST:
        return f"{value:.0f}"
    return f"{value:.2f}" if 1 <= abs(value) < MOST else f"{value:.3g}"


def ratio(value: float | None) -> str:
    """A ratio with three digits, or that it is very large."""
    if value is None:
        return "-"
    return "over 1000x" if value > 1000 else f"{value:.3g}x"


def cells(verdict: Verdict) -> tuple[str, ...]:
    """What the columns from "measured" to "ratio" say; with no repair to compare, what was seen stands for "before"."""
    metric, unit = verdict.metric, verdict.unit
    saved = None if metric in YES_NO else verdict.saved
    sides = (figure(verdict.before, unit, metric), figure(verdict.after, unit, metric))
    if verdict.seen:
        sides = (f"seen {sides[0]}", sides[1])
    times = ratio(None if metric in YES_NO else verdict.ratio)
    return (NAMES.get(metric or "", metric or "-"), *sides, figure(saved, unit), times)


def in_words(verdict: Verdict) -> str:
    """The figures and the reason in one line."""
    if verdict.metric in YES_NO or verdict.before is None or verdict.after is None:
        return verdict.reason  # which has the figures, where there is no repair
    measured, before, after, *_ = cells(verdict)
    return "; ".join(filter(None, (f"{measured} {before} before, {after} after", verdict.reason)))


def write_text(results: Sequence[Result], where: Environment, stream: TextIO, style: Style) -> None:
    """The table, below it the reasons and replacements, and a line that counts the verdicts."""
    rows = [(clean(_label(result)), *cells(result.verdict), result.verdict.kind) for result in results]
    widths = [max(width(row[column]) for row in (HEADINGS, *rows)) for column in range(len(HEADINGS))]

    def line(row: Sequence[str], *styles: str) -> str:
        padded = [text + " " * (size - width(text)) for text, size in zip(row, widths, strict=True)]
        padded[-1] = style(row[-1], *styles) if styles else row[-1]
        return "  ".join(padded).rstrip()

    if rows:
        stream.write(style(line(HEADINGS), "bold") + "\n")
    for row, result in zip(rows, results, strict=True):
        stream.write(line(row, COLORS[result.verdict.kind]) + "\n")
        for note in (result.verdict.reason, *result.notes):
            if note:
                stream.write(style(f"    {clean(note)}", "dim") + "\n")
    stream.write(("\n" if rows else "") + summary(results) + "\n")
    if rows:
        stream.write(style(made_with(where), "dim") + "\n")


def _label(result: Result) -> str:
    """The place and the code; the beginning of a long path is left out."""
    if result.place.startswith(result.code):
        return result.place
    place = result.place if len(result.place) <= LABEL else f"...{result.place[3 - LABEL :]}"
    return f"{place} {result.code}"


def summary(results: Sequence[Result]) -> str:
    """How many of each verdict."""
    if not results:
        return "no findings to verify"
    counted = Counter(result.verdict.kind for result in results)
    return ", ".join(f"{counted[kind]} {kind}" for kind in KINDS if counted[kind])


def made_with(where: Environment) -> str:
    """Versions, device and how the programs were contained, in one line."""
    versions = ", ".join(f"{name} {version}" for name, version in where.versions.items())
    limit = f"; memory limit {show_bytes(where.memory_limit)}" if where.memory_limit else ""
    runs = "1 run each" if where.repeats == 1 else f"{where.repeats} runs each"
    return "; ".join(part for part in (versions, where.device, runs + limit, where.isolation) if part)


def write_json(results: Sequence[Result], where: Environment, stream: TextIO) -> None:
    """Everything that was measured, as one JSON object."""
    document = {
        "format": 1,
        "environment": {
            "versions": where.versions,
            "device": where.device,
            "isolation": where.isolation,
            "repeats": where.repeats,
            "memory-limit": where.memory_limit,
        },
        "results": [_record(result) for result in results],
    }
    json.dump(document, stream, indent=2)
    stream.write("\n")


def _record(result: Result) -> dict[str, Any]:
    verdict = result.verdict
    return {
        "code": result.code,
        "name": result.name,
        "place": result.place,
        "message": result.message,
        "verdict": verdict.kind,
        "reason": verdict.reason,
        "metric": verdict.metric,
        "unit": verdict.unit,
        "before": verdict.before,
        "after": verdict.after,
        "saved": verdict.saved,
        "ratio": verdict.ratio,
        "claimed": verdict.claimed,
        "alone": result.alone,
        "noise": verdict.noise,
        "repeats": verdict.repeats,
        "attempts": [
            {"programs": attempt.way, "verdict": attempt.verdict.kind, "reason": attempt.verdict.reason}
            for attempt in result.attempts
        ],
        "notes": list(result.notes),
        "programs": None
        if result.pair is None
        else {
            "before": _program(result.pair.before),
            "after": None if result.pair.after is None else _program(result.pair.after),
        },
        "runs": {"before": [_run(run) for run in result.before], "after": [_run(run) for run in result.after]},
    }


def _program(program: Program) -> dict[str, Any]:
    made = {"source": program.source, "simulated-gpus": program.simulated_gpus}
    return {**made, "modules": dict(program.modules)} if program.modules else made


def _run(run: Run) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(run)
    return {name.replace("_", "-"): value for name, value in fields.items()}


def measured(code: str, evidence: Mapping[str, Any]) -> list[str]:
    """The Markdown table of a rule's page from the content of the evidence file; empty where the rule has none."""
    kept = evidence.get("rules", {}).get(code)
    if not isinstance(kept, dict):
        return []
    verdict = Verdict(
        str(kept.get("verdict", "-")),
        str(kept.get("reason", "")),
        kept.get("metric"),
        str(kept.get("unit", "")),
        kept.get("before"),
        kept.get("after"),
        kept.get("noise"),
        int(kept.get("repeats", 1)),
    )
    versions, device = (kept.get(name, evidence.get(name)) for name in ("versions", "device"))
    where = Environment(versions or {}, device or "", "", verdict.repeats)
    head = ("measured", "before", "after", "saved", "ratio", "verdict")
    row = (*cells(verdict), verdict.kind)
    lines = [f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), row)]
    remarks = [*([verdict.reason] if verdict.reason else []), *kept.get("notes", ())]
    return [*lines, "", *(f"- {remark}" for remark in remarks), *([""] if remarks else []), made_with(where)]
