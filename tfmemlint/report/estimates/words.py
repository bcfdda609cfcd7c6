"""An estimate in words: what all formats for people share."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.report.base import clean
from tfmemlint.report.estimates.reported import DOES_NOT_FIT, FITS, MAY_NOT_FIT, Budget, Reported
from tfmemlint.units import show_bytes

if TYPE_CHECKING:
    from tfmemlint.estimate.answer import Estimate, LayerBytes
    from tfmemlint.estimate.step import Missing, Optimizer, TrainingStep

_OF_MEMORY = ("momentum", "nesterov", "amsgrad", "use_ema", "gradient_accumulation_steps", "weight_decay")
"""What optimizers are made with that changes how many bytes they take."""

_PARTS = {"forward": "the forward pass", "loss": "the loss", "backward": "the backward pass", "update": "the update"}

BATCH, INPUT = "--batch", "--input"

Row = tuple[str, str]


def heading(found: Reported) -> str:
    """The place of the step: `train.py:41`, `nb.ipynb:cell 3:5`, and nothing that GitHub takes for a command."""
    at = found.place(found.estimate.of.line)
    line = "" if at is None else f":{at.line}" if at.cell is None else f":cell {at.cell}:{at.line}"
    path = clean(found.path)
    return f"{'./' if path.lstrip().startswith('::') else ''}{path}{line}"


def about(step: TrainingStep, batch: int | None) -> str:
    """What runs: `Sequential, 20 layers, batch 48, Adam, float32`."""
    optimizers = dict.fromkeys(_optimizer(each.optimizer) for each in step.passes if each.backward and each.optimizer)
    parts = [step.model, f"batch {batch}" if step.batch is not None else "batch not known"]
    parts += [" and ".join(optimizers)] if optimizers else []
    parts += [step.precision, *([step.mode] if step.mode != "graph" else [])]
    return clean(", ".join(part for part in parts if part))


def _optimizer(optimizer: Optimizer | None) -> str:
    if optimizer is None:
        return ""
    shown = []
    for name in _OF_MEMORY:
        value = optimizer.arguments.get(name)
        if value:
            shown.append(name if value is True else f"{name}={value}")
    return f"{optimizer.kind}({', '.join(shown)})" if shown else optimizer.kind


def has_slots(step: TrainingStep) -> bool:
    """Whether the optimizers of all passes are known, and with them what they keep."""
    return all(each.optimizer is not None for each in step.passes if each.backward)


def trains(step: TrainingStep) -> bool:
    """Whether the step computes gradients; `predict` does not."""
    return any(each.backward for each in step.passes)


def figures(found: Reported) -> list[Row]:
    """The bytes of the step, each with its name."""
    estimate, step = found.estimate, found.estimate.of
    if not found.has_model:
        return [("peak", "not known")]
    rows = [("weights", show_bytes(estimate.weights))]
    if trains(step):
        rows.append(("optimizer slots", show_bytes(estimate.slots) if has_slots(step) else "not known"))
    if not found.is_whole:
        rows.append(("each example", example(found)))
        rows.append(("peak", "not known without the batch size"))
    else:
        rows.append(("one batch of data", show_bytes(estimate.data)))
        rows.append(("step", f"{show_bytes(estimate.step)}, most in {peak(found)}"))
        compiled = ", as a graph: XLA may use less or more" if step.mode == "jit" else ""
        rows.append(("peak", interval(estimate) + compiled))
    if found.budget is not None:
        rows.append((card(found.budget), fit(found)))
    if found.before is not None:
        rows.append((clean(f"at {found.before.ref}"), change(found)))
    return rows


def example(found: Reported) -> str:
    """What one example more takes."""
    if found.per_example is None:
        return "not known"
    return ("at least " if found.estimate.bounded else "") + show_bytes(found.per_example)


def interval(estimate: Estimate) -> str:
    """Between which bytes the peak lies: `208 .. 259 MiB`, `at least 208 MiB`."""
    low, high = show_bytes(estimate.low), show_bytes(estimate.high)
    if estimate.bounded:
        return f"at least {low}"
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    return f"{number if high.endswith(f' {unit}') else low} .. {high}"


def peak(found: Reported) -> str:
    """Where most is alive: `the backward pass of bn_5 (line 23)`."""
    at = found.estimate.peak
    part = _PARTS.get(at.part, at.part)
    place = found.place(at.line)
    words = f"{part} of {at.layer}" if at.layer and at.part != "loss" else part
    return clean(words + (f" ({place})" if place else ""))


def card(budget: Budget) -> str:
    """The memory that is asked for: `T4, 16 GiB`."""
    size = show_bytes(budget.bytes)
    return f"{budget.card}, {size}" if budget.card else f"{size} card"


def fit(found: Reported) -> str:
    """Whether the step fits, and the largest batch that does."""
    budget, verdict = found.budget, found.verdict
    assert budget is not None
    usable = show_bytes(budget.usable)
    words = {
        FITS: f"fits into the {usable} that can be used",
        MAY_NOT_FIT: f"may not fit into the {usable} that can be used",
        DOES_NOT_FIT: f"does not fit into the {usable} that can be used",
        None: f"{usable} can be used",
    }[verdict]
    if not budget.largest_batch:
        return words if budget.largest_batch is None else f"{words}, nor does one example"
    if any(each.bounds and each.option for each in found.estimate.missing):
        return words  # a bound without the input's shape says nothing of batches
    at_most = "at most " if found.estimate.bounded else ""
    return f"{words}; largest batch {at_most}about {number(rounded(budget.largest_batch))}"


def rounded(batch: int) -> int:
    """A batch size to two digits, downwards: no estimate is as exact as that."""
    step = 10 ** max(len(str(batch)) - 2, 0)
    return batch // step * step if batch >= 100 else batch


def number(value: int) -> str:
    """A number with blanks between its thousands."""
    return f"{value:,}".replace(",", " ")


def change(found: Reported) -> str:
    """The peak before, and how it has changed."""
    before, now = found.before, found.estimate
    assert before is not None
    if before.estimate is None:
        return "not there"
    old = before.estimate
    if not comparable(old, now):
        return "too little is known to compare"
    what = "" if now.of.batch is not None else " for one example"
    return f"{interval(old)}{what}; {moved(old.low, now.low)}"


def comparable(old: Estimate, now: Estimate) -> bool:
    """Whether two estimates are about the same: a whole step, or one example."""
    return bool(old.of.passes and now.of.passes) and (old.of.batch is None) == (now.of.batch is None)


def moved(old: int, new: int) -> str:
    """How bytes have changed: `now 28 MiB more (+16 %)`."""
    if old == new:
        return "now the same"
    share = f" ({(new - old) / old:+.0%})".replace("%", " %") if old else ""
    return f"now {show_bytes(abs(new - old))} {'more' if new > old else 'less'}{share}"


def unknown(found: Reported) -> list[str]:
    """What is not known, where, and the option that supplies it: `the batch size (line 41): give --batch`. One option
    says how large a batch is and of what."""
    missing = list(dict.fromkeys(found.estimate.missing))
    batch = next((each for each in missing if each.option == BATCH), None)
    data = next((each for each in missing if each.option == INPUT), None)
    if batch is not None and data is not None:
        missing.remove(batch)
        both = replace(data, what=f"{batch.what} and {data.what}", option=f"{INPUT} BATCHxN,N,...")
        missing = [both if each is data else each for each in missing]
    return [_unknown(each, found) for each in missing]


def _unknown(missing: Missing, found: Reported) -> str:
    place = found.place(missing.line)
    words = f"{missing.what} ({place})" if place else missing.what
    remedy = f"give {_as_typed(missing)}" if missing.option else "left out" if missing.bounds else ""
    return clean(f"{words}: {remedy}" if remedy else words)


def _as_typed(missing: Missing) -> str | None:
    """An option as it is typed in a shell: `--set 'len(vocab)=...'`."""
    return missing.option if missing.name is None else f"{missing.option} {shlex.quote(f'{missing.name}=...')}"


def shape(layer: LayerBytes) -> str:
    """A layer's output: `48, 112, 112, 64`."""
    return " x ".join("?" if size is None else str(size) for size in layer.output)


def share(layer: LayerBytes, estimate: Estimate) -> str:
    """How much of the peak a layer holds, in percent; empty for less than half of one."""
    percent = round(100 * layer.at_peak / estimate.low) if estimate.low else 0
    return f"{percent} %" if percent else ""
