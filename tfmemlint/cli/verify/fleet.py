"""`verify --executor`: programs run by the workers of a cluster, by those with a graphics card where there are any.

A finding's programs before and after its repair run on one machine, so that their figures are comparable. Workers run
them as this machine would: contained, with the interpreter of the same path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.cli.output import tell
from tfmemlint.run.fleet import Fleet, FleetError
from tfmemlint.verify.findings import Task, Watcher, measured
from tfmemlint.verify.result import Result
from tfmemlint.verify.run.measure import Settings

GPU = "GPU"
"""The resource of workers with a card: `dask worker ... --resources GPU=1`."""


def measured_by(executor: str, tasks: Sequence[Task], chosen: Settings, watcher: Watcher) -> list[Result]:
    """The result of each task, in their order; what no worker could end is measured here. Raises FleetError and
    MeasureError."""
    planned = [number for number, task in enumerate(tasks) if task.plans]
    found: dict[int, Result] = {}
    with Fleet(executor) as fleet:
        on_cards = fleet.has(GPU) and chosen.device != "cpu"
        if chosen.device == "gpu" and not on_cards:
            words = f"no worker has the resource {GPU}; start some with --resources {GPU}=1"
            raise FleetError(f"--executor {executor}: {words}")
        jobs = [(tasks[number], replace(chosen, kept=None)) for number in planned]
        for job, answer in fleet.each(measured_alone, jobs, {GPU: 1} if on_cards else None):
            number = planned[job]
            if isinstance(answer, BaseException):
                tell(f"warning: {tasks[number].label}: no worker could measure it, and it is measured here: {answer}")
                continue
            found[number] = answer
            for _ in range(2 * chosen.repeat * len(tasks[number].plans)):
                watcher.ran()
            watcher.judged(tasks[number].label, answer.verdict.kind)
    left = [number for number in range(len(tasks)) if number not in found]
    here = measured([tasks[number] for number in left], chosen, watcher)
    found.update(zip(left, here, strict=True))
    return [found[number] for number in range(len(tasks))]


class _Silent:
    """On a worker nobody watches."""

    def ran(self) -> None:
        pass

    def judged(self, label: str, kind: str) -> None:
        pass


def measured_alone(task: Task, chosen: Settings) -> Result:
    """The result of one task, on a worker."""
    return measured([task], chosen, _Silent())[0]
