"""The training steps of an open file in an editor's words: a line for each, and what is behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.estimate.budget import largest_batch, usable
from tfmemlint.estimate.engine import estimate, lowest
from tfmemlint.estimate.facts import Given, steps
from tfmemlint.lint.engine import parse, read_program, siblings_of
from tfmemlint.model.file import File
from tfmemlint.report.estimates import words
from tfmemlint.report.estimates.reported import Budget, Place, Reported
from tfmemlint.server.questions import Estimated, Lint
from tfmemlint.server.wording import plain
from tfmemlint.text.prefilter import mentions_tensorflow
from tfmemlint.text.source import SourceError

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config
    from tfmemlint.estimate.step import TrainingStep
    from tfmemlint.project.projects import Projects
    from tfmemlint.text.source import Program, Source


def estimated(question: Lint, config: Config, projects: Projects) -> tuple[Estimated, ...]:
    """The steps of a file of which something is known, in their order."""
    if not mentions_tensorflow(question.data):
        return ()
    try:
        source = read_program(question.data, question.path)
    except SourceError:
        return ()
    return tuple(each for program in source.programs for each in _of_program(program, source, config, projects))


def _of_program(program: Program, source: Source, config: Config, projects: Projects) -> Iterator[Estimated]:
    module, readable, _ = parse(program.source)
    if module is None:
        return
    file = File(readable, module, config, siblings_of(source.path, config, projects))
    starts = program.source.line_starts
    for step in steps(file, Given()):
        if step.passes and 0 < step.line <= len(starts):
            position = source.position(program.whole(starts[step.line - 1]))
            reported = _reported(step, source.path, config, _places(step, program, source))
            yield Estimated(position.row, position.cell, _headline(reported), _details(reported))


def _places(step: TrainingStep, program: Program, source: Source) -> dict[int, Place]:
    starts, found = program.source.line_starts, {}
    for line in {step.line, *(each.line for each in step.missing), *(each.line for each in step.layers())}:
        if 0 < line <= len(starts):
            at = source.position(program.whole(starts[line - 1]))
            found[line] = Place(at.row, at.cell)
    return found


def _reported(step: TrainingStep, path: str, config: Config, places: dict[int, Place]) -> Reported:
    now = estimate(step)
    per_example = (lowest(step, 2 * now.batch) - now.low) // now.batch
    budget = None
    if config.gpu_memory is not None:
        limit = usable(config.gpu_memory)
        budget = Budget(config.gpu_memory, limit, None, largest_batch(step, limit))
    return Reported(path, now, per_example, budget, places=places)


def _headline(found: Reported) -> str:
    """`one step: 208 .. 259 MiB of GPU memory at batch 48`."""
    estimate = found.estimate
    if not found.is_whole:
        return f"each example of a step: {words.example(found)} of GPU memory"
    fits = f", {found.verdict}" if found.verdict else ""
    return f"one step: {words.interval(estimate)} of GPU memory at batch {estimate.batch}{fits}"


def _details(found: Reported) -> str:
    lines = [f"**{_headline(found)}**", "", plain(words.about(found.estimate.of, found.estimate.batch)), ""]
    lines += [f"- {plain(name)}: {plain(value)}" for name, value in words.figures(found)]
    missing = words.unknown(found)
    if missing:
        lines += ["", "not known:", *(f"- {plain(each)}" for each in missing)]
    return "\n".join(lines)
