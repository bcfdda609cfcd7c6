"""Where the output of the command line goes: reports to a stream or file, diffs as bytes, remarks to stderr."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from tfmemlint.cli.usage import UsageError
from tfmemlint.files.bounded_read import SOURCES
from tfmemlint.shown import patch_name, shown

if TYPE_CHECKING:
    from tfmemlint.report import FileResult, ReportOptions

_SECONDS_OF_SILENCE = 1.0


def tell(message: str) -> None:
    """One line on stderr. What it says of names and texts from outside cannot write to the terminal or begin a line."""
    with contextlib.suppress(OSError, ValueError):
        print(f"tfmemlint: {shown(message)}", file=sys.stderr, flush=True)


def silence_closed_pipes() -> None:
    """Let the rest of the output go nowhere, so that Python does not complain about it at exit."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            try:
                stream.flush()
            except BrokenPipeError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def tolerant(stream: TextIO) -> Iterator[TextIO]:
    """A stream that writes what its encoding lacks as escapes, and whose reader may stop reading."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    try:
        yield stream
        stream.flush()
    except BrokenPipeError:
        silence_closed_pipes()


def is_colored(stream: TextIO, asked: str = "auto") -> bool:
    """Whether to use colours: where `always` was asked for and not `never`, or else on a terminal, unless the
    environment says otherwise."""
    if asked != "auto":
        return asked == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def read_stdin() -> bytes:
    """Standard input to its end. Raises UsageError for more than any file may hold, and where it cannot be read."""
    stream: TextIO | None = sys.stdin  # None where the process was started without
    if stream is None:
        raise UsageError("standard input is closed")
    try:
        data = stream.buffer.read(SOURCES + 1)
    except OSError as error:
        raise UsageError(f"standard input cannot be read: {error.strerror or error}") from None
    if len(data) > SOURCES:
        raise UsageError(f"standard input is larger than {SOURCES >> 20} MiB")
    return data


def columns(stream: TextIO) -> int:
    """The width of a terminal, and 100 for anything else."""
    return max(shutil.get_terminal_size((100, 24)).columns, 40) if stream.isatty() else 100


@contextlib.contextmanager
def progress(wanted: bool) -> Iterator[Callable[[int, int], None]]:
    """A function that is told how many files of how many are done, and shows it on a terminal when it takes long."""
    if not wanted or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        shown: list[Callable[[int, int], None]] = []

        def tick(done: int, total: int) -> None:
            if not shown and time.monotonic() - started > _SECONDS_OF_SILENCE:
                shown.append(stack.enter_context(_bar()))
            for show in shown:
                show(done, total)

        yield tick


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("linting"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def write_report(
    format_name: str, results: Sequence[FileResult], stream: TextIO, options: ReportOptions, *, quiet: bool
) -> None:
    """Write a report; a quiet one has no summary, and a quiet text without findings is empty."""
    from tfmemlint.report import render

    if not quiet or format_name != "text":
        render(format_name, results, stream, options)
        return
    text = io.StringIO()
    render(format_name, results, text, options)
    lines = text.getvalue().splitlines(keepends=True)[:-1]
    stream.write("".join(lines).rstrip("\n") + "\n" if lines else "")


def write_bytes(data: bytes) -> None:
    """Bytes to stdout as they are."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode(errors="backslashreplace"))
    else:
        buffer.write(data)
        buffer.flush()


def unified_diff(path: str, before: bytes, after: bytes) -> bytes:
    """The change of one file as `patch -p0` and `git apply -p0` take it."""
    import difflib

    name = patch_name(path)
    # bytes.splitlines would part lines at lone carriage returns, which patches do not.
    old, new = _lines(before), _lines(after)
    made = b""
    for line in difflib.diff_bytes(difflib.unified_diff, old, new, name, name, lineterm=b"\n"):
        made += line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
    return made


def _lines(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
