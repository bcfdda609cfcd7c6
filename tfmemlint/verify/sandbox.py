"""Runs a command that nobody vouches for: with limits, without network, with read-only files, and ends all of it.

The strongest of three levels that the system offers is used:

- `BUBBLEWRAP`, `UNSHARE`: own network without any device, all files read-only but for one temporary folder, own process
  numbers, so that nothing that the command starts outlives it
- `SESSION`: own session, process group and limits only; the caller should warn, since files and network are open
"""

from __future__ import annotations

import enum
import functools
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tfmemlint.verify import processes

GIB = 1024**3
PASSED_ON = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"),
)
DEVICES = ("nvidia*", "dri", "kfd", "dxg")
LAUNCH = Path(__file__).with_name("launch.py")
POLL = 0.05
RESCAN = 0.25


class Level(enum.Enum):
    """How much is kept from the command; the value is what reports say."""

    BUBBLEWRAP = "bubblewrap: no network, files read-only"
    UNSHARE = "unshare: no network, files read-only"
    SESSION = "process group and limits only: network and files are open to the program"

    @property
    def isolated(self) -> bool:
        """Whether files and network are out of the command's reach."""
        return self is not Level.SESSION


@dataclass(frozen=True)
class Limits:
    """Seconds and bytes after which the command is killed; `output` bytes of what it prints are kept."""

    wall: float = 180.0
    cpu: float = 600.0
    memory: int = 8 * GIB
    disk: int = 2 * GIB
    processes: int = 256
    output: int = 64 * 1024


@dataclass(frozen=True)
class Outcome:
    """How a command ended: `ended` is "exit" or the limit that it met ("time", "memory", "disk", "processes")."""

    ended: str
    code: int | None
    output: str
    output_bytes: int
    seconds: float
    memory_peak: int
    level: Level

    @property
    def reason(self) -> str:
        """Why there may be no result, in words; empty after an ordinary exit with status 0."""
        if self.ended != "exit":
            return f"killed at the {self.ended} limit after {self.seconds:.0f} s"
        number = -self.code if self.code and self.code < 0 else (self.code or 0) - 128  # 128 + n: the wrappers' way
        if number in set(signal.Signals):
            return f"ended by {signal.Signals(number).name}"
        return f"ended with exit status {self.code}" if self.code else ""


@dataclass
class _Output:
    """Keeps the beginning and the end of what a command prints and throws the middle away."""

    keep: int
    total: int = 0
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)

    def read(self, stream: IO[bytes]) -> None:
        while chunk := stream.read1(65536):  # type: ignore[attr-defined]
            self.total += len(chunk)
            room = max(0, self.keep // 2 - len(self.head))
            self.head += chunk[:room]
            self.tail += chunk[room:]
            del self.tail[: max(0, len(self.tail) - self.keep // 2)]

    def text(self) -> str:
        dropped = self.total - len(self.head) - len(self.tail)
        gap = f"\n... {dropped} bytes left out ...\n".encode() if dropped else b""
        return (bytes(self.head) + gap + bytes(self.tail)).decode("utf-8", "replace")


def workspace() -> tempfile.TemporaryDirectory[str]:
    """A new temporary folder for one run, removed with its content on leaving the `with`."""
    folder = tempfile.TemporaryDirectory(prefix="tfmemlint-", ignore_cleanup_errors=True)
    os.mkdir(os.path.join(folder.name, "shm"), 0o1777)
    return folder


def environment(work: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The few variables a program needs; home, caches and temporary files point into the folder of the run."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    homes = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "KERAS_HOME", "MPLCONFIGDIR"), work)
    return {**kept, **homes, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", **(extra or {})}


def _launch(settings: Mapping[str, object], command: Sequence[str]) -> list[str]:
    return [sys.executable, "-I", "-S", str(LAUNCH), json.dumps(settings), *command]


def _bubblewrap(work: str, gpu: bool, command: Sequence[str]) -> list[str]:
    wrapped = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", work, work]
    wrapped += ["--bind", os.path.join(work, "shm"), "/dev/shm", "--unshare-all", "--die-with-parent", "--new-session"]
    for pattern in DEVICES if gpu else ():
        for device in sorted(Path("/dev").glob(pattern)):
            wrapped += ["--dev-bind", str(device), str(device)]
    wrapped += ["--remount-ro", "/dev", "--cap-drop", "ALL", "--chdir", work, "--"]
    return [*wrapped, *command]


def _unshare(work: str, command: Sequence[str]) -> list[str]:
    wrapped = ["unshare", "--user", "--map-root-user", "--net", "--ipc", "--mount", "--pid", "--fork", "--kill-child"]
    settings = {"read_only": True, "writable": work, "shm": os.path.join(work, "shm")}
    return [*wrapped, "--mount-proc", "--", *_launch(settings, command)]


def _wrap(level: Level, work: str, gpu: bool, command: Sequence[str]) -> list[str]:
    if level is Level.BUBBLEWRAP:
        return _bubblewrap(work, gpu, command)
    if level is Level.UNSHARE:
        return _unshare(work, command)
    return list(command)


def _works(level: Level) -> bool:
    """Whether the level's tool is there and keeps its promise: a write outside fails, one inside succeeds."""
    tool = "bwrap" if level is Level.BUBBLEWRAP else "unshare"
    if sys.platform != "linux" or shutil.which(tool) is None:
        return False
    with tempfile.TemporaryDirectory(prefix="tfmemlint-") as outside, workspace() as work:
        script = f'touch "{work}/in" && ! touch "{outside}/out" 2>/dev/null'
        try:
            done = subprocess.run(
                _wrap(level, work, False, ["sh", "-c", script]),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=20,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0 and os.path.exists(f"{work}/in") and not os.path.exists(f"{outside}/out")


@functools.cache
def strongest_level() -> Level:
    """The strongest level that works here, found by trying."""
    return next((level for level in (Level.BUBBLEWRAP, Level.UNSHARE) if _works(level)), Level.SESSION)


def _disk_use(folder: str) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
            except OSError:
                continue
    return total


class _Watch:
    """One running command: looks at it until it ends or meets a limit, then ends everything it started."""

    def __init__(self, process: subprocess.Popen[bytes], limits: Limits, work: str, marker: str) -> None:
        self.process, self.limits, self.work, self.marker = process, limits, work, marker
        self.memory_peak = 0
        self._known = {process.pid}
        self._start = self._scanned = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def over_limit(self) -> str | None:
        """The limit that is exceeded now, if any."""
        if self.seconds > self.limits.wall:
            return "time"
        if time.monotonic() - self._scanned > RESCAN:
            self._scanned = time.monotonic()
            self._known = processes.descendants(self.process.pid)
            if len(self._known) > self.limits.processes:
                return "processes"
            if _disk_use(self.work) > self.limits.disk:
                return "disk"
        used = processes.memory(self._known, self.limits.memory)
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

    def end(self) -> None:
        """Kill whatever is left of the command."""
        for _ in range(100):
            if self.process.poll() is None:
                try:
                    os.killpg(self.process.pid, signal.SIGKILL)
                except OSError:
                    self.process.kill()
            left = processes.descendants(self.process.pid, self.marker) if processes.LINUX else set()
            left.discard(self.process.pid)
            processes.kill(left)
            if not left and self.process.poll() is not None:
                break
            time.sleep(0.02)
        self.process.wait()


def run(
    command: Sequence[str],
    *,
    work: str,
    limits: Limits = Limits(),
    extra: Mapping[str, str] | None = None,
    level: Level | None = None,
    gpu: bool = False,
    repeatable: bool = False,
    tick: Callable[[], None] | None = None,
) -> Outcome:
    """Run `command` in the folder `work` (see `workspace`) and wait for its end; nothing of it is left behind.

    `extra` adds variables to the minimal environment, `repeatable` gives all threads one processor and fixed addresses,
    `tick` is called a few times a second. Raises OSError where the command cannot be started; every other exception
    (Ctrl-C) passes through after all processes are killed.
    """
    level = level or strongest_level()
    marker = secrets.token_hex(8)
    settings = {
        "die_with_parent": True,
        "parent": os.getpid(),
        "repeatable": repeatable,
        "limits": {"CORE": 0, "CPU": int(limits.cpu), "FSIZE": limits.disk, "DATA": 3 * limits.memory + 4 * GIB},
    }
    process = subprocess.Popen(
        _launch(settings, _wrap(level, work, gpu, command)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=work,
        env=environment(work, {**(extra or {}), "TFMEMLINT_RUN": marker}),
        start_new_session=True,
    )
    output = _Output(limits.output)
    reader = threading.Thread(target=output.read, args=(process.stdout,), daemon=True)
    reader.start()
    watch = _Watch(process, limits, work, f"TFMEMLINT_RUN={marker}")
    ended = "exit"
    try:
        ended = watch.wait(tick)
    finally:
        seconds = watch.seconds
        watch.end()
        reader.join(timeout=5)
    return Outcome(ended, process.returncode, output.text(), output.total, seconds, watch.memory_peak, level)
