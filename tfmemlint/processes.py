"""The work of a run spread over processes; a process that dies costs the one file it died at."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Iterable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import replace

from tfmemlint.deep import with_deep_stack
from tfmemlint.work import Outcome, Tick, Work, failed

_work: Work | None = None


def in_processes(work: Work, jobs: int, tick: Tick) -> list[Outcome]:
    """The outcomes for all files of the work, in their order."""
    numbers = range(len(work.targets))
    done = _attempt(work, numbers, jobs, tick)
    for number in numbers:
        if number not in done:
            # A process died, and with it what the others had not handed over: each in a process of its own now.
            done.update(_attempt(work, (number,), 1, tick))
        if number not in done:
            done[number] = failed(work.targets[number], "the process that read it died; is there enough memory?")
    # What comes back from another process has its own copy of the configuration.
    return [replace(done[number], config=work.targets[number].config) for number in numbers]


def _attempt(work: Work, numbers: Iterable[int], jobs: int, tick: Tick) -> dict[int, Outcome]:
    """The outcomes of those files at which no process died."""
    # The rules are loaded already, and a forked process has them too; this process has no other thread to trip over.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    done: dict[int, Outcome] = {}
    futures: dict[int, Future[Outcome]] = {}
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=(work,))
    try:
        for number in numbers:
            futures[number] = pool.submit(_one, number)
        for number, future in futures.items():
            done[number] = _result(work, number, future)
            tick(number + 1, len(work.targets))
    except BrokenExecutor:
        for number, future in futures.items():
            if future.done() and not isinstance(future.exception(), BrokenExecutor):
                done[number] = _result(work, number, future)
    finally:
        pool.shutdown(cancel_futures=True)
    return done


def _result(work: Work, number: int, future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except BrokenExecutor:
        raise
    except Exception as error:  # what a process found could not be handed over
        return failed(work.targets[number], f"{type(error).__name__}: {error}")


def _start(work: Work) -> None:
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops us


def _one(number: int) -> Outcome:
    work = _work
    if work is None:
        raise RuntimeError("the process was not started for any work")
    return with_deep_stack(lambda: work.one(number))
