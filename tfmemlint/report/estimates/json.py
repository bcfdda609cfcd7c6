"""Estimates as one JSON array: a stable contract. Bytes are integers; what is not known is null, never 0."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfmemlint.report.estimates import measured, words
from tfmemlint.report.estimates.reported import Options, Reported

if TYPE_CHECKING:
    from tfmemlint.estimate.answer import Estimate

VERSION = 1
_ITEM = {"float16": 2, "bfloat16": 2, "float64": 8}
"""Bytes of one number of a variable under policies that do not keep variables in float32."""


def render(found: Sequence[Reported], options: Options) -> str:
    """The array, one object a step and each on a line of its own: a curve has thousands of numbers."""
    lines = ",\n".join(json.dumps(_record(each)) for each in found)
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def _record(found: Reported) -> dict[str, Any]:
    estimate, step = found.estimate, found.estimate.of
    optimizers = dict.fromkeys(each.optimizer.kind for each in step.passes if each.backward and each.optimizer)
    whole = found.is_whole
    return {
        "version": VERSION,
        "path": found.path,
        **_place(found, step.line),
        "call": step.call,
        "model": _model(estimate),
        "batch": step.batch if step.batch is None else estimate.batch,
        "optimizer": " and ".join(optimizers) or None,
        "precision": step.precision,
        "mode": step.mode,
        "known": whole and not estimate.bounded and not estimate.missing,
        "missing": [
            {
                "what": each.what, **_place(found, each.line), "option": each.option, "name": each.name,
                "bounds": each.bounds,
            }
            for each in estimate.missing
        ],
        "bytes": _bytes(found),
        "peak": _peak(found) if whole else None,
        "alive": [
            {"layer": each.layer or None, **_place(found, each.line), "bytes": each.bytes, "why": each.why}
            for each in estimate.held
        ]
        if whole
        else None,
        "layers": [
            {
                **_place(found, each.line), "name": each.name, "type": each.kind, "output": list(each.output),
                "parameters": each.parameters, "kept": each.kept if whole else None,
                "gradients": each.gradients if whole else None, "at_peak": each.at_peak if whole else None,
            }
            for each in estimate.layers
        ],
        **(_curve(estimate) if whole else {"curve": None, "phases": None}),
        "budget": _budget(found),
        "what_if": [{"change": each.change, "low": each.low, "saves": each.saves} for each in found.saves]
        if found.saves is not None
        else None,
        "before": _before(found),
        "measured": measured.record(found),
    }  # fmt: skip


def _place(found: Reported, line: int) -> dict[str, int | None]:
    place = found.place(line)
    return {"line": None, "cell": None} if place is None else {"line": place.line, "cell": place.cell}


def _model(estimate: Estimate) -> dict[str, Any]:
    """The model in words and numbers. Of a lower bound some layer is not known, and neither is how many parameters
    there are; what is trained shows in gradients alone."""
    step = estimate.of
    known = bool(step.passes) and not estimate.bounded
    trained = sum(each.gradients for each in estimate.layers) // _ITEM.get(step.precision, 4)
    return {
        "name": step.model,
        "kind": step.model.partition(",")[0],
        "parameters": sum(each.parameters for each in estimate.layers) if known else None,
        "trainable": trained if known and words.trains(step) else None,
    }


def _bytes(found: Reported) -> dict[str, int | None]:
    estimate, whole = found.estimate, found.is_whole
    above = whole and not estimate.bounded
    return {
        "weights": estimate.weights if found.has_model else None,
        "slots": estimate.slots if found.has_model and words.has_slots(estimate.of) else None,
        "input": estimate.data if whole else None,
        "step": estimate.step if whole else None,
        "low": estimate.low if whole else None,
        "guess": estimate.guess if above else None,
        "high": estimate.high if above else None,
        "per_example": found.per_example,
    }


def _peak(found: Reported) -> dict[str, Any]:
    peak = found.estimate.peak
    return {"op": peak.op, "layer": peak.layer or None, **_place(found, peak.line), "phase": peak.part}


def _curve(estimate: Estimate) -> dict[str, Any]:
    """The moments as pairs of a layer's index and bytes, and the index of the moment at which each phase begins."""
    index = {each.name: number for number, each in reversed(list(enumerate(estimate.layers)))}
    phases: list[list[Any]] = []
    for number, moment in enumerate(estimate.curve):
        if not phases or phases[-1][0] != moment.part:
            phases.append([moment.part, number])
    return {"curve": [[index.get(each.layer), each.bytes] for each in estimate.curve], "phases": phases}


def _budget(found: Reported) -> dict[str, Any] | None:
    budget = found.budget
    if budget is None:
        return None
    return {"bytes": budget.bytes, "usable": budget.usable, "card": budget.card, "verdict": found.verdict,
            "largest_batch": budget.largest_batch}  # fmt: skip


def _before(found: Reported) -> dict[str, Any] | None:
    if found.before is None:
        return None
    old = found.before.estimate
    if old is None or not words.comparable(old, found.estimate):
        return {"ref": found.before.ref, "low": None, "high": None, "change": None}
    high = None if old.bounded or old.of.batch is None else old.high
    low = None if old.of.batch is None else old.low
    return {"ref": found.before.ref, "low": low, "high": high, "change": found.estimate.low - old.low}
