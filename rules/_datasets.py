"""Questions that several tf.data rules ask about a pipeline."""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, Dataset, Step


def earlier_steps(call: Call) -> tuple[tuple[Step, ...], ...] | None:
    """For each pipeline that this step may be applied to, the steps before it; None where any is not a pipeline."""
    datasets = call.datasets()
    return tuple(ds.steps for ds in datasets) if datasets else None


def last_before(call: Call, name: str) -> Step | None:
    """The last step called `name` before this one, if every pipeline that may arrive here has one."""
    found = None
    for steps in earlier_steps(call) or ((),):
        matching = [step for step in steps if step.name == name]
        if not matching:
            return None
        found = matching[-1]
    return found


def steps_between(call: Call, earlier: Step) -> list[Step]:
    """The steps between `earlier` and this call, over all pipelines."""
    found: list[Step] = []
    for steps in earlier_steps(call) or ():
        positions = [i for i, step in enumerate(steps) if step == earlier]
        if positions:
            found += [step for step in steps[positions[-1] + 1 :] if step not in found]
    return found


def pipelines(call: Call, *parameters: str | int) -> Iterator[Dataset]:
    """The pipelines that an argument of a call may be; nothing if any alternative is something else."""
    for parameter in parameters:
        argument = call.arg(parameter)
        if argument is not None:
            options = argument.value.options
            if all(isinstance(option, Dataset) for option in options):
                yield from (option for option in options if isinstance(option, Dataset))
            return
