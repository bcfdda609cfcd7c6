"""A contained process that has imported TensorFlow, and runs one program after the other in copies of itself.

What a fresh process would give is kept: each program has a new folder, its own streams, limits, clock and filters, and
nothing of it outlives it. A program that leaves something behind takes the process with it, and so does one that meets
a limit other than those of memory and time; the next one gets a new one.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tfmemlint.verify.run import launch_filter, sandbox, workspaces
from tfmemlint.verify.run.sandbox import Level
from tfmemlint.verify.run.watch import PATIENCE, POLL, Limits, Outcome, Watch

PRELOADED = Path(__file__).parents[1] / "child" / "preloaded.py"
READY = b"ready"
MOST = 1 << 16
SIGNALED = 128
ALONE = ("memory", "machine", "time")
"""The limits at which a program is killed alone, where it has started no other process."""


def can_serve(level: Level) -> bool:
    """Whether programs can share a process here: only where none can reach it, or what another one leaves."""
    return level.isolated and not sandbox.gaps(level)


class _Turn:
    """One program on the server, which is waited for as for a process of its own."""

    def __init__(self, pid: int, link: socket.socket, stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdout: IO[bytes] | None = stdout
        self.returncode: int | None = None
        self.clean = False
        self._link = link

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._link], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("", timeout or 0.0)
            try:
                reply = json.loads(self._link.recv(MOST))
            except (OSError, ValueError):  # the server has ended, and with it the program
                reply = {"status": signal.SIGKILL, "clean": False}
            code = os.waitstatus_to_exitcode(reply["status"])
            self.returncode, self.clean = code if code >= 0 else SIGNALED - code, reply["clean"]
        return self.returncode

    def end(self) -> None:
        """Have the server kill the program, which is not clean where that takes long."""
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._link.send(b"end")
            self.wait(PATIENCE)

    def poll(self) -> int | None:
        return self.returncode


class Server:
    """Starts the process when the first program comes, and again after a program that spoils it."""

    def __init__(
        self,
        python: str,
        shared: Mapping[str, Any],
        *,
        limits: Limits,
        extra: Mapping[str, str],
        level: Level,
        needed: Sequence[str],
        lane: int = 0,
    ) -> None:
        self._python, self._shared, self._limits, self._extra, self._level = python, shared, limits, extra, level
        self._needed = [str(PRELOADED), launch_filter.__file__, *needed]
        self._lane = lane
        self._open = contextlib.ExitStack()
        self._watch: Watch | None = None
        self._link: socket.socket | None = None
        self._work = ""
        self._spared: frozenset[str] | None = None
        """The libraries that the process lacks: what one program needs is there for all that come after it."""

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def folder(self) -> str:
        """The folder of each program. Its path stays, since what is imported keeps it."""
        return os.path.join(self._work, "run")

    def prepare(self, spared: frozenset[str] = frozenset()) -> bool:
        """Have the process and an empty folder for one program that can do without the libraries `spared`; False where
        it cannot be started."""
        if self._watch is not None and not (self._spared or frozenset()) <= spared:
            self.stop()
        if self._watch is None:
            self._spared = spared if self._spared is None else self._spared & spared
        if self._watch is None and not self._start():
            self.stop()
            return False
        workspaces.remove(self.folder)
        os.mkdir(self.folder)
        return True

    def _start(self) -> bool:
        self._work = self._open.enter_context(workspaces.workspace())
        os.mkdir(self.folder)
        link, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._link = self._open.enter_context(link)
        shared = {
            **self._shared,
            "work": self.folder,
            "filters": launch_filter.__file__,
            "folders": [self.folder, sandbox.SHARED],
            "files": sandbox.devices(gpu=False),
            "spared": sorted(self._spared or ()),
        }
        with far:
            self._watch = sandbox.start(
                [self._python, "-B", str(PRELOADED), str(far.fileno())],
                work=self._work,
                limits=self._limits,
                extra={**self._extra, **sandbox.homes(self.folder)},
                level=self._level,
                repeatable=True,
                lane=self._lane,
                needed=self._needed,
                keep_open=[far.fileno()],
                writable=["/proc"],  # of its own namespace: each copy is allowed no more than its own entry
            )
        with contextlib.suppress(OSError):
            link.send(json.dumps(shared).encode())
            while self._watch.over_limit() is None:
                if select.select([link], [], [], POLL)[0]:
                    return link.recv(MOST) == READY
        return False

    def run(
        self,
        request: Mapping[str, Any],
        result: int,
        tick: Callable[[], None] | None = None,
        limits: Limits | None = None,
    ) -> Outcome:
        """Run one program, after `prepare`; `result` is the open file for its figures, `limits` those of the server
        where it has none of its own."""
        assert self._watch is not None
        assert self._link is not None
        read, write = os.pipe()
        turn = _Turn(self._watch.process.pid, self._link, os.fdopen(read, "rb"))
        with tempfile.TemporaryFile() as file:
            file.write(json.dumps(request).encode())
            file.seek(0)
            with contextlib.suppress(OSError):  # what has ended does not answer
                socket.send_fds(self._link, [b"1"], [file.fileno(), result, write])
            os.close(write)
        watch = Watch(turn, limits or self._limits, self._work, "", namespaced=True)
        ended = "exit"
        try:
            ended = watch.wait(tick)
            if ended in ALONE:
                turn.end()
        finally:
            seconds = watch.seconds
            if not turn.clean or os.listdir(self._work) != ["run"]:
                self.stop()
            watch.finish()
        return watch.outcome(ended, seconds)

    def stop(self) -> None:
        """End the process and all that is left of the last program."""
        watch, self._watch = self._watch, None
        try:
            if watch is not None:
                watch.end()
        finally:
            self._open.close()
