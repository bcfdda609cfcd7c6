"""The arguments of `tfmemlint verify` and `tfmemlint run`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tfmemlint.cli.arguments import Parser, add_executor
from tfmemlint.cli.usage import UsageError
from tfmemlint.report.places import Place
from tfmemlint.units import Size, parse_size, show_bytes
from tfmemlint.verify.run.measure import Settings
from tfmemlint.verify.run.watch import Limits, machine_memory

_VERIFY = """Run the code of findings before and after its repair, in processes of their own, and measure both.

This executes code of the files that you name: without network, with files read-only and under limits where bubblewrap
or unshare work here. --dry-run shows the programs and runs nothing."""

_RUN = """Run a program or the code cells of a notebook and measure the memory that it uses: its peak, its course over
time, the lines that were executing at the peak and the findings on those lines. The program has all your rights, as
when python runs it."""

MEMORY = 6 << 30
"""Bytes that a program may take where nothing is said. Those of steps and statements take far less; what takes more has
most often lost its end, and only wears out the machine."""

_EXIT = """exit codes:
  0  the programs were run
  1  with --strict: a measurement speaks against a finding or its repair
     with --rules: a rule's claim does not hold here
  2  wrong usage, no TensorFlow, or nothing could be read
"""


def _size(text: str) -> Size:
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number over 0")
    return int(text)


def _codes(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _shared(parser: argparse.ArgumentParser, output: str) -> None:
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto", help="where to run (default: auto)")
    parser.add_argument("--html", metavar="FILE", help="write a page with pictures of the figures")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help=f"how to print {output}")
    parser.add_argument("--python", metavar="FILE", default=sys.executable, help="the interpreter that has TensorFlow")


def verify_parser() -> argparse.ArgumentParser:
    """The parser of `verify`."""
    parser = Parser(
        "tfmemlint verify",
        description=_VERIFY,
        epilog=_EXIT,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH[:[CELL:]LINE]", help="files, folders or one line of a file")
    parser.add_argument(
        "--rules", nargs="*", metavar="CODE", help="measure the rules' own samples in place of files; all without codes"
    )
    parser.add_argument("--select", type=_codes, metavar="CODES", help="verify the findings of these rules only")
    parser.add_argument("--memory-limit", type=_size, metavar="SIZE", help="imitate a card of this size, as 8GiB")
    parser.add_argument("--repeat", type=_positive, default=3, metavar="N", help="runs of each program (default: 3)")
    parser.add_argument(
        "--timeout",
        type=_positive,
        default=180,
        metavar="SECONDS",
        help="kill a program after this time (default: 180)",
    )
    parser.add_argument(
        "--max-memory",
        type=_size,
        metavar="SIZE",
        help=f"kill a program that takes more (default: {show_bytes(MEMORY)}, or what is free)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit 1 where a finding or its repair is contradicted; with --rules, run each sample also with other "
        "timings of Python's collector and other hash seeds, which must agree",
    )
    parser.add_argument(
        "--samples", action="store_true", help="run the rule's own sample where your code has nothing to compare"
    )
    parser.add_argument(
        "-n", "--no-cache", action="store_true", help="run programs that have not changed since they were run, too"
    )
    add_executor(parser)
    parser.add_argument("--dry-run", action="store_true", help="print the programs and run nothing")
    parser.add_argument("--evidence", metavar="FILE", help="with --rules: the JSON file that keeps the verdicts")
    parser.add_argument("--fixtures", metavar="FOLDER", help="with --rules: where the samples are")
    _shared(parser, "the verdicts")
    return parser


def run_parser() -> argparse.ArgumentParser:
    """The parser of `run`; what follows the script is the script's own."""
    parser = Parser("tfmemlint run", description=_RUN, allow_abbrev=False)
    parser.add_argument("script", metavar="SCRIPT", help="the program, or a notebook")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="the program's arguments")
    parser.add_argument("--top", type=_positive, default=10, metavar="N", help="lines to show (default: 10)")
    parser.add_argument("--select", type=_codes, metavar="CODES", help="show the findings of these rules only")
    parser.add_argument("--save", metavar="FILE", help="write the figures to a file, to compare later runs with")
    parser.add_argument("--against", metavar="FILE", help="show the figures beside those that --save wrote")
    _shared(parser, "the figures")
    return parser


def settings(options: argparse.Namespace) -> Settings:
    """How `verify` shall run programs."""
    memory = min(options.max_memory or MEMORY, machine_memory())
    limits = Limits(wall=options.timeout, cpu=options.timeout * (os.cpu_count() or 1), memory=memory)
    return Settings(options.python, options.device, options.repeat, options.memory_limit, limits)


@dataclass(frozen=True)
class Line:
    """A line of a file, or of one cell of a notebook; every cell's where none is named."""

    row: int
    cell: int | None = None

    def holds(self, place: Place) -> bool:
        """Whether something stands there."""
        return place.row == self.row and self.cell in (None, place.cell)


_LINE = re.compile(r":(?:(?:cell )?(?P<cell>[1-9]\d*):)?(?P<row>[1-9]\d*)\Z", re.ASCII)


def split_line(path: str) -> tuple[str, Line | None]:
    """`PATH:LINE` or `PATH:CELL:LINE` in its parts; a file whose name looks like that is meant as it is."""
    found = _LINE.search(path)
    if found is None or not path[: found.start()] or os.path.exists(path):
        return path, None
    return path[: found.start()], Line(int(found["row"]), int(found["cell"]) if found["cell"] else None)


def parse(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Read the arguments. Raises UsageError for wrong ones."""
    options = parser.parse_args(list(words))
    if getattr(options, "executor", None) and options.rules is not None:
        raise UsageError("--executor is for findings; the rules' own samples are measured on one machine")
    if getattr(options, "memory_limit", None) is not None:
        if options.device == "gpu":
            raise UsageError("--memory-limit imitates a card on the CPU; leave --device gpu out")
        options.device = "cpu"
    return options
