"""Confines the own process, then becomes the given command: `python -I -S launch.py '{"limits": ...}' COMMAND...`

A program of its own because code between fork and exec is not safe in a process with threads. Keys of the JSON object,
each for one thing that is left out where the key is missing:

- `parent`: end as soon as the process with this number, which started this one, ends (Linux)
- `limits`: name of a resource limit without `RLIMIT_` -> number
- `processor`: counting on from the last one to the first, the only one to run on, and take away what else differs
  between two runs of one program, as far as the system lets (Linux)
- `view`: in an own mount namespace, the arguments of `launch_view.make`
- `unprivileged`: give up the privileges of root
- `supervise`: run the command as a process below this one, which ends all that the command leaves behind (Linux)
- `folder`: the working folder
- `confine`: `folders` and `files` that alone can be written, whether there is a `network`, and whether a graphics card
  is used, `gpu` (Linux; `launch_filter`)
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS = 1, 36, 28, 38
NO_ROOT_LOCKED = 0b1111
ADDR_NO_RANDOMIZE, QUERY = 0x0040000, 0xFFFFFFFF
SIGNALED = 128
NICE, OUT_OF_MEMORY_FIRST = 5, b"500"


def _load(name: str) -> Any:
    """A module beside this one, from its file: no other folder is searched."""
    spec = importlib.util.spec_from_file_location(f"tfmemlint_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drop_privileges() -> None:
    """Give up what root may do beyond its own files, in a user namespace too: the command cannot undo the mounts."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECUREBITS, NO_ROOT_LOCKED, 0, 0, 0):
        raise OSError("cannot give up the privileges of root")


def die_with_parent(parent: int, number: int) -> None:
    """Have the kernel send this process a signal as soon as its parent, the process `parent`, ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:  # it ended before the line above
        os._exit(1)


def supervise() -> None:
    """Go on in a new process; this one ends what that one leaves behind and passes its end on.

    It adopts all whose parents have gone, whatever they did to get lost. It may be number 1 of a namespace, to which
    the kernel does not send most signals, so the command itself must not be it.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def stop(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # each thread of the parent sends one as it ends
        sys.exit()

    signal.signal(signal.SIGTERM, stop)
    supervisor, code = os.getpid(), SIGNALED + signal.SIGTERM
    with contextlib.suppress(SystemExit):  # from before the fork on: the signal may come at once
        command = os.fork()
        if command == 0:
            if supervisor != 1:
                die_with_parent(supervisor, signal.SIGKILL)
            os.setsid()  # a signal to the command's own group must not end the supervisor
            return
        process = 0
        while process != command:
            process, status = os.wait()
        code = os.waitstatus_to_exitcode(status)
    if supervisor != 1:
        _end_the_rest(supervisor)
    os._exit(code if code >= 0 else SIGNALED - code)


def _end_the_rest(supervisor: int) -> None:
    processes = _load("process_tree")

    def left() -> dict[int, int]:
        with contextlib.suppress(OSError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        found: dict[int, int] = processes.family(supervisor)
        return found

    processes.end(left)


def set_limits(limits: dict[str, int]) -> None:
    """Lower the named resource limits; one that is lower already stays."""
    for name, value in limits.items():
        which = getattr(resource, f"RLIMIT_{name}", None)
        if which is None:
            continue
        hard = resource.getrlimit(which)[1]
        wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (wanted, wanted))


def yield_to_others() -> None:
    """Let the process that watches over the limits come first, and the kernel kill it last when memory runs out."""
    os.nice(NICE)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "wb") as file:
        file.write(OUT_OF_MEMORY_FIRST)


def make_repeatable(processor: int) -> None:
    """Have the threads of one program take turns, and its memory lie, the same way in each run.

    On one processor, under batch scheduling, a thread that wakes another one goes on until it waits itself; elsewhere
    both run at once, and which of them allocates or frees first is chance. Addresses decide the order of hash tables.
    """
    with contextlib.suppress(OSError):
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[processor % len(processors)]})
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    libc = ctypes.CDLL(None)
    libc.personality(ctypes.c_ulong(libc.personality(ctypes.c_ulong(QUERY)) | ADDR_NO_RANDOMIZE))


def confine(folders: list[str], files: list[str], network: bool, gpu: bool) -> None:
    """Put the kernel's filters on this process; the one of system calls last, it refuses to be looked at."""
    filters = _load("launch_filter")
    filters.confine_writes(folders, [*files, f"/proc/{os.getpid()}"])
    filters.filter_calls(network, gpu)


def main(arguments: list[str]) -> None:
    """Apply the settings, then replace this process by the command."""
    settings = json.loads(arguments[0])
    linux = sys.platform == "linux"
    if "parent" in settings and linux:  # a supervisor has something to do before it ends
        die_with_parent(settings["parent"], signal.SIGTERM if settings.get("supervise") else signal.SIGKILL)
    if "limits" in settings:
        set_limits(settings["limits"])
        yield_to_others()
    if "processor" in settings and linux:
        make_repeatable(settings["processor"])
    if "view" in settings:
        _load("launch_view").make(**settings["view"])
    if settings.get("unprivileged") and linux:
        try:
            drop_privileges()
        except OSError:  # a container may have taken the right to do so, with the privileges
            if "view" in settings:
                raise
    if settings.get("supervise") and linux:
        supervise()
    if "folder" in settings:
        os.chdir(settings["folder"])
    if "confine" in settings and linux:
        confine(**settings["confine"])
    os.execvp(arguments[1], arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
