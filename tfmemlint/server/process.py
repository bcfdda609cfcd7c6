"""The other end of a worker: started when it is first asked, ended when it answers too late, started anew when it died.

Linting happens in a process because nothing else can be stopped: what the parser is at hears nothing. A text that it
dies of costs that text its findings, and not the editor its server.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
from collections.abc import Callable
from typing import Any

from tfmemlint.server.questions import Failed
from tfmemlint.server.worker import HEAD, packed

SECONDS = 60.0
"""How long one answer may take."""
PATIENCE = 2.0
"""Seconds after which an answer that nobody wants any more is not waited for, as a new process takes half of one."""
_START = "import sys; sys.path[:] = {path!r}; from tfmemlint.server.worker import main; main()"
"""With our own path: a folder that is edited must not say what is imported."""


class Unanswered(Exception):
    """A question without an answer, and a line on why."""


class Stale(Exception):
    """A question that nobody asks any more."""


class Worker:
    """A process that answers one question at a time, in the order in which they were asked."""

    def __init__(self, seconds: float = SECONDS, patience: float = PATIENCE) -> None:
        self._seconds = seconds
        self._patience = patience
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._since: float | None = None
        self._wanted: Callable[[], bool] = lambda: True

    async def ask(self, question: object, wanted: Callable[[], bool] = lambda: True) -> Any:
        """The answer to a question. Raises Unanswered where the process died or took too long, and Stale where it is
        not `wanted` any more when its turn comes, or was not and took long (see `hurry`)."""
        # Who asks may be cancelled by the editor; the process would have to be ended for that, and starting is slow.
        asked = asyncio.ensure_future(self._in_turn(question, wanted))
        asked.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(asked)

    async def _in_turn(self, question: object, wanted: Callable[[], bool]) -> Any:
        async with self._turn:
            if not wanted():
                raise Stale
            try:
                process = await self._started()
            except OSError as error:
                raise Unanswered(f"no process can be started: {error.strerror or error}") from None
            self._since, self._wanted = asyncio.get_running_loop().time(), wanted
            done = False
            try:
                answer = await asyncio.wait_for(_asked(process, question), self._seconds)
                done = True
            except asyncio.TimeoutError:
                raise Unanswered("it takes too long; exclude the file") from None
            except (OSError, EOFError, asyncio.IncompleteReadError):
                if not wanted():
                    raise Stale from None
                raise Unanswered("the process that read it died; is there enough memory?") from None
            finally:
                self._since = None
                if not done:  # half an answer may be in the pipe
                    self._kill()
                    await process.wait()
        if isinstance(answer, Failed):
            raise Unanswered(answer.reason)
        return answer

    def hurry(self) -> None:
        """End the process where the question that it is at has become stale and takes long."""
        now = asyncio.get_running_loop().time()
        if self._since is not None and now - self._since > self._patience and not self._wanted():
            self._kill()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            start = _START.format(path=sys.path)
            pipe = asyncio.subprocess.PIPE
            self._process = await asyncio.create_subprocess_exec(sys.executable, "-c", start, stdin=pipe, stdout=pipe)
        return self._process

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()

    async def close(self) -> None:
        """End the process, and wait for that."""
        process = self._process
        self._kill()
        if process is not None:
            await process.wait()


async def _asked(process: asyncio.subprocess.Process, question: object) -> Any:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(packed(question))
    await process.stdin.drain()
    (length,) = HEAD.unpack(await process.stdout.readexactly(HEAD.size))
    return pickle.loads(await process.stdout.readexactly(length))
