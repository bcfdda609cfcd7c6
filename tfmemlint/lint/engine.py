"""One file through the system: prefilter, trigger, source, parse, model, dispatch, suppressions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tfmemlint.config.selectors import FAILURES
from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.lint.parsing import although_checked, commands, is_python, parse, refusal, wants_room
from tfmemlint.lint.recursion import is_deep, with_deep_stack
from tfmemlint.lint.result import FileResult, unreadable
from tfmemlint.text.prefilter import mentions_tensorflow
from tfmemlint.text.read import read_source
from tfmemlint.text.source import Source, SourceError

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config
    from tfmemlint.lint.first_pass import Look
    from tfmemlint.model.file import File
    from tfmemlint.project.projects import Projects
    from tfmemlint.project.siblings import Siblings
    from tfmemlint.rule import Rule

__all__ = ["FileResult", "lint", "parse", "read_program", "unreadable"]

INTERNAL_ERROR = ("TFM000", "internal-error")

_LARGEST = 16 << 20
"""Characters of code in one file; their tree takes gigabytes, and what is this large was written by a program."""


def lint(data: bytes, path: str, config: Config, rules: Sequence[Rule], projects: Projects | None = None) -> FileResult:
    """Run `rules` over the bytes of one file and honour its suppression comments. `projects` keeps what the files of a
    run are told alike.

    Never raises for what is in the file: an unreadable file, a syntax error and a crashing rule become findings.
    """
    if not mentions_tensorflow(data):
        return FileResult(path, skipped=True)
    try:
        source = read_program(data, path)
    except SourceError as error:
        return unreadable(path, error.message, error.row, error.column)
    except Exception as error:  # the engine's own failure must not hide other files
        return _failed(path, None, f"the engine failed: {type(error).__name__}: {error}")
    if not source.text.strip():
        return FileResult(path, source, skipped=True)
    try:
        if is_deep() or not wants_room(source):
            return _lint_source(source, config, rules, projects)
        return with_deep_stack(lambda: _lint_source(source, config, rules, projects))
    except RecursionError:
        return _failed(path, source, "the code is nested too deeply to be read; the file was not checked")
    except Exception as error:
        return _failed(path, source, f"the engine failed: {type(error).__name__}: {error}")


def read_program(data: bytes, path: str) -> Source:
    """The program text of a file. Raises SourceError for one that cannot be read or is larger than any program."""
    source = read_source(data, path)
    if len(source.text) > _LARGEST and source.text.strip():
        count, limit = len(source.text) >> 20, _LARGEST >> 20
        raise SourceError(f"{count} MiB of code, and {limit} MiB are the limit; exclude the file")
    return source


def _failed(path: str, source: Source | None, message: str) -> FileResult:
    finding = _failure(message)
    return FileResult(path, source, (finding,), failures=(finding,))


def _failure(message: str) -> Finding:
    return Finding(*INTERNAL_ERROR, Severity.ERROR, message, Span(0, 0))


def _lint_source(source: Source, config: Config, rules: Sequence[Rule], projects: Projects | None) -> FileResult:
    from tfmemlint.lint.registry import known_codes
    from tfmemlint.lint.suppress import apply_suppressions

    siblings = _siblings(source.path, config, projects)
    found, readable = _run(source, config, rules, siblings)
    enabled = {rule.code: rule.name for rule in rules}
    kept, suppressed, unused = apply_suppressions(readable, found, {**known_codes(), **enabled}, enabled)
    worth = _worth_saying(kept, config, rules)
    findings = sorted((*worth, *unused), key=lambda finding: finding.sort_key)
    rests_on = siblings.rests_on if siblings is not None else {}
    failures = tuple(each for each in found if each.code in FAILURES and each.severity is Severity.ERROR)
    distinct = tuple(dict.fromkeys(findings))
    return FileResult(
        source.path, source, distinct, len(suppressed), rests_on=rests_on, failures=failures, silenced=suppressed
    )


def _worth_saying(findings: Sequence[Finding], config: Config, rules: Sequence[Rule]) -> list[Finding]:
    """The findings that are not known to spare less than `least-cost`, and those that are about more than their bytes.
    What costs at least some bytes may cost any.

    Comments are asked before: one that silences a small finding has its use, wherever the next run draws the line.
    """
    spared = {rule.code: rule.spared for rule in rules if rule.worth_in_bytes}
    return [
        each
        for each in findings
        if each.bytes is None
        or not each.bytes_exact
        or each.severity is Severity.ERROR
        or each.code not in spared
        or each.bytes * spared[each.code] >= config.least_cost
    ]


def _siblings(path: str, config: Config, projects: Projects | None) -> Siblings | None:
    """The other modules of the project of a file that is linted."""
    from tfmemlint.lint import first_pass

    siblings = siblings_of(path, config, projects)
    return siblings.read_by(first_pass.READER) if siblings is not None and first_pass.is_on() else siblings


def siblings_of(path: str, config: Config, projects: Projects | None = None) -> Siblings | None:
    """The other modules of a file's project, if they are to be followed. Text that comes from nowhere has none."""
    if not config.follow_imports or not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        return None
    from tfmemlint.project.projects import Projects
    from tfmemlint.project.siblings import Siblings

    root = config.resolve(config.project_root) if config.project_root else None
    project = (projects or Projects()).of(path, root)
    return Siblings(path, project.root, lambda source: parse(source)[0], project)


def _run(
    source: Source, config: Config, rules: Sequence[Rule], siblings: Siblings | None
) -> tuple[list[Finding], Source]:
    """The rules' findings in all programs of the file, and the source with parts that do not parse blanked."""
    programs = source.programs
    if len(programs) == 1:
        return _run_program(source, config, rules, siblings)
    found: list[Finding] = []
    blanked: set[int] = set()
    numbers = {block.span.start: number for number, block in enumerate(source.blocks)}
    for program in programs:
        if not mentions_tensorflow(program.source.text.encode(errors="replace")):
            continue
        own, readable = _run_program(program.source, config, rules, siblings)
        found += (finding.moved(program.whole) for finding in own)
        for (_, whole), block in zip(program.starts, program.source.blocks, strict=True):
            start, end = block.span.start, block.span.end
            if readable.text[start:end] != program.source.text[start:end]:
                blanked.add(numbers[whole])
    return found, source.without_blocks(blanked)


def _run_program(
    source: Source, config: Config, rules: Sequence[Rule], siblings: Siblings | None
) -> tuple[list[Finding], Source]:
    """The rules' findings in one program, and its source with parts that do not parse blanked."""
    from tfmemlint.lint import first_pass
    from tfmemlint.lint.reach import awake_for

    awake: Sequence[Rule] = awake_for(rules, source, siblings)
    if not awake and is_python(source.text):
        return commands(source), source
    look = first_pass.Look(source, config, awake, siblings) if awake and first_pass.is_on() else None
    try:
        return _looked_at(source, config, awake, siblings, look)
    finally:
        if look is not None:
            look.done()


def _looked_at(
    source: Source, config: Config, awake: Sequence[Rule], siblings: Siblings | None, look: Look | None
) -> tuple[list[Finding], Source]:
    """What rules find in a program, at which they may have had a first look."""
    from tfmemlint.syntax.first_pass.nodes import is_first_tree
    from tfmemlint.syntax.spans import generated

    told = commands(source)
    if look is not None and not look.again:
        return [*told, *look.found], source
    known = siblings.kept(source) if siblings is not None else None
    if known is None or is_first_tree(known.module):
        module, readable, found = parse(source)
    else:
        module, readable, found = known.module, known.source, []
    if module is None and readable is source and look is not None:
        unrepaired = look.without_repairs()
        if unrepaired is not None:
            return [*told, *map(although_checked, found), *unrepaired], source
    found = [*told, *found]
    if siblings is not None and module is not None and readable is source:
        siblings.parsed(source, module)
    if module is not None and awake:
        from tfmemlint.model.file import File

        spans = generated if look is None else look.spans
        if look is not None and readable is source:  # else the first look was at another program
            awake = look.again
            found += look.found
        model = partial(File, readable, module, config, spans=spans)
        found += _findings(model, readable, awake, siblings)
    return found, readable


def _findings(
    model: Callable[..., File], source: Source, rules: Sequence[Rule], siblings: Siblings | None
) -> list[Finding]:
    """What rules find in a program that libcst has read, in the model of which the modules of `siblings` are."""
    from tfmemlint.lint.first_pass import LIBCST
    from tfmemlint.syntax.first_pass.positions import wants_libcst
    from tfmemlint.syntax.spans import PositionsUnknown

    try:
        try:
            return _dispatched(model(siblings=siblings), rules)
        except Exception as error:
            if siblings is None or not wants_libcst(error):
                raise
        return _dispatched(model(siblings=siblings.read_by(LIBCST)), rules)
    except PositionsUnknown as error:  # without places there are no findings, of any rule
        return [refusal(source) or _failure(f"{error}; the file was not checked")]


def _dispatched(file: File, rules: Sequence[Rule]) -> list[Finding]:
    """What rules find in a model that nobody needs afterwards."""
    from tfmemlint.lint.dispatch import dispatch
    from tfmemlint.lint.let_go import let_go

    try:
        return dispatch(file, rules)
    finally:
        let_go(file)
