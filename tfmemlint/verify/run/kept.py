"""The runs of unchanged programs, so that they are not run again; in the folder of the linter's cache.

What a run gave is kept by all that it can depend on: the program and its modules, the settings, the interpreter with
what is installed for it, this tool, and the names, sizes and times of the files that lie beside the program. Never kept
are seconds, what did not end well, and programs that name files elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

import msgspec

from tfmemlint import __version__
from tfmemlint.files.bounded_read import digest_of
from tfmemlint.files.own_folder import OwnFolder
from tfmemlint.files.tagged_folder import FOLDER, SECONDS_KEPT, forget, is_ours, mark, stamp
from tfmemlint.verify.run import sandbox
from tfmemlint.verify.run.first_region import first_region
from tfmemlint.verify.run.interpreters import interpreter
from tfmemlint.verify.run.measure import Program, Settings
from tfmemlint.verify.run.runs import Run
from tfmemlint.verify.run.watch import Limits
from tfmemlint.verify.run.workspaces import workspace

MOST_BYTES = 16 << 20
MOST_FILES = 5_000
"""Files beside a program that are looked at; with more of them its runs are not kept."""
ENVIRONMENT = "pyvenv.cfg"
"""What a folder of installed packages has: `installed` knows them."""
SKIPPED = (".git", "__pycache__", FOLDER)
ELSEWHERE = re.compile(r"""["'](/|~|\.\.|[A-Za-z]:)""")
"""A text that leads to a file which does not lie beside the program."""
INSTALLED = """
import json, os, sys
sys.path += sys.argv[1:]
print(json.dumps([sys.version, [
    [entry, name, os.stat(os.path.join(entry, name)).st_mtime_ns]
    for entry in sys.path if os.path.isdir(entry)
    for name in sorted(os.listdir(entry)) if name.endswith("-info")
]]))
"""


_RUNS = msgspec.msgpack.Decoder(tuple[Run, ...])
"""Made here for the reason of the one in `runs.py`: several threads read what is kept."""


class _Changing(Exception):
    """What a program can read cannot be told from what it may be next time."""


def installed(settings: Settings) -> str:
    """A text that changes with the interpreter and what is installed for it; empty where it does not tell."""
    libraries = sandbox.folders("PYTHONPATH")
    with workspace() as work, contextlib.suppress(OSError):
        command = [interpreter(settings.python), "-I", "-B", "-c", INSTALLED, *libraries]
        limits = Limits(wall=60.0, output=MOST_BYTES)
        done = sandbox.run(command, work=work, limits=limits, needed=libraries)
        with contextlib.suppress(ValueError):
            return "" if done.reason else str(json.loads(done.output))
    return ""


class Kept:
    """The kept runs in a folder. `known` is what `installed` says, `tool` changes with tfmemlint; nothing is kept where
    `known` is empty.

    Whatever is wrong with the folder is no error: the programs are run.
    """

    def __init__(self, folder: str, known: str, tool: str) -> None:
        self._top, self._step = os.path.split(os.path.abspath(folder))
        self._known, self._tool = known, tool
        self._lock = threading.Lock()
        self.used = 0
        """How many programs were not run, since their runs are known."""

    def get(self, name: str) -> tuple[Run, ...] | None:
        """The runs of that name, None where they are not known."""
        with contextlib.suppress(OSError, ValueError, RecursionError), OwnFolder(self._top, (self._step,)) as folder:
            if is_ours(folder):
                ours = stamp(folder)
                folder.enter(__version__)
                data = folder.read(name, MOST_BYTES)
                if data.startswith(ours):
                    runs = _RUNS.decode(data[len(ours) :])
                    with self._lock:
                        self.used += 1
                    return runs
        return None

    def put(self, name: str, runs: tuple[Run, ...]) -> None:
        """Keep the runs under a name that was made before them, where they all ended well."""
        if not all(run.status == "ok" for run in runs):
            return
        data = msgspec.msgpack.encode(runs)
        with (
            self._lock,
            contextlib.suppress(OSError, ValueError),
            OwnFolder(self._top, (self._step,), make=True) as folder,
        ):
            if not is_ours(folder):
                mark(folder)
            ours = stamp(folder)
            folder.enter(__version__, make=True)
            folder.replace(name, ours + data, f"{secrets.token_hex(16)}.bin")
            forget(folder, time.time() - SECONDS_KEPT)

    def name(self, program: Program, settings: Settings) -> str | None:
        """A name for all that the program's runs depend on, None where that cannot be told."""
        texts = (program.source, *(text for _, text in program.modules))
        if not self._known or settings.timed or any(map(ELSEWHERE.search, texts)):
            return None
        limits = replace(settings.limits, memory=first_region(settings))  # the rest of it changes with what is free
        alike = replace(settings, server=None, lane=0, beside=None, kept=None, limits=limits)
        passed = [os.environ.get(name) for name in (*sandbox.PASSED_ON, *sandbox.SEARCHED)]
        try:
            beside = list(_beside(program))
        except (_Changing, OSError):
            return None
        key = f"{self._tool} {self._known} {program!r} {alike!r} {settings.server is None} {passed} {beside}"
        return f"{digest_of(key.encode('utf-8', 'surrogatepass')).hex()}.bin"


def _beside(program: Program) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of each file that the program can read by a path that begins in its folder or is imported.

    Its own file is left out: what counts of that is in the program. Raises _Changing and OSError.
    """
    folders = {os.path.abspath(folder) for folder in (*program.path, program.folder, program.root) if folder}
    folders |= set(sandbox.folders("PYTHONPATH"))
    own = os.path.abspath(program.file) if program.file else ""
    count = 0
    for path in _files(folder for folder in sorted(folders) if os.path.dirname(folder) not in folders):
        if path == own:
            continue
        count += 1
        if count > MOST_FILES:
            raise _Changing
        status = os.stat(path)
        yield path, status.st_size, status.st_mtime_ns


def _files(folders: Iterable[str]) -> Iterator[str]:
    for top in folders:
        for folder, names, files in os.walk(top):
            below = {name: os.path.join(folder, name) for name in names if name not in SKIPPED}
            names[:] = sorted(name for name in below if not os.path.exists(os.path.join(below[name], ENVIRONMENT)))
            if any(os.path.islink(below[name]) for name in names):
                raise _Changing
            yield from (os.path.join(folder, name) for name in sorted(files))
