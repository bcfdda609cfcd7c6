"""A file as the training steps that its programs take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.config.selectors import FAILURES
from tfmemlint.lint.engine import lint, parse, siblings_of
from tfmemlint.lint.parsing import wants_room
from tfmemlint.lint.recursion import is_deep, with_deep_stack
from tfmemlint.report.estimates.reported import Place
from tfmemlint.report.places import place
from tfmemlint.text.prefilter import mentions_tensorflow

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config
    from tfmemlint.estimate.facts import Given
    from tfmemlint.estimate.step import TrainingStep
    from tfmemlint.project.projects import Projects
    from tfmemlint.text.source import Program, Source


@dataclass(frozen=True, slots=True)
class Step:
    """A step, and where the lines of its program text stand in the file, where these differ."""

    step: TrainingStep
    places: dict[int, Place] = field(default_factory=dict)


@dataclass(slots=True)
class Read:
    """The steps of a file, and one line for each part of it that cannot be read."""

    steps: list[Step] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user says beside the code, and of which function and model steps are wanted; None for those of all."""

    given: Given
    function: str | None = None
    model: str | None = None


def read(data: bytes, path: str, config: Config, wanted: Wanted, projects: Projects) -> Read:
    """The steps of the file at `path`, which holds these bytes."""
    result = lint(data, path, config, (), projects)
    found = Read()
    for each in result.findings:
        if each.code in FAILURES:
            found.failures.append(f"{path}:{place(result, each.span)}: {each.code} {each.message}")
    source = result.source
    if result.skipped or source is None:
        return found

    def gather() -> None:
        found.steps += _steps(source, path, config, wanted, projects)

    if is_deep() or not wants_room(source):
        gather()
    else:
        with_deep_stack(gather)
    return found


def _steps(source: Source, path: str, config: Config, wanted: Wanted, projects: Projects) -> Iterator[Step]:
    from tfmemlint.cli.estimate.named import named
    from tfmemlint.estimate.facts import steps
    from tfmemlint.model.file import File

    programs = source.programs
    for program in programs:
        if len(programs) > 1 and not mentions_tensorflow(program.source.text.encode(errors="replace")):
            continue
        module, readable, _ = parse(program.source)
        if module is None:
            continue
        file = File(readable, module, config, siblings_of(path, config, projects))
        for step in named(file, steps(file, wanted.given), wanted.function, wanted.model):
            yield Step(step, _places(step, program, source))


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
