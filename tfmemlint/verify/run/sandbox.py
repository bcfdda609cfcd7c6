"""Runs a command that nobody vouches for: with limits, without network, with read-only files, and ends all of it.

The strongest of three levels that the system offers is used:

- `BUBBLEWRAP`, `UNSHARE`: own network without any device, all files read-only but for one temporary folder, own
  `/dev`, own process numbers, so that nothing that the command starts outlives it
- `SESSION`: own session, process group and limits only; the caller should warn, since files and network are open

At each level filters of the kernel come on top (see `launch_filter`); `gaps` says what stays open without them.
"""

from __future__ import annotations

import enum
import functools
import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tfmemlint.verify.run import launch_filter, process_tree
from tfmemlint.verify.run.watch import TASKS, Limits, Outcome, Watch
from tfmemlint.verify.run.workspaces import workspace

PASSED_ON = (
    *("LANG", "LC_ALL", "LC_CTYPE", "TZ"),
    *("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"),
)
SEARCHED = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Lists of folders. An entry that is not absolute would be looked for in the folder of the run, among the project's."""
DEVICES = ("null", "zero", "full", "random", "urandom")
CARDS = ("nvidia*", "dri", "kfd", "dxg")
SHARED = "/dev/shm"
HIDDEN = ("/run", "/var/run")
"""Where the services of a machine have their sockets, pipes and passwords."""
DEFAULT = Limits()
LAUNCH = Path(__file__).with_name("launch.py")


class Level(enum.Enum):
    """How much is kept from the command; the value is what reports say."""

    BUBBLEWRAP = "bubblewrap: no network, files read-only"
    UNSHARE = "unshare: no network, files read-only"
    SESSION = "process group and limits only: network and files are open to the program"

    @property
    def isolated(self) -> bool:
        """Whether files and network are out of the command's reach."""
        return self is not Level.SESSION


def gaps(level: Level) -> tuple[str, ...]:
    """What is open at this level on this system, one clause each; empty where it keeps all that it can."""
    seccomp, landlock = launch_filter.has_seccomp(), launch_filter.landlock_version() > 0
    found = []
    if not seccomp:
        what = "sockets of this machine's services" if level.isolated else "the network"
        found.append(f"the programs can use {what}: there is no seccomp filter for this system")
    if not landlock:
        what = "named pipes" if level.isolated else "your files"
        found.append(f"the programs can write to {what}: this kernel has no Landlock (Linux 5.19)")
    return tuple(found)


def folders(name: str) -> list[str]:
    """The absolute entries of a variable that lists folders."""
    return [entry for entry in os.environ.get(name, "").split(os.pathsep) if os.path.isabs(entry)]


def find_tool(name: str) -> str | None:
    """The absolute path of an executable by `PATH`, never one in the working directory or below it."""
    here = os.path.join(os.path.realpath(os.curdir), "")
    outside = [folder for folder in folders("PATH") if not os.path.join(os.path.realpath(folder), "").startswith(here)]
    return shutil.which(name, path=os.pathsep.join(outside) or os.devnull)


def environment(work: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The few variables a program needs; home, caches and temporary files point into the folder of the run."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    kept |= {name: os.pathsep.join(folders(name)) for name in SEARCHED if folders(name)}
    return {**kept, **homes(work), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", **(extra or {})}


def homes(folder: str) -> dict[str, str]:
    """The variables that name a home, a cache or a folder for temporary files."""
    return dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "KERAS_HOME", "MPLCONFIGDIR"), folder)


def _launch(settings: Mapping[str, object], command: Sequence[str]) -> list[str]:
    return [sys.executable, "-I", "-S", str(LAUNCH), json.dumps(settings), *command]


def _cards() -> list[str]:
    return [str(path) for pattern in CARDS for path in sorted(Path("/dev").glob(pattern))]


def has_cards() -> bool:
    """Whether this system has graphics cards to compute on."""
    return bool(_cards())


def devices(gpu: bool) -> list[str]:
    """The devices that a command can write to."""
    found = [*(f"/dev/{name}" for name in DEVICES), *(_cards() if gpu else ())]
    return [path for path in found if os.path.exists(path)]


def is_hidden(path: str) -> bool:
    """Whether a command sees the path only where it is among what it needs."""
    places = (os.path.abspath(path), os.path.realpath(path))
    return any(os.path.join(place, "").startswith(folder + os.sep) for place in places for folder in HIDDEN)


def _hidden(needed: Sequence[str]) -> dict[str, list[str]]:
    """The folders to empty -> the entries in them that lead to a path that the command needs."""
    paths = [*needed, *(os.path.realpath(path) for path in needed)]
    found: dict[str, list[str]] = {}
    for folder in HIDDEN:
        if os.path.isdir(folder) and not os.path.islink(folder):
            below = (os.path.relpath(path, folder).split(os.sep)[0] for path in paths)
            found[folder] = sorted({os.path.join(folder, name) for name in below if name not in (os.pardir, os.curdir)})
    return found


def _bubblewrap(view: Mapping[str, Any], settings: Mapping[str, object], command: Sequence[str]) -> list[str]:
    wrapped = [find_tool("bwrap") or "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for device in view["devices"]:
        wrapped += ["--dev-bind", device, device]
    for folder, kept in view["hidden"].items():
        wrapped += ["--tmpfs", folder, *(word for path in kept for word in ("--ro-bind-try", path, path))]
    wrapped += ["--size", str(view["shared"]), "--perms", "1777", "--tmpfs", "/dev/shm"]
    wrapped += ["--bind", view["writable"], view["writable"]]
    for folder in ("/dev", *view["hidden"]):
        wrapped += ["--remount-ro", folder]
    wrapped += ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    return [*wrapped, "--", *_launch(settings, command)]


def _unshare(view: Mapping[str, Any], settings: Mapping[str, object], command: Sequence[str]) -> list[str]:
    wrapped = [find_tool("unshare") or "unshare", "--user", "--map-root-user", "--net", "--ipc", "--mount", "--pid"]
    inner = {"view": view, "unprivileged": True, "supervise": True, **settings}
    return [*wrapped, "--fork", "--kill-child", "--mount-proc", "--", *_launch(inner, command)]


def _wrap(
    level: Level,
    command: Sequence[str],
    outer: dict[str, Any],
    work: str,
    shared: int,
    gpu: bool,
    needed: Sequence[str],
    writable: Sequence[str],
) -> list[str]:
    """The whole command line; `outer` are the settings of the first launcher, `shared` the bytes of `/dev/shm`."""
    granted = devices(gpu)
    confine = {"folders": [work, SHARED], "files": [*granted, *writable], "network": level.isolated, "gpu": gpu}
    settings = {"folder": work, "confine": confine}
    if level is Level.SESSION:
        return _launch({**outer, "unprivileged": os.geteuid() == 0, **settings}, command)
    known = [sys.executable, sys.prefix, sys.base_prefix, *command[:1], *folders("PATH"), *folders("LD_LIBRARY_PATH")]
    view = {"writable": work, "devices": granted, "shared": shared, "hidden": _hidden([*known, *needed]), "gpu": gpu}
    wrapper = _bubblewrap if level is Level.BUBBLEWRAP else _unshare
    return _launch(outer, wrapper(view, settings, command))


def _works(level: Level) -> bool:
    """Whether the level's tool is there and keeps its promise: a write outside fails, one inside succeeds."""
    tool = "bwrap" if level is Level.BUBBLEWRAP else "unshare"
    if sys.platform != "linux" or find_tool(tool) is None:
        return False
    with workspace() as outside, workspace() as work:
        script = f'touch "{work}/in" && ! touch "{outside}/out" 2>/dev/null'
        try:
            done = run(["sh", "-c", script], work=work, limits=Limits(wall=20), level=level)
        except OSError:
            return False
        return done.reason == "" and os.path.exists(f"{work}/in") and not os.path.exists(f"{outside}/out")


@functools.cache
def strongest_level() -> Level:
    """The strongest level that works here, found by trying."""
    return next((level for level in (Level.BUBBLEWRAP, Level.UNSHARE) if _works(level)), Level.SESSION)


def start(
    command: Sequence[str],
    *,
    work: str,
    limits: Limits = DEFAULT,
    extra: Mapping[str, str] | None = None,
    level: Level | None = None,
    gpu: bool = False,
    repeatable: bool = False,
    lane: int = 0,
    needed: Sequence[str] = (),
    keep_open: Sequence[int] = (),
    writable: Sequence[str] = (),
) -> Watch:
    """Start `command` in the folder `work` (see `workspace`). Whoever calls must see to it that the watch ends it.

    `extra` adds variables to the minimal environment, `repeatable` gives all threads one processor and fixed addresses,
    `lane` tells apart those that have different processors where there are several, `needed` are paths that must not be
    hidden, `keep_open` are file descriptors that the command gets, `writable` more files, or folders of files, that the
    filters let it write. Raises OSError where the command cannot be started.
    """
    level = level or strongest_level()
    marker = secrets.token_hex(8)
    outer: dict[str, Any] = {
        "parent": os.getpid(),
        "supervise": True,
        "limits": {
            "CORE": 0,
            "CPU": int(limits.cpu),
            "FSIZE": limits.disk,
            "DATA": limits.addresses,
            "NPROC": process_tree.tasks() + TASKS,
        },
    }
    if repeatable:
        outer["processor"] = os.getpid() + lane
    process = subprocess.Popen(
        _wrap(level, command, outer, work, limits.memory, gpu, needed, writable),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd="/",
        env=environment(work, {**(extra or {}), "TFMEMLINT_RUN": marker}),
        start_new_session=True,
        pass_fds=keep_open,
    )
    try:
        return Watch(process, limits, work, f"TFMEMLINT_RUN={marker}", level.isolated)
    except BaseException:
        process.kill()
        process.wait()
        raise


def run(
    command: Sequence[str],
    *,
    work: str,
    limits: Limits = DEFAULT,
    extra: Mapping[str, str] | None = None,
    level: Level | None = None,
    gpu: bool = False,
    repeatable: bool = False,
    lane: int = 0,
    needed: Sequence[str] = (),
    keep_open: Sequence[int] = (),
    tick: Callable[[], None] | None = None,
) -> Outcome:
    """Run `command` as `start` does and wait for its end; nothing of it is left behind.

    `tick` is called a few times a second. Raises OSError where the command cannot be started; every other exception
    (Ctrl-C) passes through after all processes are killed.
    """
    watch = start(
        command,
        work=work,
        limits=limits,
        extra=extra,
        level=level,
        gpu=gpu,
        repeatable=repeatable,
        lane=lane,
        needed=needed,
        keep_open=keep_open,
    )
    ended = "exit"
    try:
        ended = watch.wait(tick)
    finally:
        seconds = watch.seconds
        watch.end()
    return watch.outcome(ended, seconds)
