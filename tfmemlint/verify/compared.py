"""Two runs of a program: the earlier one as it was saved, and how the figures of the later one differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tfmemlint.files.bounded_read import read_regular
from tfmemlint.units import show_bytes
from tfmemlint.verify.run.interpreters import MeasureError
from tfmemlint.verify.run.runs import MOST, Run

FORMAT = 1


@dataclass(frozen=True)
class Earlier:
    """A run that was saved: under which name, of which program, and its figures without their lines."""

    name: str
    script: str
    run: Run


@dataclass(frozen=True)
class Row:
    """One figure of both runs in words, and by how much the later one differs: empty where one is not known."""

    label: str
    before: str
    now: str
    change: str


def as_data(run: Run) -> dict[str, Any]:
    """The figures of a run as JSON has them, without its lines."""
    return {name.replace("_", "-"): value for name, value in msgspec.to_builtins(run).items() if name != "lines"}


def read_earlier(path: Path) -> Earlier:
    """What `--save` wrote. Raises MeasureError with one line for anything else."""
    try:
        data = json.loads(read_regular(str(path), MOST))
    except OSError as error:
        raise MeasureError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError):
        raise MeasureError(f"{path}: not what `tfmemlint run --save` wrote: it is no JSON") from None
    if not isinstance(data, dict) or "peak-bytes" not in data:
        raise MeasureError(f"{path}: not what `tfmemlint run --save` wrote: it has no figures")
    if data.get("format") != FORMAT:
        raise MeasureError(f"{path}: saved in format {data.get('format')!r:.20}; this version reads {FORMAT}")
    known = {name: data[key] for name in Run.__struct_fields__ if (key := name.replace("_", "-")) in data}
    known.pop("lines", None)
    try:
        run = msgspec.convert(known, Run)
    except (msgspec.ValidationError, RecursionError) as error:
        raise MeasureError(f"{path}: not what `tfmemlint run --save` wrote: {error}") from None
    return Earlier(path.name, str(data.get("script", ""))[:200], run)


def figures(run: Run) -> dict[str, int | None]:
    """The bytes that are said of a run as a whole, by their names."""
    grown = None if run.rss_peak is None or run.rss_start is None else run.rss_peak - run.rss_start
    return {
        "peak of tensors": run.peak_bytes,
        "tensors at the end": run.live_bytes,
        "peak of process memory": run.rss_peak,
        "  of which since the start": grown,
        "card's memory in use": run.device_used_peak,
    }


def rows(before: Run, now: Run) -> list[Row]:
    """The figures of both runs, those that either has."""
    made, later = [], figures(now)
    for label, old in figures(before).items():
        new = later[label]
        if old is not None or new is not None:
            made.append(Row(label, _shown(old), _shown(new), change(old, new)))
    made.append(Row("traces", str(before.traces), str(now.traces), change(before.traces, now.traces)))
    made.append(Row("seconds", f"{before.seconds:.1f}", f"{now.seconds:.1f}", change(before.seconds, now.seconds)))
    return made


def _shown(value: int | None) -> str:
    return "-" if value is None else show_bytes(value)


def change(before: float | None, now: float | None) -> str:
    """How much more or less the later value is, in percent of the earlier one."""
    if before is None or now is None:
        return ""
    if before == now:
        return "same"
    percent = round(100 * (now - before) / before) if before else None
    return "new" if percent is None else f"{percent:+d} %" if percent else "same"


def remarks(earlier: Earlier, script: str, now: Run) -> Iterator[str]:
    """Why the two runs may not be comparable, one line each."""
    before = earlier.run
    if earlier.script and earlier.script != script:
        yield f"{earlier.name} is of {earlier.script}, this is {script}"
    if before.device != now.device:
        yield f"they ran on different devices: {before.device or 'none'} before, {now.device or 'none'} now"
    for name in sorted(before.versions.keys() & now.versions.keys()):
        if before.versions[name] != now.versions[name]:
            yield f"{name} was {before.versions[name]} before and is {now.versions[name]} now"
    for said, run in (("before", before), ("now", now)):
        if run.status != "ok":
            yield f"{said} it ended early: {run.error.text if run.error else run.status}"
