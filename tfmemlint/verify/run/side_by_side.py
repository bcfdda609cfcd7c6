"""Two programs at once, each on a processor of its own: what they cost in bytes is what they cost one after the other.

Claims on seconds are left out, and graphics cards, whose memory two programs would share.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace

from tfmemlint.verify.run import sandbox
from tfmemlint.verify.run.measure import Program, Settings, measure, preloaded
from tfmemlint.verify.run.runs import Run

ENOUGH = 12
"""Runs from which on a second process that has imported TensorFlow is worth its start."""
GRACE = 1.0
"""Seconds that the second program is given to end by itself when it is no longer wanted: it most often fails where the
first one did, and a killed one takes its server with it."""
FULL = "machine"

Sides = tuple[tuple[Run, ...], tuple[Run, ...]]


class _NotWanted(Exception):
    """The first program has failed: what the second one does says nothing."""


class Beside:
    """Runs programs while the caller's thread runs others. Its one thread stays to its end: the processes that a thread
    has started end with it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._thread = ThreadPoolExecutor(1, "tfmemlint-beside")
        self._stop = threading.Event()

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.shutdown()

    def _tick(self) -> None:
        if self._stop.is_set():
            raise _NotWanted

    def measure(
        self,
        programs: tuple[Program, Program],
        settings: Settings,
        goes_on: Callable[[Run], bool],
        done: Callable[[], None] | None = None,
    ) -> Sides:
        """The runs of both programs, of the second one none where a run of the first one does not go on. `done` is
        called after each, in the caller's thread. Raises MeasureError."""
        first, second = programs
        server = None if settings.server is None else self._settings.server
        there = replace(settings, server=server, lane=self._settings.lane)
        self._stop.clear()
        other: Future[tuple[Run, ...]] = self._thread.submit(measure, second, there, tick=self._tick)
        try:
            here = measure(first, settings, done)
            full = _is_full(here)
            if not full and not all(map(goes_on, here)):
                wait([other], GRACE)
                return here, ()
            beside = () if full else other.result()
        finally:
            self._stop.set()
            wait([other])
        if full or _is_full(beside):
            here = measure(first, settings, done)
            return here, measure(second, settings, done) if all(map(goes_on, here)) else ()
        if done:
            for _ in beside:
                done()
        return here, beside


def _is_full(runs: Sequence[Run]) -> bool:
    """Whether this machine had no room for both."""
    return any(run.status == FULL for run in runs)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def two_at_once(settings: Settings, runs: int) -> Iterator[Settings]:
    """The settings for so many `runs`: each `preloaded`, and with a second place where that is worth it."""
    with preloaded(settings) as served:
        if runs < ENOUGH or processors() < 2 or (settings.device != "cpu" and sandbox.has_cards()):
            yield served
            return
        with preloaded(replace(settings, lane=1)) as second, Beside(second) as beside:
            yield replace(served, beside=beside)
