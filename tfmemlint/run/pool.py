"""The work of a run in processes of its own: one that dies or takes too long costs the file it was at, and no other."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from tfmemlint.lint.recursion import FORKS, with_deep_stack
from tfmemlint.run.file_task import Outcome, Tick, Work, failed

MEMORY = 6 << 30
"""Bytes of address space of a process that reads files. What the parser is asked to read takes half of it."""
SECONDS = 120
SECONDS_PER_MEGABYTE = 120
"""Processor time that one file may take: many times that of any file that was seen."""
PATIENCE = 5.0
"""Seconds that the processes have to finish their files when the run is interrupted."""


def in_processes(work: Work, jobs: int, tick: Tick) -> list[Outcome]:
    """The outcomes for all files of the work, in their order."""
    done: dict[int, Outcome] = {}
    with _Crew(work) as crew:
        for number, outcome in crew.outcomes(jobs):
            # What comes back from another process has its own copy of the configuration.
            done[number] = replace(outcome, config=work.targets[number].config)
            tick(len(done), len(work.targets))
    return [done[number] for number in sorted(done)]


@dataclass(slots=True)
class _Worker:
    """A process, the pipe to it, and the number of the file that it is at."""

    process: BaseProcess
    pipe: Connection
    number: int


@dataclass(frozen=True, slots=True)
class _Death:
    """The end of a process before that of its work."""

    status: int

    @property
    def took_too_long(self) -> bool:
        return hasattr(signal, "SIGPROF") and self.status == -signal.SIGPROF

    @property
    def reason(self) -> str:
        """What to say of the file."""
        if self.took_too_long:
            return "it takes too much processor time; exclude it"
        name = f"status {self.status}"
        with contextlib.suppress(ValueError):
            name = signal.Signals(-self.status).name
        return f"the process that read it died ({name}); is there enough memory?"


class _Crew:
    """The processes of one run; none is left when it is over."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.workers: list[_Worker] = []

    def __enter__(self) -> _Crew:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self.workers:
            worker.pipe.close()
        for worker in self.workers:  # only after an interrupt: a file that is being written is finished first
            worker.process.join(PATIENCE)
            worker.process.kill()
            worker.process.join()

    def outcomes(self, jobs: int) -> Iterator[tuple[int, Outcome]]:
        """The number and outcome of each file, as they come; once more and alone those at which a process died."""
        died: list[int] = []
        for number, outcome in self._attempts(range(len(self.work.targets)), jobs):
            if isinstance(outcome, _Death) and not outcome.took_too_long:
                died.append(number)
            else:
                yield number, self._settled(number, outcome)
        for number, outcome in self._attempts(died, 1):
            yield number, self._settled(number, outcome)

    def _settled(self, number: int, outcome: Outcome | _Death) -> Outcome:
        return failed(self.work.targets[number], outcome.reason) if isinstance(outcome, _Death) else outcome

    def _attempts(self, numbers: Iterable[int], jobs: int) -> Iterator[tuple[int, Outcome | _Death]]:
        waiting = iter(numbers)
        yield from self._employ(waiting, jobs)
        while self.workers:
            ready = wait([worker.pipe for worker in self.workers])
            for worker in [worker for worker in self.workers if worker.pipe in ready]:
                outcome = _received(worker)
                yield worker.number, outcome
                following = None if isinstance(outcome, _Death) else next(waiting, None)
                if following is not None:
                    worker.number = following
                    _send(worker)
                    continue
                self.workers.remove(worker)
                worker.pipe.close()  # which a living process takes for the end of its work
                worker.process.join()
                yield from self._employ(waiting, jobs)

    def _employ(self, waiting: Iterator[int], jobs: int) -> Iterator[tuple[int, Outcome]]:
        """Start processes for the next files; where the system allows no more, read them here."""
        while len(self.workers) < jobs and (number := next(waiting, None)) is not None:
            try:
                self._start(number)
            except OSError:
                yield number, with_deep_stack(lambda number=number: self.work.one(number))  # type: ignore[misc]

    def _start(self, number: int) -> None:
        # The rules are loaded already, and a forked process has them too. It is none that would mind other threads.
        context = multiprocessing.get_context("fork" if FORKS else None)
        ours, theirs = context.Pipe()
        # A forked process has our ends of all pipes, which would keep the others from seeing that we are gone.
        inherited = [ours, *(worker.pipe for worker in self.workers)] if FORKS else []
        process = context.Process(target=_serve, args=(theirs, inherited, self.work), daemon=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # that a progress bar has a thread
            process.start()
        theirs.close()
        worker = _Worker(process, ours, number)
        self.workers.append(worker)
        _send(worker)


def _send(worker: _Worker) -> None:
    with contextlib.suppress(OSError):  # it died, as reading from it tells
        worker.pipe.send(worker.number)


def _received(worker: _Worker) -> Outcome | _Death:
    try:
        outcome: Outcome = worker.pipe.recv()
        return outcome
    except (EOFError, OSError):
        worker.process.join()
        return _Death(worker.process.exitcode or 0)


def _serve(pipe: Connection, inherited: Sequence[Connection], work: Work) -> None:
    """What a process does: one file for each number, until the pipe is closed."""
    for each in inherited:
        each.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops us
    limit_memory()
    while True:
        try:
            number = pipe.recv()
        except (EOFError, OSError):
            return
        target = work.targets[number]
        try:
            with processor_time(target.path):
                outcome = with_deep_stack(lambda number=number: work.one(number))  # type: ignore[misc]
        except Exception as error:
            outcome = failed(target, f"{type(error).__name__}: {error}")
        try:
            pipe.send(outcome)
        except OSError:  # the run was interrupted
            return
        except Exception as error:  # what was found cannot be handed over
            pipe.send(failed(target, f"{type(error).__name__}: {error}"))


def limit_memory() -> None:
    """Bound the address space of this process, which reads files, to MEMORY, and let it leave no core."""
    try:
        import resource
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(OSError, ValueError):  # not all systems take it
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY if most < 0 else min(MEMORY, most), most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextlib.contextmanager
def processor_time(path: str) -> Iterator[None]:
    """Let the process die when one file takes too long: what does not come back from the parser can do nothing else."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    size = 0
    with contextlib.suppress(OSError):
        size = os.path.getsize(path)
    signal.setitimer(signal.ITIMER_PROF, SECONDS + SECONDS_PER_MEGABYTE * size / 1e6)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
