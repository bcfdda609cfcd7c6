"""The fuzzers themselves: a few inputs of each kind, how failures of each sort are caught, and how a run goes on."""

from __future__ import annotations

import ctypes
import mmap
import os
import time
from pathlib import Path
from random import Random

import pytest

from .case import Broken, Case, Kind
from .kinds import KINDS
from .reduce import reduced

pytest.importorskip("fuzz.worker", reason="processes with limits are those of POSIX")

from . import campaign, worker
from .campaign import Campaign


@pytest.mark.parametrize("name", KINDS)
def test_a_few_inputs_of_each_kind_hold(name: str, tmp_path: Path) -> None:
    run = Campaign([KINDS[name]], seed=1, folder=tmp_path, jobs=1)
    run.run(600, most=4 if name == "library" else 10)
    assert not run.failed, run.table()


@pytest.mark.parametrize("name", KINDS)
def test_inputs_come_from_their_seeds_alone(name: str) -> None:
    kind = KINDS[name]
    first, again = ([kind.make(Random(f"{seed}"), seed) for seed in range(8)] for _ in range(2))
    assert first == again
    assert len({case and case.data for case in first}) > 4 or first == [None] * 8


# -- checks that fail, in every way ------------------------------------------------------------------------------------


def kind(check: str, cpu_seconds: int = 20) -> Kind:
    return Kind("made", lambda chance, number: Case("a.py", b"%d" % number), CHECKS[check], cpu_seconds)


def says_so(case: Case) -> None:
    raise Broken(f"number {case.data.decode()} is wrong\nbecause")


def raises(case: Case) -> None:
    raise KeyError("a")


def dies(case: Case) -> None:
    os.abort()


def crashes(case: Case) -> None:
    ctypes.string_at(0)


def leaves(case: Case) -> None:
    os._exit(0)


def takes_memory(case: Case) -> None:
    bytearray(1 << 40)


def never_ends(case: Case) -> None:
    while True:
        pass


def waits(case: Case) -> None:
    time.sleep(1000)


def holds(case: Case) -> None:
    pass


CHECKS = {
    each.__name__: each for each in (says_so, raises, dies, crashes, leaves, takes_memory, never_ends, waits, holds)
}


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ("holds", ""), ("says_so", "number 7 is wrong\nbecause"), ("raises", "KeyError in test_short_runs.py, raises"),
        ("dies", "the process died of SIGABRT"), ("crashes", "the process died of SIGSEGV"),
        ("leaves", "the process died of an exit"), ("takes_memory", "MemoryError in"),
        ("never_ends", "no end in 1 seconds of a processor"), ("waits", "no end: it waits for something"),
    ],
)  # fmt: skip
def test_whatever_becomes_of_a_check_it_is_told(check: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_PATIENCE", 1 if check == "waits" else 600)
    verdict = worker.run(kind(check, 1 if check in ("never_ends", "waits") else 20), Case("a.py", b"7"))
    assert verdict.words.startswith(words)
    assert bool(verdict.words) == bool(words)


def test_a_large_process_has_as_much_room_for_a_check_as_a_small_one() -> None:
    little = Kind("made", lambda chance, number: None, holds, memory_bytes=1 << 30)
    with mmap.mmap(-1, 1 << 30):
        assert worker.run(little, Case("a.py", b"7")).words == ""


def test_failures_are_kept_counted_and_forgotten_once_they_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = Campaign([kind("says_so")], 5, tmp_path)
    first.run(600, most=3)
    assert first.failed
    assert sorted(path.name for path in tmp_path.joinpath("failures").glob("*.py")) == [
        "made-5-0.py", "made-5-1.py", "made-5-2.py",
    ]  # fmt: skip
    assert "--replay" in (tmp_path / "failures" / "made-5-2.py.txt").read_text()
    assert "made                 3         3" in first.table()
    assert first.table().count("is wrong") == 1
    second = Campaign([kind("says_so")], 5, tmp_path)
    second.again()
    assert second.failed
    third = Campaign([kind("holds")], 5, tmp_path)
    third.again()
    assert not third.failed
    assert not list(tmp_path.joinpath("failures").iterdir())


def test_a_run_that_was_ended_goes_on_where_it_was(tmp_path: Path) -> None:
    Campaign([kind("holds")], 5, tmp_path).run(600, most=3)
    (log,) = tmp_path.glob("*.jsonl")
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines) + lines[0][:9])
    run = Campaign([kind("holds")], 5, tmp_path)
    assert run.counts["made"].numbers == {0, 1, 2}
    run.run(600, most=3)
    assert run.counts["made"].numbers == {0, 1, 2, 3, 4, 5}
    assert run.counts["made"].inputs == 6


def test_the_time_of_a_run_that_was_ended_counts(tmp_path: Path) -> None:
    first = Campaign([kind("holds")], 5, tmp_path)
    first.run(600, most=2)
    first.spent = 590.0
    first._write({"kind": "made", "number": 2, "cpu": 0.1, "at": 590.0})
    assert Campaign([kind("holds")], 5, tmp_path).spent == 590.0
    finished = Campaign([kind("holds")], 5, tmp_path)
    finished.run(590, most=1)
    assert finished.counts["made"].numbers == {0, 1, 2, 3}
    assert Campaign([kind("holds")], 5, tmp_path).spent < 590


def test_a_run_ends_with_its_time(tmp_path: Path) -> None:
    run = Campaign([kind("holds")], 5, tmp_path)
    run.run(0.2)
    assert run.counts["made"].inputs
    assert Campaign([kind("holds")], 5, tmp_path).spent == 0.2


def test_failures_are_made_small() -> None:
    data = b"".join(b"line %d = call(%d)\n" % (number, number) for number in range(40))
    assert reduced(data, lambda part: b"call(17" in part, 500) == b"call(17"
    asked: list[bytes] = []
    reduced(data, lambda part: bool(asked.append(part)), 30)
    assert len(asked) == 30


def test_a_failure_of_each_sort_is_made_small(tmp_path: Path) -> None:
    def fails(case: Case) -> None:
        if b"bad" in case.data:
            raise Broken("it is bad")

    bad = Kind("made", lambda chance, number: Case("a.py", b"good\n" * number + b"so bad\n"), fails)
    run = campaign.Campaign([bad], 5, tmp_path)
    run.run(600, most=2)
    run.reduce()
    assert [path.read_bytes() for path in tmp_path.joinpath("failures").glob("*.min.py")] == [b"bad"]
