"""Runs programs under the child, each in fresh contained processes, and returns what they cost."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from tfmemlint.verify import sandbox
from tfmemlint.verify.sandbox import GIB, Level, Limits, Outcome

CHILD = Path(__file__).with_name("child.py")
FAILURES_ENOUGH = 2
RESERVED = ("program.py", "request.json", "result.json", "shm", "__pycache__")


class MeasureError(Exception):
    """Nothing can be measured here; the text says why and what to do, in one line."""


@dataclass(frozen=True)
class Program:
    """One complete Python program. `simulated_gpus` graphics cards exist for TensorFlow's own checks of settings."""

    source: str
    simulated_gpus: int = 0
    path: tuple[str, ...] = ()
    """Folders put in front of `sys.path`."""
    folder: str | None = None
    """The folder whose entries the program shall find, read-only, in its working folder."""
    package: str = ""
    """The package that the program's relative imports start from."""
    substitute: bool = False
    """Whether data is made up and training cut short."""


@dataclass(frozen=True)
class Settings:
    """How programs are run. `allocator_limit` is the memory in bytes of the card to imitate, None for no limit."""

    python: str = sys.executable
    device: str = "auto"
    repeat: int = 3
    allocator_limit: int | None = None
    limits: Limits = field(default_factory=Limits)
    level: Level | None = None
    interval: float = 0.005
    timed: bool = False
    """Whether seconds are compared, which a program takes as it likes, and not bytes, the same in each run."""


class Failure(msgspec.Struct, frozen=True):
    """An exception that ended a program; `lines` are the program's own lines on the way to it."""

    type: str
    module: str = ""
    message: str = ""
    lines: tuple[int, ...] = ()
    out_of_memory: bool = False
    traceback: str = ""

    @property
    def text(self) -> str:
        """`Type: message` in one line; of a message over several lines the first, or the last where that says more."""
        lines = [line.strip() for line in self.message.splitlines() if line.strip()]
        if not lines:
            return self.type
        return f"{self.type}: {lines[-1] if lines[0].endswith(':') else lines[0]}"


class Line(msgspec.Struct, frozen=True):
    """A line of the user's that was executing: how often it was seen, the most live and resident bytes then, and by how
    much the allocator's peak rose."""

    file: str
    line: int
    function: str
    samples: int
    live: int
    rss: int
    rise: int


class Run(msgspec.Struct, frozen=True):
    """What one process cost; bytes and seconds, None where unknown. `status` is "ok", "error" (an exception), "time",
    "memory", "disk", "processes" (killed at that limit) or "crash"."""

    status: str
    reason: str = ""
    error: Failure | None = None
    initialized: bool = False
    device: str | None = None
    allocator_problem: str | None = None
    peak_bytes: int | None = None
    live_bytes: int | None = None
    rss_start: int | None = None
    rss_peak: int | None = None
    rss_end: int | None = None
    device_used_peak: int | None = None
    traces: int = 0
    traces_by_name: dict[str, int] = {}
    seconds: float = 0.0
    value: float | None = None
    marks: tuple[tuple[float, int, int, int | None, int], ...] = ()
    timeline: tuple[tuple[float, int, int | None, int | None], ...] = ()
    lines: tuple[Line, ...] = ()
    gpu_options: dict[str, Any] | None = None
    versions: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    """What was replaced while it ran."""
    output: str = ""

    @property
    def out_of_memory(self) -> bool:
        """Whether it ended for want of memory, of the allocator's or of the machine's."""
        return self.status == "memory" or (self.error is not None and self.error.out_of_memory)


def machine_memory() -> int:
    """Bytes that a program may take on this machine: four fifths of what is free, and of the container's limit."""
    free = 4 * GIB
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        free = int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        if sys.platform == "darwin":
            free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            free = min(free, int(Path(name).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return free * 4 // 5


def first_region(settings: Settings) -> int:
    """Bytes of address space that the CPU's allocator takes at once: the largest power of two within all limits."""
    if settings.allocator_limit is not None:
        return settings.allocator_limit * 9 // 10
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    size: int = 1 << (min(memory // 2, settings.limits.memory).bit_length() - 1)
    return size


def read_result(path: Path, outcome: Outcome) -> Run:
    """The run that the child wrote to `path`, or what its outcome tells where it wrote none."""
    if outcome.ended != "exit":
        return Run(outcome.ended, outcome.reason, seconds=outcome.seconds, output=outcome.output)
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return Run("crash", outcome.reason or "left no result", seconds=outcome.seconds, output=outcome.output)
    run = msgspec.convert({**data, "output": outcome.output}, Run)
    return msgspec.structs.replace(run, reason=run.error.text) if run.error else run


def _variables(settings: Settings) -> dict[str, str]:
    # `child_arrays` places the arrays of the program's own thread. In the others, as those of a pipeline's generator,
    # a threshold that stays makes malloc map each large array 16 bytes past a page, where TensorFlow copies it too.
    extra = {"TF_CPU_ALLOCATOR_USE_BFC": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    if settings.device == "cpu":
        extra["CUDA_VISIBLE_DEVICES"] = "-1"
    if settings.allocator_limit is not None:
        extra["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = str(max(1, settings.allocator_limit // 1024**2))
    return extra


def _link_entries(folder: str, work: str) -> None:
    """Let relative paths of the program find what lies beside the user's file."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            target = os.path.join(work, entry.name)
            if not os.path.lexists(target) and entry.name not in RESERVED:
                os.symlink(os.path.abspath(entry.path), target)


def run_once(program: Program, settings: Settings) -> Run:
    """Run the program in a fresh contained process. Raises MeasureError where the interpreter cannot be started."""
    with sandbox.workspace() as work:
        result = Path(work, "result.json")
        request = {
            "program": os.path.join(work, "program.py"),
            "source": program.source,
            "path": [os.path.abspath(folder) for folder in program.path],
            "result": str(result),
            "device": settings.device,
            "simulated_gpus": program.simulated_gpus,
            "substitute": program.substitute,
            "package": program.package,
            "interval": settings.interval,
            "paced": not settings.timed,
            "reserve": first_region(settings),
        }
        if program.folder is not None:
            _link_entries(program.folder, work)
        where = Path(work, "request.json")
        where.write_text(json.dumps(request), encoding="utf-8")
        try:
            outcome = sandbox.run(
                [settings.python, "-B", str(CHILD), str(where)],
                work=work,
                limits=settings.limits,
                extra=_variables(settings),
                level=settings.level,
                gpu=settings.device != "cpu",
                repeatable=settings.device != "gpu" and not settings.timed,
            )
        except OSError as error:
            raise MeasureError(f"cannot start {settings.python}: {error.strerror}") from error
        return read_result(result, outcome)


def measure(program: Program, settings: Settings, done: Callable[[], None] | None = None) -> tuple[Run, ...]:
    """`settings.repeat` runs of the program, or fewer where it fails each time; `done` is called after each."""
    runs: list[Run] = []
    while len(runs) < settings.repeat:
        runs.append(run_once(program, settings))
        if done:
            done()
        if len(runs) >= FAILURES_ENOUGH and all(run.status != "ok" for run in runs):
            break
    return tuple(runs)


def check_system() -> None:
    """Raises MeasureError where this system cannot limit and measure processes."""
    if os.name != "posix":
        raise MeasureError("programs can be measured on Linux and macOS only")


def check_interpreter(python: str, timeout: float = 120.0) -> None:
    """Raises MeasureError with one clear line where `python` cannot be run or has no TensorFlow."""
    check_system()
    program = "import importlib.util, sys; sys.exit(0 if importlib.util.find_spec('tensorflow') else 9)"
    try:
        done = subprocess.run(
            [python, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MeasureError(f"cannot start {python}: {getattr(error, 'strerror', None) or error}") from error
    if done.returncode == 9:
        raise MeasureError(f"{python} has no TensorFlow; name an interpreter that has one with --python")
    if done.returncode:
        raise MeasureError(f"{python} is not a working Python: {done.stderr.decode(errors='replace').strip()[-200:]}")


def versions(runs: Iterable[Run]) -> dict[str, str]:
    """Versions of the first run that reports any."""
    return next((run.versions for run in runs if run.versions), {})
