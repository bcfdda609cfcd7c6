"""The tool in a process of its own, forked from one that has imported it and loaded its rules: what takes most of a
short run, the imports, is done once for all tests of a worker.

    done = check("--fix", "a.py")          # like python -m tfmemlint check --fix a.py in the working directory

Arguments, environment, working directory, streams and limits are the run's own, and so are its memory, exit code and
whatever kills it. Tests of the start itself, of what Python imports and from where, run `python -m tfmemlint`.

    python forked.py

is the process that is forked from. It is told by a socket at its standard input what to run.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from typing import Any

Limits = Mapping[int, int]
"""What a run may use at most, by the numbers of `resource`."""

_OF_THE_START = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_")
"""How variables begin that a process reads when it starts."""


@cache
def _server() -> socket.socket:
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([sys.executable, __file__], stdin=theirs)
    theirs.close()
    atexit.register(process.wait)
    atexit.register(ours.close)  # which ends it, and is done first
    return ours


def run(
    *words: str,
    input: str | None = None,
    stdin: int = subprocess.DEVNULL,
    cwd: str | os.PathLike[str] = ".",
    env: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    timeout: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Runs `tfmemlint WORDS`, like `subprocess.run` with captured text. Raises TimeoutExpired after so many seconds."""
    environment = dict(os.environ if env is None else env)
    told = {name for name in {*environment, *os.environ} if environment.get(name) != os.environ.get(name)}
    assert not [name for name in told if name.startswith(_OF_THE_START)], "that is for `python -m tfmemlint`"
    request = {"words": words, "cwd": os.path.abspath(cwd), "env": environment, "limits": list((limits or {}).items())}
    with contextlib.ExitStack() as stack:
        out, err, given = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write((input or "").encode())
        given.seek(0)
        nothing = stack.enter_context(open(os.devnull, "rb"))
        source = given.fileno() if input is not None else nothing.fileno() if stdin == subprocess.DEVNULL else stdin
        code = _answered(request, [source, out.fileno(), err.fileno()], timeout)
        said = [stream.seek(0) or stream.read().decode().replace("\r\n", "\n") for stream in (out, err)]
    return subprocess.CompletedProcess(["tfmemlint", *words], code, *said)


def check(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Runs `tfmemlint check WORDS`."""
    return run("check", *words, **more)


def _answered(request: Mapping[str, Any], streams: list[int], timeout: float) -> int:
    """The exit code of a run, negative for the signal that ended it."""
    server = _server()
    data = json.dumps(request).encode()
    socket.send_fds(server, [len(data).to_bytes(8, "big")], streams)
    server.sendall(data)
    process = _number(server)
    server.settimeout(timeout)
    try:
        return _number(server)
    except TimeoutError:
        os.kill(process, signal.SIGKILL)
        server.settimeout(None)
        _number(server)
        raise subprocess.TimeoutExpired(["tfmemlint", *request["words"]], timeout) from None
    finally:
        server.settimeout(None)


def _number(server: socket.socket) -> int:
    data = server.recv(8, socket.MSG_WAITALL)
    assert len(data) == 8, "the process that starts runs has ended"
    return int.from_bytes(data, "big", signed=True)


# -- the process that is forked from ----------------------------------------------------------------------------------


def _serve() -> int:
    """Fork a process for each request. In these this returns the exit code; the first one ends when it is left."""
    import tfmemlint.cli.check
    from tfmemlint.lint.registry import load_rules

    assert tfmemlint.cli.check.__file__ and load_rules()
    asked = socket.socket(fileno=os.dup(0))
    gc.freeze()  # so that the collector of a run need not look at what is imported, nor copy its pages
    while True:
        size, streams, _, _ = socket.recv_fds(asked, 8, 3)
        if not size:
            os._exit(0)
        request = json.loads(asked.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
        process = os.fork()
        if process == 0:
            asked.close()
            return _run(request, streams)
        for each in streams:
            os.close(each)
        asked.sendall(process.to_bytes(8, "big"))
        _, status = os.waitpid(process, 0)
        asked.sendall(os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))


def _run(request: Mapping[str, Any], streams: list[int]) -> int:
    for place, each in enumerate(streams):
        os.dup2(each, place)
        os.close(each)
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115
    sys.stderr = open(2, "w", errors="backslashreplace", buffering=1)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for which, most in request["limits"]:
        resource.setrlimit(which, (most, most))
    sys.argv = ["tfmemlint", *request["words"]]
    from tfmemlint.__main__ import run as start

    return start()


if __name__ == "__main__":
    del sys.path[0]  # the folder of the tests, which no run of the tool would see
    sys.exit(_serve())
