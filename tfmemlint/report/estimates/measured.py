"""What was measured of a step beside its estimate, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfmemlint.estimate.measured import Pair, compared, difference
from tfmemlint.report.base import clean
from tfmemlint.report.estimates.reported import Reported
from tfmemlint.units import show_bytes

if TYPE_CHECKING:
    from tfmemlint.estimate.measured import MeasuredStep

Row = tuple[str, ...]
MOST = 8
"""Layers that are shown."""


def heading(found: Reported) -> str:
    """How it was measured: `measured on the CPU, TensorFlow 2.21.0`."""
    measured = _of(found)
    version = dict(measured.versions).get("tensorflow")
    words = f"measured on the CPU, TensorFlow {version}" if version else "measured on the CPU"
    step = found.estimate.of
    differs = measured.batch is not None and step.batch is not None and measured.batch != found.estimate.batch
    return clean(f"{words}, at batch {measured.batch}" if differs or step.batch is None else words)


def figures(found: Reported) -> list[Row]:
    """A table: what, estimated, measured, and by how many percent the estimate is off."""
    estimate, measured = found.estimate, _of(found)
    whole = found.is_whole
    of_variables = estimate.weights + estimate.slots if found.has_model else None
    rows = [
        ("variables", of_variables, measured.variables),
        ("one batch of data", estimate.data if whole else None, measured.data),
        ("step", estimate.step if whole else None, measured.step),
        ("peak", estimate.low if whole else None, measured.peak),
    ]
    table: list[Row] = [("", "estimated", "measured", "error")]
    for name, ours, truth in rows:
        table.append((name, _size(ours), "in the step" if truth is None else show_bytes(truth), _error(ours, truth)))
    above = estimate.high if whole and not estimate.bounded else None
    table.append(("peak with what the allocator adds", _size(above), _size(measured.in_use), _within(found)))
    return table


def alive(found: Reported) -> tuple[list[Row], list[str]]:
    """What lives at the peak by layer, estimated and measured, and what one of both has that the other lacks."""
    pairs = compared(found.estimate, _of(found))
    both = [each for each in pairs if each.estimated is not None and each.measured is not None]
    table: list[Row] = [("layer", "", "estimated", "measured", "")] if both else []
    for each in both[:MOST]:
        place = found.place(each.line)
        where = f"in the memory of {clean(each.instead)}" if each.instead else ""
        table.append((_name(each), str(place) if place else "", _size(each.estimated), _size(each.measured), where))
    lists = []
    for what, side in (("estimated only", "measured"), ("measured only", "estimated")):
        named = [each for each in pairs if getattr(each, side) is None]
        if named:
            words = (f"{_name(each)} {_size(each.estimated or each.measured)}" for each in named[:MOST])
            lists.append(f"{what}: {', '.join(words)}")
    return table, lists


def record(found: Reported) -> dict[str, Any] | None:
    """The same for programs: bytes, None where nothing was measured."""
    measured = found.measured
    if measured is None:
        return None
    return {
        "batch": measured.batch,
        "bytes": {
            "variables": measured.variables, "input": measured.data, "step": measured.step, "peak": measured.peak,
            "in_use": measured.in_use,
        },
        "alive": [
            {"layer": each.name or None, "estimated": each.estimated, "measured": each.measured,
             "in_memory_of": each.instead or None}
            for each in (compared(found.estimate, measured) if found.is_whole else ())
        ],
        "ops": [
            {"op": each.op, "bytes": each.bytes, "layers": [name for name, _ in each.layers]} for each in measured.held
        ],
        "made_up": list(measured.made_up),
        "versions": dict(measured.versions),
    }  # fmt: skip


def _of(found: Reported) -> MeasuredStep:
    assert found.measured is not None
    return found.measured


def _name(pair: Pair) -> str:
    return clean(pair.name) or "no layer"


def _size(size: int | None) -> str:
    return "not known" if size is None else show_bytes(size)


def _error(ours: int | None, truth: int | None) -> str:
    part = None if ours is None or truth is None else difference(ours, truth)
    return "" if part is None else f"{part:+.1%}".replace("%", " %").replace("-0.0 ", "0.0 ").replace("+0.0 ", "0.0 ")


def _within(found: Reported) -> str:
    """Whether the truth lies in the interval that the estimate gives."""
    estimate, truth = found.estimate, _of(found).in_use
    if not found.is_whole:
        return ""
    if truth < estimate.low:
        return "below the estimate"
    return "" if estimate.bounded else "within it" if truth <= estimate.high else "over it"
