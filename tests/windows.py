"""The command line as if on Windows, on any system: without what Windows' Python lacks, and with backslashes in paths.

    python windows.py ROOT WORD...        like `tfmemlint WORD...`; ROOT is the drive C:, its folder `work` is here

What this can show is that nothing that is missing there is asked for, and that paths are taken apart and put together
by `os.path` and not by hand. Windows itself it is not: names keep their case, and open files can be replaced.
"""

from __future__ import annotations

import builtins
import importlib.metadata
import importlib.resources
import io
import json  # noqa: F401
import multiprocessing.connection  # noqa: F401
import ntpath
import os
import pathlib
import posixpath
import shutil  # noqa: F401
import signal
import subprocess  # noqa: F401
import sys
import tempfile
import threading  # noqa: F401
from collections.abc import Callable, Iterator
from typing import Any

ABSENT = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix", "readline")
"""Modules of the standard library that Windows does not have."""
OF_OS = (
    "fork", "forkpty", "register_at_fork", "getuid", "geteuid", "getgid", "getegid", "getpgid", "setsid", "killpg",
    "chown", "fchown", "lchown", "fchmod", "mkfifo", "mknod", "listxattr", "getxattr", "setxattr", "removexattr",
    "sched_getaffinity", "pread", "pwrite", "statvfs", "sysconf", "uname", "WIFEXITED", "O_NOFOLLOW", "O_DIRECTORY",
    "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "getloadavg", "ctermid", "openpty", "posix_spawn", "wait4", "nice",
)  # fmt: skip
OF_SIGNAL = ("setitimer", "getitimer", "alarm", "pause", "SIGPROF", "SIGALRM", "SIGVTALRM", "SIGKILL", "SIGHUP")
BY_PATH = (
    "stat", "lstat", "open", "listdir", "mkdir", "rmdir", "unlink", "remove", "access", "chmod", "readlink", "utime",
    "rename", "replace", "link", "symlink", "truncate",
)  # fmt: skip
"""The functions of `os` whose first argument, or first two, are paths."""
HERE = "C:\\work"


class _Entry:
    """What `os.scandir` gives there: paths with backslashes."""

    def __init__(self, entry: os.DirEntry[str], folder: str) -> None:
        self._entry, self.name, self.path = entry, entry.name, ntpath.join(folder, entry.name)
        for name in ("is_dir", "is_file", "is_symlink", "stat", "inode"):
            setattr(self, name, getattr(entry, name))

    def __fspath__(self) -> str:
        return self.path


class _Scanned:
    def __init__(self, found: Iterator[os.DirEntry[str]], folder: str) -> None:
        self._found, self._folder = found, folder

    def __enter__(self) -> _Scanned:
        return self

    def __exit__(self, *_: object) -> None:
        self._found.close()  # type: ignore[attr-defined]

    def __iter__(self) -> _Scanned:
        return self

    def __next__(self) -> _Entry:
        return _Entry(next(self._found), self._folder)


def move_in(root: str) -> None:
    """Make this process one that believes to run on Windows, its drive C: being the folder `root`."""

    def real(path: Any) -> Any:
        text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
        if not isinstance(text, str):
            return path
        if text.startswith("/"):  # where Python and tfmemlint are installed
            return text.replace("\\", "/")
        whole = ntpath.normpath(ntpath.join(HERE, text))
        assert whole.startswith("C:"), whole
        assert "/" not in whole
        return posixpath.join(root, whole[2:].replace("\\", "/").lstrip("/"))

    def on_paths(function: Callable[..., Any], two: bool = False) -> Callable[..., Any]:
        def changed(path: Any, *more: Any, **named: Any) -> Any:
            assert not any(name.endswith("dir_fd") and value is not None for name, value in named.items())
            if two:
                return function(real(path), real(more[0]), *more[1:])
            named = {name: value for name, value in named.items() if not name.endswith("dir_fd")}
            return function(real(path), *more, **named)

        return changed

    scandir = os.scandir
    for name in BY_PATH:
        setattr(os, name, on_paths(getattr(os, name), name in ("rename", "replace", "link", "symlink")))
    os.scandir = lambda path=".": (  # type: ignore[assignment, misc]
        scandir(path) if isinstance(path, int) else _Scanned(scandir(real(path)), os.fspath(path))
    )
    os.getcwd = lambda: HERE  # type: ignore[assignment]
    builtins.open = io.open = on_paths(io.open)
    os.path = sys.modules["os.path"] = ntpath  # type: ignore[assignment]
    os.sep, os.altsep, os.pathsep, os.curdir = "\\", "/", ";", "."
    os.supports_dir_fd.clear()
    os.supports_follow_symlinks.clear()
    for owner, names in ((os, OF_OS), (signal, OF_SIGNAL)):
        for name in names:
            if hasattr(owner, name):
                delattr(owner, name)
    for name in ABSENT:
        sys.modules[name] = None  # type: ignore[assignment]
    tempfile.tempdir = "C:\\temp"
    sys.platform = "win32"


def main() -> int:
    """Run the words after the root."""
    root, *words = sys.argv[1:]
    for name in ("work", "temp"):
        os.makedirs(posixpath.join(root, name), exist_ok=True)
    assert importlib.metadata.entry_points(group="tfmemlint.rules") and importlib.resources.files("json")
    move_in(posixpath.abspath(root))
    from tfmemlint.cli.commands import main as command_line
    from tfmemlint.report import base

    base.PurePath = base.Path = pathlib.PureWindowsPath  # type: ignore[attr-defined, misc, assignment]
    sys.argv = ["tfmemlint", *words]
    return command_line(words)


if __name__ == "__main__":
    del sys.path[0]  # the folder of the tests, which no run of the tool would see
    sys.exit(main())
