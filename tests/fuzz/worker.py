"""One input checked in a process of its own, so that what ends or blocks the process is a failure like any other."""

from __future__ import annotations

import faulthandler
import json
import os
import re
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tfmemlint.lint.recursion import with_deep_stack

from .case import Broken, Case, Kind

_PATIENCE = 5
"""Seconds of the clock that a process has for each second of its processor: others use it too."""


@dataclass(frozen=True)
class Verdict:
    """What became of a check. `words` are empty where it held; their first line says what failed."""

    words: str
    cpu_seconds: float

    @property
    def signature(self) -> str:
        """What failures alike have in common: the first line, its numbers left out but for those of codes."""
        return re.sub(r"\b\d+", "", self.words.partition("\n")[0])


class Checking:
    """A check under way in a process of its own."""

    def __init__(self, kind: Kind, case: Case) -> None:
        self.kind, self.case = kind, case
        self.handle, write = os.pipe()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        self._until = time.monotonic() + kind.cpu_seconds * _PATIENCE
        sys.stdout.flush()
        self._pid = os.fork()
        if not self._pid:
            _check(kind, case, write, self._output.fileno())
        os.close(write)

    @property
    def is_late(self) -> bool:
        """Whether it has had its time and is to be ended."""
        return time.monotonic() > self._until

    def verdict(self) -> Verdict:
        """What became of it: waits for its word, or ends it once it is late."""
        ready = bool(select.select([self.handle], [], [], max(self._until - time.monotonic(), 0))[0])
        said = b""
        while ready and not said.endswith(b"\n") and (part := os.read(self.handle, 1 << 16)):
            said += part
        os.close(self.handle)
        for end in (os.killpg, os.kill):  # what it started too, where it came to have a group
            try:
                end(self._pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        _, status, used = os.wait4(self._pid, 0)
        cpu = used.ru_utime + used.ru_stime
        with self._output:
            self._output.seek(0)
            printed = self._output.read()[-2000:].decode("utf-8", "replace")
        if said:
            return Verdict(json.loads(said), cpu)
        if not ready:
            return Verdict(f"no end: it waits for something\n{printed}", cpu)
        how = signal.Signals(os.WTERMSIG(status)) if os.WIFSIGNALED(status) else None
        if how is signal.SIGXCPU:
            return Verdict(f"no end in {self.kind.cpu_seconds} seconds of a processor\n{printed}", cpu)
        return Verdict(f"the process died of {how.name if how else 'an exit'}\n{printed}", cpu)


def run(kind: Kind, case: Case) -> Verdict:
    """Check one input in a process of its own."""
    return Checking(kind, case).verdict()


def _check(kind: Kind, case: Case, write: int, output: int) -> NoReturn:
    words = "the check did not come to its end"
    try:
        faulthandler.disable()
        os.setpgid(0, 0)
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (kind.cpu_seconds, kind.cpu_seconds + 1))
        most = _addresses() + kind.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        words = _words(kind, case)
    finally:
        os.write(write, json.dumps(words[:8000]).encode() + b"\n")
        os._exit(0)


def _addresses() -> int:
    """Bytes of address space that this process has already, a copy of one that may have run many tests; 0 where the
    system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _words(kind: Kind, case: Case) -> str:
    try:
        with_deep_stack(lambda: kind.check(case))
    except Broken as error:
        return str(error) or "Broken"
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        head = f"{type(error).__name__} in {Path(place.filename).name}, {place.name}: {str(error)[:200]}"
        return f"{head.splitlines()[0]}\n{''.join(traceback.format_exception(error))[-5000:]}"
    return ""
