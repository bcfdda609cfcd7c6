"""The process behind the server: what dies or takes too long costs its own question, and no other."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.server.process import Stale, Unanswered, Worker
from tfmemlint.server.questions import About, Around, Lint, Linted, Page


class Does:
    """A question at which the process does something when it reads it."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.what = function, arguments

    def __reduce__(self) -> Any:
        return self.what


def with_worker(scenario: Any, **limits: float) -> None:
    async def run() -> None:
        worker = Worker(**limits)
        try:
            await scenario(worker)
        finally:
            await worker.close()

    asyncio.run(run())


def test_a_process_that_died_is_replaced() -> None:
    async def scenario(worker: Worker) -> None:
        with pytest.raises(Unanswered, match="died"):
            await worker.ask(Does(os._exit, 1))
        assert isinstance(await worker.ask(Page("TFM304")), About)

    with_worker(scenario)


def test_an_answer_that_takes_too_long_is_not_waited_for() -> None:
    async def scenario(worker: Worker) -> None:
        with pytest.raises(Unanswered, match="too long"):
            await worker.ask(Does(time.sleep, 10_000))

    with_worker(scenario, seconds=0.01)


def test_a_stale_question_is_not_asked() -> None:
    async def scenario(worker: Worker) -> None:
        with pytest.raises(Stale):
            await worker.ask(Does(os._exit, 1), lambda: False)

    with_worker(scenario)


def test_a_question_that_became_stale_is_ended() -> None:
    async def scenario(worker: Worker) -> None:
        await worker.ask(Page("TFM304"))  # it has started
        wanted = [True]
        asked = asyncio.ensure_future(worker.ask(Does(time.sleep, 10_000), lambda: wanted[0]))
        for _ in range(10):
            await asyncio.sleep(0)
        worker.hurry()  # it is still wanted
        wanted[0] = False
        worker.hurry()
        with pytest.raises(Stale):
            await asked
        assert isinstance(await worker.ask(Page("TFM304")), About)

    with_worker(scenario, patience=-1.0)


def test_who_asked_and_went_costs_the_others_nothing() -> None:
    async def scenario(worker: Worker) -> None:
        asked = asyncio.ensure_future(worker.ask(Page("TFM304")))
        await asyncio.sleep(0)
        asked.cancel()
        assert (await worker.ask(Page("TFM304"))).page.startswith("# TFM304: oversized-prefetch")

    with_worker(scenario)


def test_what_a_failing_question_says_is_told() -> None:
    async def scenario(worker: Worker) -> None:
        with pytest.raises(Unanswered, match="no such question"):
            await worker.ask("what?")

    with_worker(scenario)


def test_the_folder_that_is_edited_is_not_imported_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("libcst", "msgspec", "tfmemlint", "struct"):
        (tmp_path / f"{name}.py").write_text("import os\nos._exit(3)\n")
    monkeypatch.chdir(tmp_path)

    async def scenario(worker: Worker) -> None:
        path = str(tmp_path / "a.py")
        answer = await worker.ask(Lint(path, b"import tensorflow as tf\n", Around()))
        assert isinstance(answer, Linted) and answer.result is not None

    with_worker(scenario)
