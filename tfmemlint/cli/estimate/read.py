"""A file as the training steps that its programs take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.lint.engine import parse, read_program, siblings_of
from tfmemlint.lint.parsing import wants_room
from tfmemlint.lint.recursion import is_deep, with_deep_stack
from tfmemlint.report.estimates.reported import Place
from tfmemlint.text.prefilter import mentions_tensorflow
from tfmemlint.text.source import SourceError

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config
    from tfmemlint.estimate.facts import Given
    from tfmemlint.estimate.step import TrainingStep
    from tfmemlint.model.file import File
    from tfmemlint.project.projects import Projects
    from tfmemlint.text.source import Program, Source


@dataclass(frozen=True, slots=True)
class Step:
    """A step, the program text that it is of, where the lines of that stand in the file, where these differ, and the
    file as it was read."""

    step: TrainingStep
    text: str
    places: dict[int, Place] = field(default_factory=dict)
    file: File | None = None


@dataclass(slots=True)
class Read:
    """The steps of a file, and one line for each part of it that cannot be read. Where a user says what expressions
    are, all `expressions` of the file, and those of them that were `used`."""

    steps: list[Step] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    expressions: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user says beside the code, and of which function and model steps are wanted; None for those of all."""

    given: Given
    function: str | None = None
    model: str | None = None


def read(data: bytes, path: str, config: Config, wanted: Wanted, projects: Projects) -> Read:
    """The steps of the file at `path`, which holds these bytes."""
    found = Read()
    if not mentions_tensorflow(data):
        return found
    try:
        source = read_program(data, path)
    except SourceError as error:
        found.failures.append(f"{path}:{error.row}:{error.column}: {error.message}")
        return found
    if is_deep() or not wants_room(source):
        _gather(found, source, config, wanted, projects)
    else:
        with_deep_stack(lambda: _gather(found, source, config, wanted, projects))
    return found


def _gather(found: Read, source: Source, config: Config, wanted: Wanted, projects: Projects) -> None:
    """Add the steps of all programs of a file, and the parts of it that do not parse."""
    from tfmemlint.cli.estimate.named import named
    from tfmemlint.estimate.facts import follow
    from tfmemlint.estimate.facts.named import expressions
    from tfmemlint.model.file import File

    path, programs = source.path, source.programs
    for program in programs:
        if len(programs) > 1 and not mentions_tensorflow(program.source.text.encode(errors="replace")):
            continue
        module, readable, failures = parse(program.source)
        for each in failures:
            at = source.position(program.whole(each.span.start))
            cell = f"cell {at.cell}:" if at.cell is not None else ""
            found.failures.append(f"{path}:{cell}{at.row}:{at.column}: {each.message}")
        if module is None:
            continue
        file = File(readable, module, config, siblings_of(path, config, projects))
        if wanted.given.facts:
            found.expressions |= expressions(file)
        done = follow(file, wanted.given)
        found.used |= done.used
        for step in named(file, done.steps, wanted.function, wanted.model):
            found.steps.append(Step(step, readable.text, _places(step, program, source), file))


def _places(step: TrainingStep, program: Program, source: Source) -> dict[int, Place]:
    """Where the lines of which a step speaks stand in a notebook or document."""
    if source.kind not in ("notebook", "markdown"):
        return {}
    lines = {step.line, *(each.line for each in step.missing), *(each.line for each in step.layers())}
    starts = program.source.line_starts
    found = {}
    for line in lines:
        if 0 < line <= len(starts):
            position = source.position(program.whole(starts[line - 1]))
            found[line] = Place(position.row, position.cell)
    return found
