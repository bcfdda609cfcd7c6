"""What one process cost, and how much of what it says of itself is believed.

The figures come from the process that ran the program, which can write what it likes in their place. So they are read
without waiting and up to a size, each has a kind and a range, and none may exceed what was allowed or seen outside.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from tfmemlint.verify.run.at_flagged import AtFlagged, Count, Seconds, Text

MOST = 8 << 20
SLACK = 1.0
CRASH = "crash"

Word = Annotated[str, Meta(max_length=300)]
Name = Annotated[str, Meta(max_length=4096)]
Mark = tuple[Seconds, Count, Count, Count | None, Count, Count]
"""Seconds, bytes of tensors, their peak, resident bytes, traces, and nodes of the graph of version 1."""
Sample = tuple[Seconds, Count, Count | None, Count | None]


_CALLING = "Exception encountered when calling"
_ARGUMENTS = re.compile(r"\n\s*(?:Call a|A)rguments received by")


class Failure(msgspec.Struct, frozen=True):
    """An exception that ended a program; `lines` are the program's own lines on the way to it."""

    type: Word
    module: Word = ""
    message: Text = ""
    lines: Annotated[tuple[Count, ...], Meta(max_length=5000)] = ()
    out_of_memory: bool = False
    traceback: Text = ""

    @property
    def text(self) -> str:
        """`Type: message` in one line; of a message over several lines the first, or where that says more the last
        before the arguments that Keras lists, or that which follows the name of the node of a graph."""
        lines = [line.strip() for line in _ARGUMENTS.split(self.message)[0].splitlines() if line.strip()]
        if not lines:
            return self.type
        node = next((at for at, line in enumerate(lines[:-1]) if line.startswith("Node: ")), None)
        if node is not None:
            return f"{self.type}: {lines[node + 1]}"
        says_where = lines[0].endswith(":") or lines[0].startswith(_CALLING)
        return f"{self.type}: {lines[-1] if says_where else lines[0]}"


class Line(msgspec.Struct, frozen=True):
    """A line of the user's that was executing: how often it was seen, the most live and resident bytes then, and by how
    much the allocator's peak rose."""

    file: Name
    line: Count
    function: Word
    samples: Count
    live: Count
    rss: Count
    rise: Count


class Cards(msgspec.Struct, frozen=True):
    """Who made the devices of simulated graphics cards first, empty where nobody did; whether with options that take
    the cards whole; and the variables that were set too late to be read then."""

    made_by: Word
    whole: bool
    late: Annotated[tuple[Word, ...], Meta(max_length=20)] = ()

    @property
    def words(self) -> str:
        """All of this for a reader."""
        if not self.made_by:
            return "nothing makes the devices of the cards"
        how = "with options that take them whole" if self.whole else "with growth, a limit or no card"
        late = f"; set too late to be read: {', '.join(self.late)}" if self.late else ""
        return f"{self.made_by} makes the devices of the cards first, {how}{late}"


class Step(msgspec.Struct, frozen=True):
    """One training step: bytes of all variables, of one batch (None where the step makes it itself), what the ops of
    the step ask for at its peak, and what the allocator has handed out for that. `held` is what lives then: the op, its
    bytes and the numbers of the layers around it, outer ones first; `layers` are names and classes."""

    variables: Count
    data: Count | None
    batch: Count | None
    step: Count
    chunks: Count
    layers: Annotated[tuple[tuple[Word, Word], ...], Meta(max_length=10_000)] = ()
    held: Annotated[tuple[tuple[Word, Count, tuple[Count, ...]], ...], Meta(max_length=300)] = ()


class Run(AtFlagged, frozen=True):
    """What one process cost; bytes and seconds, None where unknown. `status` is "ok", "error" (an exception), one of
    `watch.ENDS` (killed at that limit) or "crash" (it left nothing that can be believed; `reason` says why)."""

    status: Word
    reason: str = ""
    error: Failure | None = None
    initialized: bool = False
    device: Annotated[str, Meta(pattern="^[CG]PU:[0-9]$")] | None = None
    allocator_problem: Text | None = None
    peak_bytes: Count | None = None
    live_bytes: Count | None = None
    host_peak_bytes: Count | None = None
    """Of tensors in the machine's own memory where `peak_bytes` and `live_bytes` are those of a card."""
    host_live_bytes: Count | None = None
    card: Word | None = None
    """The first card of the machine, and its driver, in words."""
    arrays_peak: Count | None = None
    rss_start: Count | None = None
    rss_peak: Count | None = None
    rss_end: Count | None = None
    rss_files: Count = 0
    """How many of the resident bytes that came since the start are of mapped files: libraries', in the main."""
    device_used_peak: Count | None = None
    traces: Count = 0
    traces_by_name: Annotated[dict[Word, Count], Meta(max_length=50)] = {}
    seconds: Seconds = 0.0
    value: float | None = None
    marks: Annotated[tuple[Mark, ...], Meta(max_length=10_000)] = ()
    timeline: Annotated[tuple[Sample, ...], Meta(max_length=10_000)] = ()
    lines: Annotated[tuple[Line, ...], Meta(max_length=10_000)] = ()
    gpu_options: Annotated[dict[Word, bool | Text | tuple[float, ...]], Meta(max_length=10)] | None = None
    simulated: Count = 0
    """Graphics cards that were not there."""
    cards: Cards | None = None
    raised: Annotated[tuple[Text, ...], Meta(max_length=20)] = ()
    """The exceptions that passed through the program's own code, caught or not, as `Type: text`, where asked for."""
    versions: Annotated[dict[Word, Word], Meta(max_length=10)] = {}
    notes: Annotated[tuple[Text, ...], Meta(max_length=500)] = ()
    """What was replaced while it ran."""
    step_seconds: Seconds | None = None
    """Seconds that a training step takes, or a call of a function that TensorFlow makes a graph of."""
    rounds: Count = 0
    """Of the loop around the flagged place, how many ran; `rounds_cut` where it would have gone on."""
    rounds_cut: bool = False
    rounds_in_all: Count | None = None
    """How many rounds that loop has, where what it goes through has a length."""
    steps_in_time: Count = 0
    """Of all trainings together that were ended because they take long."""
    sizes_made_up: bool = False
    """Whether it read files whose sizes and number were made up."""
    strings: bool = False
    """Whether elements of a data set that was iterated have strings."""
    held_by_data_sets: Annotated[tuple[Count, ...], Meta(max_length=100)] = ()
    """The most bytes of tensors that lived with an element of each data set that was iterated in place of training, and
    not before."""
    step: Step | None = None
    """The training step that was asked for, None where the program did not come to it."""
    output: str = ""

    @property
    def out_of_memory(self) -> bool:
        """Whether it ended for want of memory, of the allocator's or of the machine's."""
        return self.status == "memory" or (self.error is not None and self.error.out_of_memory)


class _Report(Run, frozen=True):
    """The figures as the process wrote them; `key` is what it was told to begin with."""

    key: str = ""


_REPORTS = msgspec.json.Decoder(_Report)
"""Made as the module is imported: two threads that decode a type for the first time crash each other in msgspec 0.22,
which shows its description of the type before that is whole."""


@dataclass(frozen=True)
class Bounds:
    """What the figures of a process cannot exceed: its seconds, the bytes that it could ask for, and those of the
    machine."""

    seconds: float = math.inf
    tensors: int = 1 << 50
    resident: int = 1 << 50


UNBOUNDED = Bounds()


def read_result(source: Path | int, bounds: Bounds = UNBOUNDED, key: str = "") -> Run:
    """The run as a process reported it in a file, given as a path or an open file; "crash" where it is not believed.

    Raises nothing, does not wait and reads at most `MOST` bytes, whatever lies there. `key` is the secret that the
    report must hold.
    """
    try:
        return _checked(_REPORTS.decode(_content(source)), bounds, key)
    except FileNotFoundError:
        return Run(CRASH, "left no result")
    except Exception as error:  # of the reader's, of the decoder's, of the stack: all are the program's doing
        return Run(CRASH, f"left no result that can be read: {str(error)[:200] or type(error).__name__}")


def _content(source: Path | int) -> bytes:
    if isinstance(source, int):
        return _read(source)
    handle = os.open(source, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        return _read(handle)
    finally:
        os.close(handle)


def _read(handle: int) -> bytes:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("not a file")
    if found.st_size > MOST:
        raise ValueError(f"{found.st_size} bytes")
    if not found.st_size:
        raise FileNotFoundError
    with contextlib.suppress(OSError):
        os.lseek(handle, 0, os.SEEK_SET)
    data = b""
    while len(data) <= MOST and (chunk := os.read(handle, MOST + 1 - len(data))):
        data += chunk
    return data


def _checked(report: _Report, bounds: Bounds, key: str) -> Run:
    """The report without its key. Raises ValueError for what cannot be so."""
    if key and report.key != key:
        raise ValueError("it was not written by the monitor")
    if report.status != ("error" if report.error else "ok"):
        raise ValueError(f"status {report.status[:20]!r}")
    times = [report.seconds, *(mark[0] for mark in report.marks), *(sample[0] for sample in report.timeline)]
    _within("seconds", times, bounds.seconds + SLACK)
    held = [report.peak_bytes, report.live_bytes, *(size for mark in report.marks for size in mark[1:3])]
    held += report.held_by_data_sets
    lines = report.lines
    held += [*(sample[1] for sample in report.timeline), *(size for line in lines for size in (line.live, line.rise))]
    if report.step is not None:
        held += [report.step.variables, report.step.data, report.step.step, report.step.chunks]
    _within("bytes of tensors", held, bounds.tensors)
    resident = [report.rss_start, report.rss_peak, report.rss_end, *(mark[3] for mark in report.marks)]
    resident += [*(sample[2] for sample in report.timeline), *(line.rss for line in lines)]
    _within("bytes of memory", resident, bounds.resident)
    # Arrays that nothing is written to take no memory, so that there may be more of them than the machine has.
    _within("bytes of arrays", [report.arrays_peak], UNBOUNDED.resident)
    if not all(text.isprintable() for pair in report.versions.items() for text in pair):
        raise ValueError("versions that cannot be printed")
    if report.value is not None and not math.isfinite(report.value):
        raise ValueError(f"value {report.value}")
    fields = {name: getattr(report, name) for name in Run.__struct_fields__}
    return Run(**{**fields, "reason": report.error.text if report.error else "", "output": ""})


def _within(what: str, values: Iterable[float | None], most: float) -> None:
    for value in values:
        if value is not None and not 0 <= value <= most:
            raise ValueError(f"{value:g} {what}")
