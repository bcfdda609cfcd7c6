"""The processes that a command has started, the memory they hold and how they are ended, from `/proc` (or with psutil).

Standard library only: `launch.py` loads it from its file.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

PROC = Path("/proc")
LINUX = sys.platform == "linux" and PROC.is_dir()
GONE = ("Z", "X")
PATIENCE = 5.0


class Process(NamedTuple):
    """What tells one process from a later one of the same number: when it was started, in ticks since boot."""

    parent: int
    started: int
    state: str


def _psutil() -> Any | None:
    try:
        return importlib.import_module("psutil")
    except ImportError:
        return None


def can_see() -> bool:
    """Whether descendants and their memory can be read on this system; without it a memory limit has no effect."""
    return LINUX or _psutil() is not None


def look_up(process: int) -> Process | None:
    """The process of that number, None where there is none (or no `/proc`)."""
    try:
        text = (PROC / str(process) / "stat").read_bytes()
        fields = text[text.rindex(b")") + 2 :].split()
        return Process(int(fields[1]), int(fields[19]), fields[0].decode("ascii"))
    except (OSError, ValueError, IndexError):
        return None


def _all() -> dict[int, Process]:
    found = {int(name): look_up(int(name)) for name in os.listdir(PROC) if name.isdigit()}
    return {number: process for number, process in found.items() if process is not None}


def tasks() -> int:
    """How many processes and threads there are on this machine; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int((PROC / "loadavg").read_text(encoding="ascii").split()[3].partition("/")[2])
    return 0


def _marked(marker: bytes) -> set[int]:
    found = set()
    for name in os.listdir(PROC):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if marker in (PROC / name / "environ").read_bytes():
                    found.add(int(name))
    return found


def family(root: int, marker: str | None = None, known: Mapping[int, int] | None = None) -> dict[int, int]:
    """`root` and all that descends from it, as far as alive, without this process: number -> when it was started.

    Where the system does not tell that, it is 0.
    `marker` is a `NAME=value` that the command was started with, `known` is what an earlier call returned: both find
    processes whose parents have gone.
    """
    if not LINUX:
        return dict.fromkeys(_family_by_psutil(root), 0)
    everyone = _all()
    children: dict[int, list[int]] = {}
    for number, process in everyone.items():
        children.setdefault(process.parent, []).append(number)
    pending = [root]
    pending += [number for number, started in (known or {}).items() if everyone.get(number, (0, -1))[1] == started]
    pending += _marked(marker.encode()) if marker else ()
    found: dict[int, int] = {}
    own = os.getpid()
    while pending:
        number = pending.pop()
        if number in everyone and number not in found and (number != own or number == root):
            found[number] = everyone[number].started
            pending.extend(children.get(number, ()))
    found.pop(own, None)
    return {number: started for number, started in found.items() if everyone[number].state not in GONE}


def children(parent: int) -> dict[int, int]:
    """The processes that a process has started or adopted, as `family` gives them; empty where there is no `/proc`."""
    return {number: found.started for number, found in _all().items() if found.parent == parent} if LINUX else {}


def _family_by_psutil(root: int) -> set[int]:
    psutil = _psutil()
    if psutil is None or not psutil.pid_exists(root):
        return {root}
    with contextlib.suppress(psutil.Error):
        return {root, *(child.pid for child in psutil.Process(root).children(recursive=True))}
    return {root}


def descendants(root: int, marker: str | None = None) -> set[int]:
    """The numbers of `family`."""
    return set(family(root, marker))


def send(processes: Mapping[int, int], number: int) -> None:
    """Send a signal to the processes that `family` found and to no later one that got the number of one of them."""
    for process, started in processes.items():
        handle = None
        with contextlib.suppress(OSError, AttributeError):
            handle = os.pidfd_open(process)
        try:  # while the handle is open, the number stays this process's
            if started and getattr(look_up(process), "started", None) != started:
                continue
            with contextlib.suppress(OSError):
                if handle is None:
                    os.kill(process, number)
                else:
                    signal.pidfd_send_signal(handle, number)
        finally:
            if handle is not None:
                os.close(handle)


def end(find: Callable[[], dict[int, int]], patience: float = PATIENCE) -> bool:
    """Kill all that `find` returns, until it returns nothing: True, or False where some are left after `patience`.

    They are stopped first, the ones that were started meanwhile too: what is stopped starts nothing new.
    """
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        left, stopped = find(), dict[int, int]()
        if not left:
            return True
        while (new := {one: left[one] for one in left if stopped.get(one) != left[one]}) and LINUX:
            send(new, signal.SIGSTOP)
            stopped.update(new)
            if time.monotonic() > deadline:
                break
            left = find()
        send({**stopped, **left}, signal.SIGKILL)
        time.sleep(0.002)
    return not find()


def _field(process: int, file: str, names: tuple[bytes, ...]) -> int:
    with contextlib.suppress(OSError, ValueError):
        total = 0
        for line in (PROC / str(process) / file).read_bytes().splitlines():
            if line.startswith(names):
                total += int(line.split()[1]) * 1024
        return total
    return 0


def memory(processes: Mapping[int, int] | set[int], limit: int | None = None, unnamed: int = 0) -> int:
    """Bytes of memory that the processes hold together, without mapped files.

    Memory that forked processes share is counted once where the plain sum would be over `limit`. `unnamed` are the
    bytes of files in memory, mapped or not (see `unnamed_files`).
    """
    if not LINUX:
        psutil, total = _psutil(), 0
        if psutil is None:
            return 0
        for process in processes:
            with contextlib.suppress(psutil.Error):
                total += int(psutil.Process(process).memory_info().rss)
        return total

    def held(file: str, own: bytes, shared: bytes) -> int:
        common = sum(_field(process, file, (shared,)) for process in processes)
        return sum(_field(process, file, (own,)) for process in processes) + max(common, unnamed)

    total = held("status", b"RssAnon:", b"RssShmem:")
    if limit is not None and total > limit and len(processes) > 1:
        total = held("smaps_rollup", b"Pss_Anon:", b"Pss_Shmem:")
    return total


def unnamed_files(processes: Mapping[int, int] | set[int], device: int) -> tuple[int, int]:
    """Bytes of files that the processes have open and that no folder names any more: on `device`, and elsewhere.

    Elsewhere is memory: `memfd_create`, `/dev/shm`.
    """
    found: dict[tuple[int, int], int] = {}
    for process in processes:
        with contextlib.suppress(OSError):
            for entry in os.scandir(PROC / str(process) / "fd"):
                with contextlib.suppress(OSError):
                    if os.readlink(entry.path).endswith(" (deleted)"):
                        file = os.stat(entry.path)
                        if stat.S_ISREG(file.st_mode) and not file.st_nlink:
                            found[file.st_dev, file.st_ino] = file.st_blocks * 512
    on_device = sum(size for (where, _), size in found.items() if where == device)
    return on_device, sum(found.values()) - on_device
