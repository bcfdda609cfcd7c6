"""Runs a program until one of its training steps has been measured."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec

from tfmemlint.estimate.measured import MeasuredHeld, MeasuredStep
from tfmemlint.estimate.step import TrainingStep
from tfmemlint.model.file import File
from tfmemlint.project.layout import project_root
from tfmemlint.verify.own_modules import own_modules
from tfmemlint.verify.plan.for_keras_2 import with_keras_2
from tfmemlint.verify.plan.import_path import import_path
from tfmemlint.verify.plan.mismatch import corrected
from tfmemlint.verify.plan.present import with_files
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.training import StepPlanner
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.interpreters import MeasureError
from tfmemlint.verify.run.measure import Program, Settings, Step, run_once
from tfmemlint.verify.run.runs import Failure, Run

_RELATIVE = re.compile(r"^[ \t]*from[ \t]+(\.+)", re.M)
_FILES = ("FileNotFoundError", "NotFoundError", "NotADirectoryError", "IsADirectoryError")
"""Errors of what lies on disk."""
WIDEST = 300
"""Letters of an error that are shown."""
ANOTHER = "what ran is another model than the one that was estimated, which the program was not able to make here"
TRIES = 4
"""Of further runs with data of the shapes that errors ask for."""
SIZES = "sizes of the data were made up, too: of a model that takes them from it the bytes may be others"


@dataclass(frozen=True, slots=True)
class Alone:
    """What is known of a step: the file that it stands in, what an estimate found, and the examples of a batch."""

    file: File
    step: TrainingStep
    batch: int


def measure_step(
    path: str,
    text: str,
    step: Step,
    settings: Settings,
    tick: Callable[[], None] | None = None,
    alone: Alone | None = None,
) -> MeasuredStep:
    """What one step of the program `text` of the file at `path` takes, in bytes, as it runs contained on the CPU.

    Data, files and packages that are not there are made up as `verify` makes them up; other training is cut short, and
    the program ends when its step is measured. Where the program does not come to its step, that is run `alone`, if it
    is known what it is. Raises MeasureError with what kept it from being measured and what to do: the program failed
    or does not come to the step, a limit of time or memory was met.
    """
    chosen = replace(settings, device="cpu", timed=True, server=None, kept=None)
    run = _run(_program(os.path.abspath(path), text, step), chosen, tick)
    if alone is None or (run.step is not None and _is_meant(run, alone.step)):
        return measured(run, step)
    why = ANOTHER if run.step is not None else _why(run, step)
    try:
        by_itself = _alone(alone, step, chosen, tick)
    except PlanError as error:
        raise MeasureError(f"{why}; nor can the step be run alone: {error}") from error
    if by_itself.step is None:
        raise MeasureError(f"{why}; and the step alone: {_why(by_itself, step)}")
    if not _is_meant(by_itself, alone.step):
        raise MeasureError(f"{why}; and the step alone: {ANOTHER}")
    return measured(by_itself, step)


def _alone(alone: Alone, step: Step, settings: Settings, tick: Callable[[], None] | None) -> Run:
    """The last run of a step by itself, with what its notes have to say of it. Raises PlanError."""
    planner = StepPlanner(alone.file, alone.step, alone.batch, step)
    program: Program | None = planner.program()
    run = Run(status="error")
    while program is not None:
        run, notes = _run(program, settings, tick), planner.notes
        run = msgspec.structs.replace(run, notes=tuple(dict.fromkeys((*notes, *run.notes))))
        program = planner.again(run) if run.step is None else None
    return run


def _is_meant(run: Run, step: TrainingStep) -> bool:
    """Whether a run has come to the step that was estimated: with its layers, not with a model that was made up in the
    place of one that could not be made."""
    wanted = Counter(each.kind for each in step.layers() if each.kind[:1].isupper())
    seen = Counter(kind for _, kind in run.step.layers) if run.step is not None else Counter()
    return 2 * (wanted & seen).total() >= wanted.total()


def _run(program: Program, settings: Settings, tick: Callable[[], None] | None) -> Run:
    """A run of a program, again with data of the shapes that errors ask for, and for Keras 2 where it is written for
    that."""
    pair, run = Pair(program, None, ()), run_once(program, settings, tick)
    for _ in range(TRIES):
        if run.error is None:
            break
        better = corrected(pair, run) or with_files(pair, run) or with_keras_2(pair, run)
        if better is None:
            break
        pair, run = better, run_once(better.before, settings, tick)
    return run


def measured(run: Run, step: Step) -> MeasuredStep:
    """What a run has shown of a step. Raises MeasureError where it has not shown it."""
    found = run.step
    if found is None:
        raise MeasureError(_why(run, step))
    notes = (SIZES, *run.notes) if run.sizes_made_up else run.notes
    layers = found.layers
    held = tuple(
        MeasuredHeld(op, size, tuple(layers[number] for number in numbers if number < len(layers)))
        for op, size, numbers in found.held
    )
    return MeasuredStep(
        found.variables, found.data, found.step, found.chunks, found.batch, held, layers, notes,
        tuple(sorted(run.versions.items())),
    )  # fmt: skip


def _program(path: str, text: str, step: Step) -> Program:
    """The file as it is, with made-up data for what it lacks."""
    root = project_root(path)
    dots = max(map(len, _RELATIVE.findall(text)), default=0)
    folders, package = import_path(path, root, dots)
    return Program(
        text, 0, folders, os.path.dirname(path), package, substitute=True, root=root, file=path, step=step,
        modules=own_modules(path, text, folders, root),
    )  # fmt: skip


def _why(run: Run, step: Step) -> str:
    """Why there is no figure, and the one thing to do."""
    if run.status == "time":
        return f"{run.reason}: give more with --timeout"
    if run.status in ("memory", "machine") or run.out_of_memory:
        return f"the program ran out of this machine's memory{_there(run.error)}: give a smaller batch with --batch"
    if run.error is not None:
        return f"the program failed{_there(run.error)}: {run.error.text[:WIDEST]}: {_remedy(run.error)}"
    if run.status != "ok":
        return f"the program left no figures: {run.reason}"
    return (
        f"the program ended without coming to line {step.line} as a step: "
        "nothing that runs calls the function around it; measure the file that does"
    )


def _there(error: Failure | None) -> str:
    return f" in line {error.lines[-1]}" if error is not None and error.lines else ""


def _remedy(error: Failure) -> str:
    if error.type in ("ModuleNotFoundError", "ImportError"):
        return "install what is missing beside that TensorFlow, or name an interpreter that has it with --python"
    if error.type in _FILES:
        return "put the file where the program looks for it"
    return "see whether `python` itself comes further, or make data for it by hand"
