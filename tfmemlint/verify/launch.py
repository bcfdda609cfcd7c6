"""Sets limits on the own process, then becomes the given command: `python -I -S launch.py '{"limits": ...}' COMMAND...`

A program of its own because code between fork and exec is not safe in a process with threads. Keys of the JSON object:

- `limits`: name of a resource limit without `RLIMIT_` -> number
- `repeatable`: take away what differs between two runs of one program, as far as the system lets (Linux)
- `die_with_parent`: end as soon as the process with the number `parent`, which started this one, ends (Linux)
- `read_only`: in an own mount namespace, make every file system read-only but for `writable`; `shm` is a folder that
  takes the place of `/dev/shm`
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys

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
PR_SET_PDEATHSIG, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS = 1, 28, 38
NO_ROOT_LOCKED = 0b1111
ADDR_NO_RANDOMIZE, QUERY = 0x0040000, 0xFFFFFFFF


def mount(source: str, target: str, flags: int) -> None:
    """mount(2) without a file system type; raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), None, ctypes.c_ulong(flags), None):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def make_read_only(writable: str, shm: str | None) -> None:
    """Remount every mount of this namespace read-only, but for the folders that stay writable."""
    mount("none", "/", MS_REC | MS_PRIVATE)
    mount(writable, writable, MS_BIND)
    kept = {writable}
    if shm and os.path.isdir("/dev/shm"):
        mount(shm, "/dev/shm", MS_BIND)
        kept.add("/dev/shm")
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    for _, target, _, options, *_ in mounts:
        target = target.encode().decode("unicode_escape")
        if target in kept:
            continue
        flags = sum(KEPT.get(option, 0) for option in options.split(","))
        with contextlib.suppress(FileNotFoundError):
            mount("none", target, MS_REMOUNT | MS_BIND | MS_RDONLY | flags)


def drop_privileges() -> None:
    """Give up the powers inside the user namespace, so that the command cannot undo the mounts."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECUREBITS, NO_ROOT_LOCKED, 0, 0, 0):
        raise OSError("cannot give up the powers of the user namespace")


def stay_as_init() -> None:
    """Go on in a new process; this one, number 1 of its namespace, reaps until that one ends and passes its end on.

    The kernel ignores most signals to number 1, so the command itself must not be it.
    """
    command = os.fork()
    if command == 0:
        return
    while True:
        process, status = os.wait()
        if process == command:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def set_limits(limits: dict[str, int]) -> None:
    """Lower the named resource limits; one that is lower already stays."""
    for name, value in limits.items():
        which = getattr(resource, f"RLIMIT_{name}", None)
        if which is None:
            continue
        hard = resource.getrlimit(which)[1]
        wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (wanted, wanted))


def make_repeatable() -> None:
    """Have the threads of one program take turns, and its memory lie, the same way in each run.

    On one processor, under batch scheduling, a thread that wakes another one goes on until it waits itself; elsewhere
    both run at once, and which of them allocates or frees first is chance. Addresses decide the order of hash tables.
    """
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError):
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[os.getpid() % len(processors)]})
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    libc = ctypes.CDLL(None)
    libc.personality(ctypes.c_ulong(libc.personality(ctypes.c_ulong(QUERY)) | ADDR_NO_RANDOMIZE))


def main(arguments: list[str]) -> None:
    """Apply the settings, then replace this process by the command."""
    settings = json.loads(arguments[0])
    if settings.get("die_with_parent") and sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != settings["parent"]:  # it ended before the line above
            sys.exit(1)
    set_limits(settings.get("limits", {}))
    if settings.get("repeatable"):
        make_repeatable()
    if settings.get("read_only"):
        make_read_only(settings["writable"], settings.get("shm"))
        os.chdir(settings["writable"])
        drop_privileges()
        stay_as_init()
    os.execvp(arguments[1], arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
