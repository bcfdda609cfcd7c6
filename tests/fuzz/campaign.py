"""A run of kinds for a time, two inputs at once; what was done is kept, so that a run that was ended goes on."""

from __future__ import annotations

import json
import select
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from .case import Case, Kind, chance_of
from .reduce import reduced
from .worker import Checking, Verdict, run

_ATTEMPTS = 80
_DEAREST = 5.0
"""Seconds of a processor: failures that take longer are not made smaller."""
_EMPTY = 100
"""Numbers in a row without an input, after which a kind has none."""


@dataclass
class Count:
    """What was done of one kind."""

    numbers: set[int] = field(default_factory=set)
    inputs: int = 0
    cpu_seconds: float = 0.0
    failures: dict[Path, str] = field(default_factory=dict)
    """The files of the inputs that failed, and what failures alike have in common."""


class Campaign:
    """Inputs of some kinds from one seed; `folder` holds what was done, and `failures` below it what failed."""

    def __init__(self, kinds: Sequence[Kind], seed: int, folder: Path, jobs: int = 2) -> None:
        self.kinds = {kind.name: kind for kind in kinds}
        self.seed, self.jobs = seed, jobs
        self.failures = folder / "failures"
        self.failures.mkdir(parents=True, exist_ok=True)
        self.counts = {name: Count() for name in self.kinds}
        self.spent = 0.0
        self._log = folder / f"seed-{seed}.jsonl"
        for line in self._lines():
            self._count(line)

    def run(self, seconds: float, most: int | None = None) -> None:
        """Check inputs until the time is over; with `most`, no more than that many of each kind.

        The time of a run that was ended before its own was over counts; one that came to its end is followed by a new
        one, which goes on behind it.
        """
        if self.spent >= seconds:
            self._write({"kind": "", "at": 0.0})
        started = time.monotonic() - self.spent
        under_way: dict[int, tuple[Checking, int]] = {}
        waiting = self._inputs(most)
        while True:
            while len(under_way) < self.jobs and time.monotonic() - started < seconds:
                following = next(waiting, None)
                if following is None:
                    break
                kind, case, number = following
                checking = Checking(kind, case)
                under_way[checking.handle] = checking, number
            if not under_way:
                break
            ready = select.select(list(under_way), [], [], 1.0)[0]
            for handle, (checking, number) in list(under_way.items()):
                if handle in ready or checking.is_late:
                    del under_way[handle]
                    self._note(checking, number, checking.verdict(), time.monotonic() - started)
        if time.monotonic() - started >= seconds:
            self._write({"kind": "", "at": seconds})

    def again(self) -> None:
        """Check what failed before, and forget what holds now."""
        for name, found in self.counts.items():
            for path in list(found.failures):
                if path.exists() and run(self.kinds[name], Case(path.name, path.read_bytes())).words:
                    continue
                del found.failures[path]
                for each in self.failures.glob(f"{path.stem}.*"):
                    each.unlink()

    def reduce(self) -> None:
        """Make one failure of each sort small, where that is cheap: into a file with `min` in its name."""
        for path, name in self._sorts().values():
            kind, small = self.kinds[name], path.with_name(f"{path.stem}.min{path.suffix}")
            if small.exists() or path.suffix == ".json":
                continue
            wanted = run(kind, Case(path.name, path.read_bytes()))
            if not wanted.words or wanted.cpu_seconds > _DEAREST:
                continue

            def fails(data: bytes, kind: Kind = kind, path: Path = path, wanted: Verdict = wanted) -> bool:
                return run(kind, Case(path.name, data)).signature == wanted.signature

            small.write_bytes(reduced(path.read_bytes(), fails, _ATTEMPTS))

    def table(self) -> str:
        """What was done, a line for each kind, and one failure of each sort."""
        lines = [f"{'kind':12}{'inputs':>10}{'failures':>10}{'CPU s':>10}"]
        for name, found in self.counts.items():
            lines.append(f"{name:12}{found.inputs:>10}{len(found.failures):>10}{found.cpu_seconds:>10.0f}")
        return "\n".join([*lines, *(f"{sort}\n    {path}" for sort, (path, _) in self._sorts().items())])

    @property
    def failed(self) -> bool:
        """Whether anything fails."""
        return any(found.failures for found in self.counts.values())

    def _inputs(self, most: int | None) -> Iterator[tuple[Kind, Case, int]]:
        """The next inputs; each time of the kind that has had the least of the processor."""
        numbers = {name: _others(found.numbers) for name, found in self.counts.items()}
        begun = dict.fromkeys(self.kinds, 0)
        empty = dict.fromkeys(self.kinds, 0)
        while numbers:
            name = min(numbers, key=lambda each: self.counts[each].cpu_seconds + begun[each] * 0.05)
            if begun[name] == most or empty[name] == _EMPTY:
                del numbers[name]
                continue
            number = next(numbers[name])
            case = self.kinds[name].make(chance_of(self.seed, name, number), number)
            empty[name] += 1
            if case is not None:
                empty[name] = 0
                begun[name] += 1
                yield self.kinds[name], case, number

    def _note(self, checking: Checking, number: int, verdict: Verdict, at: float) -> None:
        name, case = checking.kind.name, checking.case
        line: dict[str, Any] = {
            "kind": name,
            "number": number,
            "cpu": round(verdict.cpu_seconds, 3),
            "at": round(at, 1),
        }
        if verdict.words:
            path = self.failures / f"{name}-{self.seed}-{number}{Path(case.name).suffix}"
            path.write_bytes(case.data)
            hint = f"see it again: python -m tests.fuzz --replay {path}"
            path.with_name(f"{path.name}.txt").write_text(f"{verdict.words}\n\n{hint}\n")
            print(f"{name} {number}: {verdict.words.splitlines()[0]}", flush=True)
            line |= {"failure": path.name, "sort": f"{name}: {verdict.signature}"}
        self._write(line)

    def _write(self, line: dict[str, Any]) -> None:
        with self._log.open("a") as stream:
            stream.write(json.dumps(line) + "\n")
        self._count(line)

    def _lines(self) -> Iterator[dict[str, Any]]:
        for text in self._log.read_text().splitlines() if self._log.exists() else ():
            try:
                yield json.loads(text)
            except ValueError:  # the line at which a run was ended
                continue

    def _count(self, line: dict[str, Any]) -> None:
        self.spent = line["at"]
        if line["kind"] not in self.counts:
            return
        found = self.counts[line["kind"]]
        found.numbers.add(line["number"])
        found.inputs += 1
        found.cpu_seconds += line["cpu"]
        path = self.failures / line.get("failure", "none")
        if path.exists():
            found.failures[path] = line["sort"]

    def _sorts(self) -> dict[str, tuple[Path, str]]:
        """One failure of each sort, and its kind."""
        found: dict[str, tuple[Path, str]] = {}
        for name, each in self.counts.items():
            for path, sort in each.failures.items():
                found.setdefault(sort, (path, name))
        return found


def _others(done: set[int]) -> Iterator[int]:
    before = frozenset(done)
    return (number for number in count() if number not in before)
