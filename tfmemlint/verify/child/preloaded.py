"""Imports TensorFlow once, then runs each program in a copy of this process, as `main.py` would in a fresh one.

    python preloaded.py NUMBER        (of a connected socket that keeps messages apart)

The first message tells what all programs share, as one JSON object: what `main.load` and `runtime.hook` read, the
folder `work` to run in, `filters` (the path of `launch_filter.py`), `folders` and `files` to which alone to write, and
`spared`, libraries that are not looked for while TensorFlow is imported.
The answer is `READY`. From then on each message brings three open files, the request for `main.answer`, the one for its
result and the one for what the program prints. It is answered, once the copy has ended, by a JSON object: its wait
`status`, and whether it has left this process `clean`: no process, nothing in shared memory. A message that comes
before that has the copy killed.

A copy of a process is as good as a fresh one as long as nothing has started TensorFlow's runtime: importing it starts
no thread of its own. What a message brings is read by the copy, so that all copies begin with the same memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib.util
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
READY = b"ready"
MOST = 1 << 16
SHARED = "/dev/shm"


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"tfmemlint_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class _Spared:
    """Finds modules of these libraries nowhere."""

    def __init__(self, names: list[str]) -> None:
        self._names = frozenset(names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in self._names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@contextlib.contextmanager
def _without(names: list[str]) -> Iterator[None]:
    """Let what is imported now go without these libraries, which are there for programs all the same."""
    finder: Any = _Spared(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class Ends:
    """Tells of copies that have ended while it waits for messages, too."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._woken, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)

    def leave(self) -> None:
        """Be a process that has nothing of this."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._link.close()
        for handle in (self._woken, self._wake):
            os.close(handle)

    def wait(self, copy: int) -> int:
        """The wait status of a copy, which is killed where a message comes, or the other side is gone."""
        while True:
            ready, _, _ = select.select([self._link.fileno(), self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, MOST)
            if self._link.fileno() in ready:
                self._link.recv(MOST)
                os.kill(copy, signal.SIGKILL)
            ended, status = os.waitpid(copy, os.WNOHANG)
            if ended:
                return status


def _be_the_copy(main: Any, hooks: Any, shared: dict[str, Any], filters: Any, handles: list[int]) -> None:
    """Run one program in this process and end it."""
    request_file, result, output = handles
    os.setsid()
    os.chdir(shared["work"])
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    filters.confine_writes(shared["folders"], [*shared["files"], f"/proc/{os.getpid()}"])
    with os.fdopen(request_file, encoding="utf-8") as file:
        request: dict[str, Any] = json.load(file)
    os._exit(main.answer({**request, "result": result}, hooks))


def _is_clean() -> bool:
    """Whether the last program has left nothing to the next one; those of its processes that have ended are reaped."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return False
    return not os.listdir(SHARED)


def _serve(link: socket.socket, main: Any, hooks: Any, shared: dict[str, Any], filters: Any) -> None:
    ends = Ends(link)
    while True:
        message, handles, _, _ = socket.recv_fds(link, 1, 3)
        if not message:
            return
        copy = os.fork()
        if copy == 0:
            try:
                ends.leave()
                _be_the_copy(main, hooks, shared, filters, handles)
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                os._exit(1)
        for handle in handles:
            os.close(handle)
        status = ends.wait(copy)
        link.send(json.dumps({"status": status, "clean": _is_clean()}).encode())


def _start(number: int) -> None:
    """Import what the programs need, and serve until the other side of the socket is closed."""
    main = _load(Path(__file__).with_name("main.py"))
    link = socket.socket(fileno=number)
    os.set_inheritable(number, False)
    shared: dict[str, Any] = json.loads(link.recv(MOST))
    filters = _load(Path(shared["filters"]))
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    hooks = main.runtime.hook(shared)
    with _without(shared["spared"]):
        main.load(shared)
    for path in Path(__file__).parent.glob("*.py"):
        if path.stem not in ("__init__", "main", "preloaded"):
            main.monitor_part(path.stem)
    # What is here is no program's garbage. Were it looked through for some, that would write to each of its pages, and
    # each copy of this process would have to take them all.
    gc.collect()
    gc.freeze()
    sys.stdout.flush()
    sys.stderr.flush()
    link.send(READY)
    _serve(link, main, hooks, shared, filters)


if __name__ == "__main__":
    _start(int(sys.argv[1]))
