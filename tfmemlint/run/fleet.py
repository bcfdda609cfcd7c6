"""Work on the machines of a dask cluster: handed out, and what becomes of it when machines are lost.

The engine is dask's: its scheduler gives what a dead worker was at to another one, and gives up what killed several.
What comes back from nowhere is the caller's again, who does it here. Only this module imports `distributed`.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import Any, NamedTuple

from tfmemlint import __version__
from tfmemlint.lint.registry import fingerprint

LOCAL, SCHEME = "local", "dask://"
PATIENCE = 30.0
"""Seconds without any worker after which what is left is given back."""
_CONNECT = 20
_POLL = 1.0


class FleetError(Exception):
    """A cluster that cannot be used; the message is one line."""


class Unlike(Exception):
    """Raised on a worker whose tfmemlint is not that of the run."""


class Stamp(NamedTuple):
    """What must be the same everywhere: the versions, and a hash of the tool's code and of all rule packs."""

    version: str
    code: str

    def require(self) -> None:
        """Raises Unlike where this process is another one."""
        here = stamp()
        if here.version != self.version:
            raise Unlike(f"tfmemlint {here.version} there, {self.version} here")
        if here.code != self.code:
            raise Unlike("other rule packs, another build of tfmemlint or another version of Python than here")


def stamp() -> Stamp:
    """That of this process."""
    return Stamp(__version__, fingerprint())


def is_executor(text: str) -> bool:
    """Whether a text names an executor."""
    return text == LOCAL or (text.startswith(SCHEME) and len(text) > len(SCHEME))


class Fleet:
    """The workers of a cluster, until the end of a `with` block. Raises FleetError where they cannot be used."""

    def __init__(self, name: str, jobs: int = 0) -> None:
        self._name = name
        self._jobs = jobs
        self._cluster: Any = None
        self.client: Any = None

    def __enter__(self) -> Fleet:
        try:
            distributed = importlib.import_module("distributed")
        except ModuleNotFoundError:
            words = f"--executor {self._name} needs distributed, which is not installed"
            raise FleetError(f"{words}: pip install 'tfmemlint[cluster]'") from None
        try:
            if self._name == LOCAL:
                count = self._jobs or os.cpu_count() or 1
                self._cluster = distributed.LocalCluster(
                    n_workers=count, threads_per_worker=1, dashboard_address=None, silence_logs=50
                )
                self.client = distributed.Client(self._cluster)
            else:
                address = f"tcp://{self._name.removeprefix(SCHEME)}"
                self.client = distributed.Client(address, timeout=_CONNECT)
            self._require_alike()
        except (OSError, ValueError) as error:  # distributed raises OSError for what it cannot reach in time
            self.close()
            raise FleetError(f"--executor {self._name}: no scheduler answers there: {_one_line(error)}") from None
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster; one of our own ends."""
        for each in (self.client, self._cluster):
            if each is not None:
                each.close()

    def _require_alike(self) -> None:
        """Ask all workers that are there; those that come later are asked by what they are given to do."""
        if not self._workers():
            raise FleetError(f"--executor {self._name}: the cluster has no workers")
        for worker, answer in self.client.run(stamp().require, on_error="return").items():
            words = f"--executor {self._name}: worker {worker}"
            if isinstance(answer, ModuleNotFoundError):
                raise FleetError(f"{words} has no tfmemlint ({answer}); install it there")
            if isinstance(answer, BaseException):
                raise FleetError(f"{words}: {_one_line(answer)}; install the same there")

    def _workers(self) -> Mapping[str, Mapping[str, Any]]:
        try:
            info = self.client.scheduler_info(n_workers=-1)
        except TypeError:  # older ones tell of all
            info = self.client.scheduler_info()
        workers: Mapping[str, Mapping[str, Any]] = info.get("workers", {})
        return workers

    def has(self, resource: str) -> bool:
        """Whether some worker was started with a resource, as `dask worker --resources GPU=1` is."""
        return any(each.get("resources", {}).get(resource) for each in self._workers().values())

    def each(
        self, do: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], resources: Mapping[str, float] | None = None
    ) -> Iterator[tuple[int, Any]]:
        """The number and answer of each job, as they come: the exception that it raised, or Lost for one that no worker
        could end. Raises FleetError for a worker of another version."""
        chosen = {"resources": dict(resources)} if resources else {}
        executor = self.client.get_executor(pure=False, **chosen)
        mark = stamp()

        def handed(number: int) -> Future[Any]:
            future: Future[Any] = executor.submit(_done, mark, do, jobs[number])
            numbers[future] = number
            return future

        numbers: dict[Future[Any], int] = {}
        again: set[int] = set()
        waiting, since = set(map(handed, range(len(jobs)))), time.monotonic()
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=_POLL, return_when=FIRST_COMPLETED)
                for future in done:
                    number, answer = numbers[future], self._answer(future)
                    if isinstance(answer, Mislaid) and number not in again:
                        again.add(number)
                        waiting.add(handed(number))
                    else:
                        yield number, answer
                if done or (self.client.status == "running" and self._workers()):
                    since = time.monotonic()
                elif time.monotonic() - since > PATIENCE or self.client.status == "closed":
                    yield from ((numbers[future], Lost("the cluster has no workers left")) for future in waiting)
                    return
        finally:
            for future in waiting:
                future.cancel()

    def _answer(self, future: Future[Any]) -> Any:
        try:
            answer, error = future.result()
        except Unlike as error:
            raise FleetError(f"--executor {self._name}: a worker that came later has {error}") from None
        except CancelledError:
            return Lost("the connection to the cluster was lost")
        except Exception as error:  # what the job raises comes as an answer: this is dask's own
            # Its name for a job at which several workers died.
            kind = Lost if type(error).__name__ == "KilledWorker" else Mislaid
            return kind(_one_line(error))
        return answer if error is None else error


class Lost(Exception):
    """Says why no worker could end a job."""


class Mislaid(Lost):
    """An answer that dask did not hand over, as when the worker that held it died on the way: worth another try."""


def _done(mark: Stamp, do: Callable[..., Any], job: tuple[Any, ...]) -> tuple[Any, Exception | None]:
    """What a job gave, or raised."""
    mark.require()
    try:
        return do(*job), None
    except Exception as error:
        return None, error


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
