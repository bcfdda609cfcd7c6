"""What a process in a mount namespace of its own sees of the files: read-only, with a `/dev` of its own, some hidden.

Standard library only: `launch.py` loads it from its file.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
from collections.abc import Iterator, Mapping, Sequence

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_NOATIME, MS_NODIRATIME = 1, 2, 4, 8, 32, 1024, 2048
MS_BIND, MS_REC, MS_PRIVATE, MS_RELATIME = 4096, 16384, 1 << 18, 1 << 21
KEPT = {
    "nosuid": MS_NOSUID,
    "nodev": MS_NODEV,
    "noexec": MS_NOEXEC,
    "noatime": MS_NOATIME,
    "nodiratime": MS_NODIRATIME,
    "relatime": MS_RELATIME,
}
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
SHARED = "/dev/shm"
SMALL = "size=1m"
PROCESSES = "/proc"
KERNEL = tuple(f"{PROCESSES}/{name}" for name in ("acpi", "asound", "bus", "fs", "irq", "scsi", "sys", "sysrq-trigger"))


def mount(source: str, target: str, flags: int, kind: str | None = None, options: str | None = None) -> None:
    """mount(2); raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    texts = [None if text is None else text.encode() for text in (source, target, kind, options)]
    if libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


@contextlib.contextmanager
def _replaced(folder: str, kept: Sequence[str]) -> Iterator[None]:
    """An empty file system in memory at `folder`, with what was at the paths `kept` below it."""
    handles = {}
    for path in kept:
        with contextlib.suppress(FileNotFoundError):
            handles[path] = os.open(path, os.O_PATH)
    mount("tmpfs", folder, MS_NOSUID, "tmpfs", f"{SMALL},mode=755")
    for path, handle in handles.items():
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            os.makedirs(path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT))
        mount(f"/proc/self/fd/{handle}", path, MS_BIND | MS_REC)
        os.close(handle)
    yield


def make_devices(devices: Sequence[str], shared: int) -> None:
    """A `/dev` that holds nothing but these, and `/dev/shm` for at most `shared` bytes. Raises OSError."""
    with _replaced("/dev", devices):
        for name, target in LINKS.items():
            os.symlink(target, f"/dev/{name}")
        os.mkdir(SHARED)
        mount("tmpfs", SHARED, MS_NOSUID | MS_NODEV, "tmpfs", f"size={shared},mode=1777")


def hide(folders: Mapping[str, Sequence[str]]) -> None:
    """Empty each of the folders but for the given paths below it. Raises OSError."""
    for folder, kept in folders.items():
        with _replaced(folder, kept):
            pass


def make_read_only(writable: Sequence[str]) -> None:
    """Remount every mount of this namespace read-only, but for those at the given folders. Raises OSError."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    for _, target, _, options, *_ in mounts:
        target = target.encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "surrogateescape")
        if target in writable:
            continue
        flags = sum(KEPT.get(option, 0) for option in options.split(","))
        with contextlib.suppress(FileNotFoundError):
            mount("none", target, MS_REMOUNT | MS_BIND | MS_RDONLY | flags)


def keep_kernel_read_only() -> None:
    """Make the entries of `/proc` read-only by which a privileged process changes the system, as containers do. The
    rest can be written where this is called: without that CUDA does not start. Raises OSError."""
    for path in KERNEL:
        with contextlib.suppress(FileNotFoundError):
            mount(path, path, MS_BIND | MS_REC)


def make(writable: str, devices: Sequence[str], shared: int, hidden: Mapping[str, Sequence[str]], gpu: bool) -> None:
    """The whole view: one folder that can be written, the devices, shared memory, hidden folders. `gpu` says that a
    graphics card is used. Raises OSError."""
    mount("none", "/", MS_REC | MS_PRIVATE)
    handle = os.open(writable, os.O_PATH)
    hide(hidden)
    make_devices(devices, shared)
    os.makedirs(writable, exist_ok=True)  # temporary folders may lie in what was replaced
    mount(f"/proc/self/fd/{handle}", writable, MS_BIND)
    os.close(handle)
    if gpu:
        keep_kernel_read_only()
    make_read_only((writable, SHARED, *([PROCESSES] if gpu else ())))
