"""`tfmemlint verify` and `tfmemlint run`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfmemlint.cli_output import is_colored, tell, tolerant
from tfmemlint.report.style import Style
from tfmemlint.usage import UsageError
from tfmemlint.verify import evidence, report, sandbox
from tfmemlint.verify.cli_arguments import parse, run_parser, settings, verify_parser
from tfmemlint.verify.evidence import EvidenceError, Sample
from tfmemlint.verify.judge import CONFIRMED
from tfmemlint.verify.measure import MeasureError, Settings, check_interpreter
from tfmemlint.verify.result import Pair, Result, environment


def verify_main(words: Sequence[str]) -> int:
    """Run `verify` with these arguments; the exit code. Raises UsageError."""
    options = parse(verify_parser(), words)
    try:
        if options.rules is not None:
            return _verify_rules(options)
        from tfmemlint.verify.cli_findings import verify_findings

        return verify_findings(options)
    except (EvidenceError, MeasureError) as error:
        raise UsageError(str(error)) from error


def run_main(words: Sequence[str]) -> int:
    """Run `run` with these arguments; the exit code is the program's. Raises UsageError."""
    from tfmemlint.verify.cli_run import monitor

    options = parse(run_parser(), words)
    try:
        return monitor(options)
    except MeasureError as error:
        raise UsageError(str(error)) from error


def announce(programs: int, chosen: Settings) -> str:
    """Say what will be run and how it is contained; the words for the containment. Raises MeasureError."""
    check_interpreter(chosen.python)
    level = chosen.level or sandbox.strongest_level()
    noun = "program" if programs == 1 else "programs"
    tell(f"running {programs} {noun}, {chosen.repeat} times each, with {chosen.python}; {level.value}")
    if not level.isolated:
        tell("warning: neither bubblewrap nor unshare works here, so the programs can write files and use the network")
    return level.value


class Progress:
    """What a user sees on stderr while programs run: a bar where that is a terminal, a line for each verdict."""

    def __init__(self, total: int) -> None:
        self._total, self._count = total, 0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress as Bar
            from rich.progress import TimeElapsedColumn

            self._bar = Bar(*Bar.get_default_columns(), TimeElapsedColumn(), console=Console(stderr=True))
            self._task = self._bar.add_task("measuring", total=self._total)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def ran(self) -> None:
        """One more process has ended."""
        self._count += 1
        if self._bar is not None:
            self._bar.update(self._task, completed=self._count)

    def judged(self, label: str, kind: str) -> None:
        """One more verdict is there."""
        line = f"tfmemlint: [{self._count}/{self._total}] {label}: {kind}"
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False)
        else:
            tell(line.removeprefix("tfmemlint: "))


def show_programs(pairs: Sequence[tuple[str, Pair]]) -> None:
    """Print the programs that would be run."""
    with tolerant(sys.stdout) as stream:
        for label, pair in pairs:
            for side, program in (("before", pair.before), ("after", pair.after)):
                stream.write(f"# {'-' * 20} {label}: {side} {'-' * 20}\n")
                for note in pair.replaced:
                    stream.write(f"# {note}\n")
                stream.write(program.source.rstrip("\n") + "\n\n")


def present(options: argparse.Namespace, results: Sequence[Result], chosen: Settings, isolation: str) -> None:
    """Print the verdicts and write the page where one is asked for. Raises MeasureError where it cannot be written."""
    where = environment(results, chosen, isolation)
    with tolerant(sys.stdout) as stream:
        if options.output_format == "json":
            report.write_json(results, where, stream)
        else:
            report.write_text(results, where, stream, Style(is_colored(stream)))
    if options.html:
        from tfmemlint.verify.html import page

        write(Path(options.html), page(results, where))


def write(path: Path, text: str) -> None:
    """Write a file that the user asked for. Raises MeasureError with one line where that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise MeasureError(f"cannot write {path}: {error.strerror}") from error
    tell(f"wrote {path}")


def _verify_rules(options: argparse.Namespace) -> int:
    codes = [*options.rules, *options.paths, *(options.select or ())]
    folder = Path(options.fixtures) if options.fixtures else evidence.fixtures_folder()
    samples = evidence.read_samples(folder, codes)
    if options.dry_run:
        show_programs([(sample.folder.name, sample.pair) for sample in samples])
        return 0
    kept = Path(options.evidence or "docs/evidence.json")
    if options.evidence is None and not kept.parent.is_dir():
        raise EvidenceError("there is no folder docs here; name the file that keeps the verdicts with --evidence")
    old = evidence.read_evidence(kept)
    chosen = settings(options)
    able = [sample for sample in samples if sample.device != "gpu" or options.device == "gpu"]
    for sample in samples:
        if sample not in able:
            tell(f"{sample.folder.name} needs a graphics card; left out without --device gpu")
    if not able:
        raise EvidenceError(f"no samples to measure in {folder}")
    isolation = announce(2 * len(able), chosen)
    results = _gather(able, chosen)
    present(options, results, chosen, isolation)
    where = environment(results, chosen, isolation)
    complete = not codes and len(able) == len(samples)
    write(kept, json.dumps(evidence.merged(old, results, where, complete), indent=2) + "\n")
    return 0 if all(result.verdict.kind == CONFIRMED for result in results) else 1


def _gather(samples: Sequence[Sample], chosen: Settings) -> list[Result]:
    results = []
    with Progress(2 * len(samples) * chosen.repeat) as progress:
        for sample in samples:
            results.append(evidence.gather(sample, chosen, progress.ran))
            progress.judged(sample.folder.name, results[-1].verdict.kind)
    return results
