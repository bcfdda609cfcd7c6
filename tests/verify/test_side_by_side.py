"""Two programs at once: whose runs come back, when the second one is given up, and on which processors they run."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tfmemlint.verify.claim import Claim
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run import sandbox, side_by_side
from tfmemlint.verify.run.measure import Program, Settings
from tfmemlint.verify.run.runs import Failure, Run
from tfmemlint.verify.run.side_by_side import Beside, processors
from tfmemlint.verify.run.workspaces import workspace

PAIR = Pair(Program("before"), Program("after"))
RAISED = Run("error", error=Failure("ValueError"))


def run(monkeypatch: pytest.MonkeyPatch, measured: Callable[..., Any], done: Callable[[], None] | None = None) -> Any:
    """The sides of the pair, where `measured` stands for running programs."""
    monkeypatch.setattr(side_by_side, "measure", measured)
    with Beside(Settings(lane=1)) as beside:
        return PAIR.run(Claim("peak_bytes"), Settings(beside=beside), done)


def test_both_run_at_the_same_time_and_each_side_gets_its_own_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    met, threads = threading.Barrier(2, timeout=20), []

    def measured(program: Program, settings: Settings, done: Any = None, tick: Any = None) -> tuple[Run, ...]:
        met.wait()
        if done:
            done()
        return (Run("ok", output=f"{program.source} {settings.lane}"),)

    before, after = run(monkeypatch, measured, lambda: threads.append(threading.current_thread()))
    assert (before[0].output, after[0].output) == ("before 0", "after 1")
    assert threads == [threading.main_thread()] * 2


def test_the_second_one_is_ended_when_the_first_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "GRACE", 0)
    ended = threading.Event()

    def measured(program: Program, settings: Settings, done: Any = None, tick: Any = None) -> tuple[Run, ...]:
        if program.source == "before":
            return (RAISED,)
        try:
            while True:
                tick()
        finally:
            ended.set()

    assert run(monkeypatch, measured) == ((RAISED,), ())
    assert ended.is_set()


def test_what_this_machine_has_no_room_for_at_once_runs_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    met, seen = threading.Barrier(2, timeout=20), []

    def measured(program: Program, settings: Settings, done: Any = None, tick: Any = None) -> tuple[Run, ...]:
        seen.append(program.source)
        if len(seen) <= 2:
            met.wait()
            return (Run("machine"),)
        return (Run("ok", output=program.source),)

    before, after = run(monkeypatch, measured)
    assert (before[0].output, after[0].output) == ("before", "after")
    assert seen[2:] == ["before", "after"]


@pytest.mark.skipif(processors() < 2 or sys.platform != "linux", reason="there is one processor, or no way to choose")
def test_each_has_a_processor_of_its_own() -> None:
    chosen = []
    for lane in (0, 1):
        with workspace() as work:
            command = [sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))"]
            chosen.append(sandbox.run(command, work=work, repeatable=True, lane=lane).output)
    assert chosen[0] != chosen[1]
    assert all(len(found.split(",")) == 1 for found in chosen)
