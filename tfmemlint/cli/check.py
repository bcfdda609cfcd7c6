"""`tfmemlint check`: what is linted, what is done about it, and the exit code."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.cli import output
from tfmemlint.cli.arguments import configs, parse
from tfmemlint.cli.output import progress, tell
from tfmemlint.cli.session import Session, exit_code, failure, report
from tfmemlint.config.discover import Problem, Target, discover
from tfmemlint.report.base import plural
from tfmemlint.run.file_task import Options, Outcome
from tfmemlint.run.repair import Gate
from tfmemlint.run.runner import run
from tfmemlint.shown import short, shown

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config, Configs
    from tfmemlint.finding import Finding
    from tfmemlint.lint.baseline import Baseline, Entry

DEFAULT_BASELINE = "tfmemlint-baseline.json"


def check(words: Sequence[str]) -> int:
    """Run `check` with these arguments; the exit code."""
    started = time.perf_counter()
    arguments = parse(words)
    timings = None
    if arguments.timings:
        from tfmemlint.cli.timings import Timings

        timings = Timings(started)
    found = configs(arguments)
    if arguments.paths == ["-"]:
        from tfmemlint.cli.stdin import check_stdin

        return check_stdin(arguments, found, started)
    config = found.for_directory(_common_directory(arguments.paths))
    session = Session(arguments, config, started)
    targets = _targets(session, found)
    if arguments.show_files:
        return _show_files(session, targets)
    baselines = _baselines(session, targets)
    targets = [target for target in targets if id(target.config) in baselines]
    with progress(not arguments.quiet) as tick:
        session.outcomes, problems = run(targets, _options(arguments, targets, baselines), tick)
    session.problems += problems
    session.problems += (problem for outcome in session.outcomes for problem in outcome.problems)
    accepted = _gate(session, baselines)
    session.tell_problems()
    if arguments.verbose:
        _tell_unfollowed(session.outcomes)
    old = _old_baseline(session) if arguments.write_baseline is not None else None
    if arguments.verify is not None:
        _verify(session, old)
    if arguments.write_baseline is not None:
        return _write_baseline(session, old)
    if arguments.add_ignore is not None:
        return _add_ignores(session)
    if arguments.diff:
        _write_diff(session)
    else:
        report(session)
    if arguments.part is not None:
        from tfmemlint.cli.sharded import save_part

        save_part(session)
    if accepted and arguments.verbose:
        tell(f"the baseline accepts {plural(accepted, 'finding')}")
    if timings is not None:
        timings.tell(session.outcomes, verbose=arguments.verbose)
    return exit_code(session)


def _common_directory(paths: Sequence[str]) -> str:
    """The directory whose configuration speaks for the run as a whole."""
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in map(os.path.abspath, paths)]
    try:
        return os.path.commonpath(folders)
    except ValueError:  # on different drives
        return folders[0]


def _targets(session: Session, found: Configs) -> list[Target]:
    files = discover(session.arguments.paths, found)
    session.problems += files.problems
    if not files.targets and not files.problems:
        session.problems.append(Problem("no Python files or notebooks found under the given paths", fails=False))
    if session.arguments.verbose:
        for path in sorted({target.config.path or "none; the defaults hold" for target in files.targets}):
            tell(f"configuration: {path}")
        for target in files.targets:
            tell(f"reading {target.path}")
    if session.arguments.shard is None:
        return files.targets
    from tfmemlint.cli.sharded import of_shard

    return of_shard(session, files.targets, _common_directory(session.arguments.paths))


def _show_files(session: Session, targets: Sequence[Target]) -> int:
    session.tell_problems()
    with output.tolerant(sys.stdout) as out:
        out.writelines(f"{shown(target.path)}\n" for target in targets)
    return failure(session) or 0


def _tell_unfollowed(outcomes: Sequence[Outcome]) -> None:
    """One line for each import of a file that was checked whose module of the project could not be followed."""
    from tfmemlint.lint.unfollowed import unfollowed

    for outcome in outcomes:
        path = outcome.result.path
        for name, why in unfollowed(path, outcome.config).items() if not outcome.result.skipped else ():
            tell(f"{path}: {name} is not followed: {why}")


def _baselines(session: Session, targets: Sequence[Target]) -> dict[int, Baseline | None]:
    """The baselines in effect, by the identity of the configuration that names them. One that cannot be read costs the
    files of its configuration. Raises BaselineError where that is the configuration of the run."""
    made: dict[int, Baseline | None] = {}
    loaded: dict[str, Baseline] = {}
    for config in {id(target.config): target.config for target in targets}.values():
        if not config.baseline or session.arguments.write_baseline is not None:
            made[id(config)] = None
            continue
        from tfmemlint.lint.baseline import Baseline, BaselineError

        path = config.resolve(config.baseline)
        try:
            if path not in loaded:
                loaded[path] = Baseline.load(path)
            made[id(config)] = loaded[path]
        except BaselineError as error:
            if config is session.config or "baseline" in config.from_command_line:
                raise
            session.problems.append(Problem(f"{short(config.path)}: baseline: {error}"))
    return made


_Baselines = Mapping[int, "Baseline | None"]


def _options(arguments: argparse.Namespace, targets: Sequence[Target], baselines: _Baselines) -> Options:
    if arguments.diff_base and targets:
        from tfmemlint.lint.changed_lines import changed_lines

        changed_lines(arguments.diff_base, [targets[0].path])  # a wrong revision is an error, whatever is found
    configs = {id(target.config): target.config for target in targets}.values()
    gates = tuple((config, Gate(baselines.get(id(config)), arguments.diff_base)) for config in configs)
    cache = not (arguments.no_cache or arguments.show_suppressed)
    return Options(arguments.jobs, cache, arguments.diff, gates, arguments.executor or "", arguments.timings)


def _gate(session: Session, baselines: _Baselines) -> int:
    """Take findings out that a baseline accepts or that no change touches; how many the baselines accept."""
    accepted = 0
    for baseline in filter(None, dict.fromkeys(baselines.values())):
        chosen = [
            number for number, outcome in enumerate(session.outcomes) if baselines.get(id(outcome.config)) is baseline
        ]
        filtered = baseline.filter([session.outcomes[number].result for number in chosen])
        if filtered.stale:
            ran = _codes_that_ran(session.outcomes[number].config for number in chosen)
            filtered = baseline.filter([session.outcomes[number].result for number in chosen], ran)
        accepted += filtered.matched
        for entry in [] if _is_narrowed(session.arguments) else filtered.stale:
            words = f"{entry.path}: {entry.code} is not found any more; --write-baseline takes it out"
            session.problems.append(Problem(f"{short(baseline.path)}: stale entry {words}", fails=False))
        for number, result in zip(chosen, filtered.results, strict=True):
            session.outcomes[number] = replace(session.outcomes[number], result=result)
    if session.arguments.diff_base:
        from tfmemlint.lint.changed_lines import keep_changed

        kept = keep_changed([outcome.result for outcome in session.outcomes], session.arguments.diff_base)
        session.outcomes = [replace(old, result=new) for old, new in zip(session.outcomes, kept, strict=True)]
    return accepted


def _is_narrowed(arguments: argparse.Namespace) -> bool:
    """Whether the command line changes which costs are reported, so that a finding may be missing for that."""
    sizes = (arguments.least_cost, arguments.min_bytes, arguments.max_tensor, arguments.gpu_memory)
    return any(value is not None for value in sizes)


def _codes_that_ran(configurations: Iterable[Config]) -> frozenset[str]:
    from tfmemlint.lint.registry import load_rules, selected_codes

    rules = load_rules()
    chosen = [selected_codes(rules, config) for config in {id(each): each for each in configurations}.values()]
    return frozenset.intersection(*chosen) if chosen else frozenset()


def _verify(session: Session, old: Baseline | None) -> None:
    """Measure what was found and no baseline accepts, nor the one that is to be written anew."""
    from tfmemlint.cli.verify.checked import verified

    results = [outcome.result for outcome in session.outcomes]
    left = old.filter(results).results if old else results
    configs = [outcome.config for outcome in session.outcomes]
    session.verified = verified(list(zip(left, configs, strict=True)), session.arguments)


def _baseline_path(session: Session) -> str:
    named: str = session.arguments.write_baseline
    return named or session.config.resolve(session.config.baseline or DEFAULT_BASELINE)


def _old_baseline(session: Session) -> Baseline | None:
    """The baseline that is to be written anew. Raises BaselineError where it must not be."""
    from tfmemlint.lint.baseline import replaceable

    config = session.config
    in_file = not session.arguments.write_baseline and "baseline" not in config.from_command_line
    return replaceable(_baseline_path(session), (config.root or os.getcwd()) if in_file else None)


def _write_baseline(session: Session, old: Baseline | None) -> int:
    """Accept what was found; with --verify what a measurement contradicts, and what was accepted before and is still
    found. What the run did not look at stays accepted: files beside the named paths, rules that were not selected,
    files that could not be checked."""
    from tfmemlint.lint.baseline import write_baseline

    def accepts(path: str, finding: Finding, entry: Entry) -> bool:
        found = session.verified.get((path, finding))
        contradicted = found is not None and found.contradicted
        return session.arguments.verify is None or contradicted or (old is not None and entry in old.entries)

    config, path = session.config, _baseline_path(session)
    spared = old.spared(session.arguments.paths, _codes_that_ran_by_path(session.outcomes)) if old else []
    count = write_baseline(path, [outcome.result for outcome in session.outcomes], spared, accepts)
    if not session.arguments.quiet:
        kept = f" and kept {len(spared)} of what was not checked" if spared else ""
        hint = "" if config.baseline else f'; set baseline = "{os.path.basename(path)}" to use it'
        tell(f"accepted {plural(count, 'finding')} in {short(path)}{kept}{hint}")
    return failure(session) or 0


def _codes_that_ran_by_path(outcomes: Iterable[Outcome]) -> dict[str, frozenset[str]]:
    from tfmemlint.lint.registry import load_rules, selected_codes

    rules, found = load_rules(), dict[int, frozenset[str]]()
    ran = {}
    for outcome in outcomes:
        key = id(outcome.config)
        if key not in found:
            found[key] = selected_codes(rules, outcome.config)
        ran[outcome.result.path] = found[key] if outcome.result.complete else frozenset[str]()
    return ran


def _add_ignores(session: Session) -> int:
    from tfmemlint.fix.write import write_atomically
    from tfmemlint.lint.suppress import add_ignores

    count = files = 0
    for outcome in session.outcomes:
        source = outcome.result.source
        findings = outcome.result.findings
        if source is None or not findings:
            continue
        edits = add_ignores(source, findings, session.arguments.add_ignore)
        if not edits:
            continue
        try:
            remark = write_atomically(source.path, source.data, source.rewrite(edits))
        except (OSError, ValueError) as error:
            session.problems.append(Problem(f"{source.path}: no comment written: {error}"))
            tell(f"error: {source.path}: no comment written: {error}")
            continue
        if remark and not session.arguments.quiet:
            tell(f"warning: {source.path}: {remark}")
        count, files = count + len(edits), files + 1
    if not session.arguments.quiet:
        tell(f"wrote {plural(count, 'ignore comment')} in {plural(files, 'file')}")
    return failure(session) or 0


def _write_diff(session: Session) -> None:
    count = 0
    with contextlib.suppress(BrokenPipeError):
        for outcome in session.outcomes:
            count += len(outcome.applied)
            if outcome.change:
                output.write_bytes(output.unified_diff(outcome.result.path, *outcome.change))
    if not session.arguments.quiet:
        tell(f"would fix {plural(count, 'finding')}; --fix does it")
