"""What a user sees of `verify` and `run`: what will be run, how far it is, the verdicts, the files that are written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfmemlint.cli.output import is_colored, tell, tolerant
from tfmemlint.report.style import Style
from tfmemlint.verify.pages import report
from tfmemlint.verify.result import Pair, Result, environment
from tfmemlint.verify.run import sandbox
from tfmemlint.verify.run.interpreters import MeasureError, check_interpreter
from tfmemlint.verify.run.measure import Settings


def announce(programs: int, chosen: Settings) -> str:
    """Say what will be run and how it is contained; the words for the containment. Raises MeasureError."""
    check_interpreter(chosen.python)
    level = chosen.level or sandbox.strongest_level()
    noun = "program" if programs == 1 else "programs"
    times = "once" if chosen.repeat == 1 else f"{chosen.repeat} times"
    tell(f"running {programs} {noun}, {times} each, with {chosen.python}; {level.value}")
    if not level.isolated:
        tell("warning: neither bubblewrap nor unshare works here; only limits and filters contain the programs")
    for gap in sandbox.gaps(level):
        tell(f"warning: {gap}")
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
                if program is None:
                    continue
                stream.write(f"# {'-' * 20} {label}: {side} {'-' * 20}\n")
                for note in pair.replaced:
                    stream.write(f"# {note}\n")
                stream.write(program.listing.rstrip("\n") + "\n\n")


def present(options: argparse.Namespace, results: Sequence[Result], chosen: Settings, isolation: str) -> None:
    """Print the verdicts and write the page where one is asked for. Raises MeasureError where it cannot be written."""
    where = environment(results, chosen, isolation)
    with tolerant(sys.stdout) as stream:
        if options.output_format == "json":
            report.write_json(results, where, stream)
        else:
            report.write_text(results, where, stream, Style(is_colored(stream)))
    if options.html:
        from tfmemlint.verify.pages.html import page

        write(Path(options.html), page(results, where))


def write(path: Path, text: str) -> None:
    """Write a file that the user asked for. Raises MeasureError with one line where that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise MeasureError(f"cannot write {path}: {error.strerror}") from error
    tell(f"wrote {path}")
