"""Looks after one running command: what it prints, what it takes, when it must end, and that all of it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Protocol

from tfmemlint.verify.run import process_tree, workspaces

GIB, MIB = 1024**3, 1024**2
POLL = 0.05
RESCAN = 0.25
PATIENCE = 5.0
TASKS = 4096
"""Processes and threads that a run may add to those of this machine, whatever their number by kind."""
SPARE = 256 * MIB
BESIDE_WALL, BESIDE_MEMORY = 60.0, 5 * GIB
"""Seconds and bytes of a program that is only run to show a second figure."""


@dataclass(frozen=True)
class Limits:
    """Seconds and bytes after which the command is killed; `output` bytes of what it prints are kept."""

    wall: float = 180.0
    cpu: float = 600.0
    memory: int = 8 * GIB
    disk: int = 2 * GIB
    processes: int = 256
    output: int = 64 * 1024

    def lowered(self) -> Limits:
        """The limits of what is only looked at beside a figure that is known."""
        return replace(self, wall=min(self.wall, BESIDE_WALL), memory=min(self.memory, BESIDE_MEMORY))

    @property
    def addresses(self) -> int:
        """Bytes of private memory that one process can ask for, touched or not."""
        return 3 * self.memory + 4 * GIB


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


ENDS = {
    "time": "killed at the time limit",
    "memory": "killed at the memory limit",
    "disk": "killed at the disk limit",
    "processes": "killed at the processes limit",
    "machine": "killed because this machine ran out of memory or disk space",
}


class Spare:
    """What this machine has left; little of it ends a run that takes more than can be counted for it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._floors = [None if left is None else min(SPARE, left // 2) for left in self._left()]

    def _left(self) -> tuple[int | None, int | None]:
        memory = None
        try:
            with open("/proc/meminfo", encoding="ascii") as file:
                memory = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
        except (OSError, ValueError, StopIteration):
            pass
        with contextlib.suppress(OSError):
            found = os.statvfs(self._folder)
            return memory, found.f_bavail * found.f_frsize
        return memory, None

    def is_short(self) -> bool:
        """Whether memory or disk space is nearly used up."""
        pairs = zip(self._left(), self._floors, strict=True)
        return any(left is not None and floor is not None and left < floor for left, floor in pairs)


@dataclass
class Output:
    """Keeps the beginning and the end of what a command prints and throws the middle away."""

    keep: int
    total: int = 0
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)

    def read(self, stream: IO[bytes]) -> None:
        """Read to the end; for a thread."""
        while chunk := stream.read1(65536):  # type: ignore[attr-defined]
            self.total += len(chunk)
            room = max(0, self.keep // 2 - len(self.head))
            self.head += chunk[:room]
            self.tail += chunk[room:]
            del self.tail[: max(0, len(self.tail) - self.keep // 2)]

    def text(self) -> str:
        """What was kept."""
        dropped = self.total - len(self.head) - len(self.tail)
        gap = f"\n... {dropped} bytes left out ...\n".encode() if dropped else b""
        return (bytes(self.head) + gap + bytes(self.tail)).decode("utf-8", "replace")


class Awaited(Protocol):
    """What is known of the process whose end is waited for."""

    stdout: IO[bytes] | None
    returncode: Any

    @property
    def pid(self) -> int:
        """The process that has started all that is watched."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end. Raises TimeoutExpired."""

    def poll(self) -> int | None:
        """The exit code, None before the end."""


class Watch:
    """One running command: looks at it until it ends or meets a limit, then ends everything it started."""

    def __init__(self, process: Awaited, limits: Limits, work: str, marker: str, namespaced: bool) -> None:
        self.process, self.limits, self.work, self.marker = process, limits, work, marker
        self._namespaced = namespaced
        self.memory_peak = 0
        self.output = Output(limits.output)
        self._reader = threading.Thread(target=self.output.read, args=(process.stdout,), daemon=True)
        self._reader.start()
        self._device = os.stat(work).st_dev
        self._spare = Spare(work)
        self._tasks = process_tree.tasks()
        self._known: dict[int, int] = {}
        self._unnamed = 0
        self._start = time.monotonic()
        self._scanned = self._start - RESCAN

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._start

    def _scan(self) -> str | None:
        self._scanned = time.monotonic()
        found = process_tree.family(self.process.pid, known=self._known)
        self._known = found
        if len(found) > self.limits.processes:
            return "processes"
        on_disk, self._unnamed = process_tree.unnamed_files(found, self._device) if process_tree.LINUX else (0, 0)
        if workspaces.disk_use(self.work) + on_disk > self.limits.disk:
            return "disk"
        return "machine" if self._spare.is_short() else None

    def over_limit(self) -> str | None:
        """The limit that is exceeded now, if any."""
        if self.seconds > self.limits.wall:
            return "time"
        if process_tree.tasks() > self._tasks + TASKS:  # too many to look at each
            return "processes"
        if time.monotonic() - self._scanned > RESCAN:
            over = self._scan()
            if over:
                return over
        used = process_tree.memory(self._known, self.limits.memory, self._unnamed)
        self.memory_peak = max(self.memory_peak, used)
        return "memory" if used > self.limits.memory else None

    def wait(self, tick: Callable[[], None] | None) -> str:
        """Wait for the end: "exit", or the limit that was met."""
        while True:
            try:
                self.process.wait(POLL)
                return "exit"
            except subprocess.TimeoutExpired:
                over = self.over_limit()
            if over:
                return over
            if tick:
                tick()

    def _left(self, marker: str | None = None) -> dict[int, int]:
        """What is left of the command, but for the process that was started first."""
        found = process_tree.family(self.process.pid, marker, self._known)
        found.pop(self.process.pid, None)
        self._known = found
        return found

    def end(self) -> None:
        """Kill whatever is left of the command; the first process, which adopts orphans and ends them, goes last.

        With its child goes the whole namespace of processes, where there is one, however many they are.
        """
        if self._namespaced:
            process_tree.send(process_tree.children(self.process.pid), signal.SIGKILL)
        else:
            process_tree.end(self._left)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE if self._namespaced else 0)
        with contextlib.suppress(subprocess.TimeoutExpired, ProcessLookupError):  # it may hang in the kernel
            if self.process.poll() is None:  # its number, and that of its group, cannot be another's yet
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(PATIENCE)
        process_tree.end(lambda: self._left(self.marker if process_tree.LINUX else None))
        self.finish()

    def finish(self) -> None:
        """Read the rest of what the command has printed, once nothing of it is left."""
        self._reader.join(PATIENCE)
        if not self._reader.is_alive() and self.process.stdout:
            self.process.stdout.close()

    def outcome(self, ended: str, seconds: float) -> Outcome:
        """How the command ended: `ended` is what `wait` has returned, after so many seconds."""
        output = self.output
        return Outcome(ended, self.process.returncode, output.text(), output.total, seconds, self.memory_peak)


@dataclass(frozen=True)
class Outcome:
    """How a command ended: `ended` is "exit" or one of `ENDS`."""

    ended: str
    code: int | None
    output: str
    output_bytes: int
    seconds: float
    memory_peak: int

    @property
    def reason(self) -> str:
        """Why there may be no result, in words; empty after an ordinary exit with status 0."""
        if self.ended != "exit":
            return f"{ENDS[self.ended]} after {self.seconds:.0f} s"
        number = -self.code if self.code and self.code < 0 else (self.code or 0) - 128  # 128 + n: the wrappers' way
        if number in set(signal.Signals):
            return f"ended by {signal.Signals(number).name}"
        return f"ended with exit status {self.code}" if self.code else ""
