"""The processes that a command has started and the memory they hold, read from `/proc` (or with psutil elsewhere)."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

PROC = Path("/proc")
LINUX = sys.platform == "linux" and PROC.is_dir()


def _psutil() -> Any | None:
    try:
        return importlib.import_module("psutil")
    except ImportError:
        return None


def can_see() -> bool:
    """Whether descendants and their memory can be read on this system; without it a memory limit has no effect."""
    return LINUX or _psutil() is not None


def _parents() -> dict[int, int]:
    """Process id -> parent's id, of every process."""
    found: dict[int, int] = {}
    for name in os.listdir(PROC):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                text = (PROC / name / "stat").read_bytes()
                found[int(name)] = int(text[text.rindex(b")") + 2 :].split()[1])
    return found


def _marked(marker: bytes) -> set[int]:
    found = set()
    for name in os.listdir(PROC):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if marker in (PROC / name / "environ").read_bytes():
                    found.add(int(name))
    return found


def descendants(root: int, marker: str | None = None) -> set[int]:
    """`root` and all that descends from it, as far as alive.

    `marker` is a `NAME=value` that the command was started with: it also finds processes whose parents have gone.
    """
    if not LINUX:
        psutil = _psutil()
        if psutil is None or not psutil.pid_exists(root):
            return {root}
        with contextlib.suppress(psutil.Error):
            return {root, *(child.pid for child in psutil.Process(root).children(recursive=True))}
        return {root}
    parents = _parents()
    children: dict[int, list[int]] = {}
    for process, parent in parents.items():
        children.setdefault(parent, []).append(process)
    found: set[int] = set()
    pending = [root] if root in parents else []
    if marker:
        pending.extend(_marked(marker.encode()))
    while pending:
        process = pending.pop()
        if process not in found:
            found.add(process)
            pending.extend(children.get(process, ()))
    return found - {os.getpid()}


def _field(process: int, file: str, names: tuple[bytes, ...]) -> int:
    with contextlib.suppress(OSError, ValueError):
        total = 0
        for line in (PROC / str(process) / file).read_bytes().splitlines():
            if line.startswith(names):
                total += int(line.split()[1]) * 1024
        return total
    return 0


def memory(processes: set[int], limit: int | None = None) -> int:
    """Bytes of memory that the processes hold together, without mapped files.

    Memory that forked processes share is counted once where the plain sum would be over `limit`.
    """
    if not LINUX:
        psutil, total = _psutil(), 0
        if psutil is None:
            return 0
        for process in processes:
            with contextlib.suppress(psutil.Error):
                total += int(psutil.Process(process).memory_info().rss)
        return total
    total = sum(_field(process, "status", (b"RssAnon:", b"RssShmem:")) for process in processes)
    if limit is not None and total > limit and len(processes) > 1:
        total = sum(_field(process, "smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:")) for process in processes)
    return total


def kill(processes: set[int]) -> None:
    """SIGKILL to each process that is still there."""
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
