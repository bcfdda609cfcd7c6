"""When something is linted, and that nothing stale is shown: with a clock and a process that the tests move by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.lint.engine import FileResult
from tfmemlint.server.documents import FileDocument, Text
from tfmemlint.server.process import Stale, Unanswered
from tfmemlint.server.questions import Lint, Linted
from tfmemlint.server.session import LATER, PAUSE, Session
from tfmemlint.text.read import read_source

KERAS = "\n# keras"
"""Without the name of a library nothing would be asked about a text."""


@dataclass(eq=False)
class Waiting:
    """Something that happens later, unless it is cancelled."""

    at: float
    call: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class Clock:
    now: float = 0.0
    waiting: list[Waiting] = field(default_factory=list)

    def later(self, seconds: float, call: Callable[[], None]) -> Waiting:
        self.waiting.append(Waiting(self.now + seconds, call))
        return self.waiting[-1]

    async def advance(self, seconds: float) -> None:
        self.now += seconds
        due = [each for each in self.waiting if each.at <= self.now]
        self.waiting = [each for each in self.waiting if each.at > self.now]
        for each in due:
            if not each.cancelled:
                each.call()
        await turn()


async def turn() -> None:
    """Let everything run that can."""
    for _ in range(10):
        await asyncio.sleep(0)


class Process:
    """Answers when it is told to, and knows what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Lint] = []
        self.open: list[asyncio.Future[Linted]] = []
        self.hurried = 0

    async def ask(self, question: Any, wanted: Callable[[], bool] = lambda: True) -> Any:
        if not wanted():
            raise Stale
        self.asked.append(question)
        self.open.append(asyncio.get_running_loop().create_future())
        return await self.open[-1]

    def hurry(self) -> None:
        self.hurried += 1

    async def answer(
        self, number: int = -1, rests_on: dict[str, bytes | None] | None = None, problem: str = ""
    ) -> None:
        """Answer a question: each word `bad` of the text is a finding, a `(` does not parse."""
        asked = self.asked[number]
        source = read_source(asked.data, asked.path)
        at = source.text.find("bad")
        found = (Finding("ABC001", "bad-word", Severity.WARNING, "bad", Span(at, at + 3)),) if at >= 0 else ()
        if "(" in source.text:
            found = (Finding("TFM002", "syntax-error", Severity.ERROR, "cannot parse", Span(0, 0)),)
        result = FileResult(asked.path, source, found, rests_on=rests_on or {})
        self.open[number].set_result(Linted(problem=problem) if problem else Linted(result))
        await turn()


class Desk:
    """A session with one client."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock, self.process = Clock(), Process()
        self.published: list[types.PublishDiagnosticsParams] = []
        self.told: list[str] = []
        self.session = Session(self.process, self.clock.later, self.published.append, self.told.append)
        self.texts: dict[str, Text] = {}

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    async def open(self, name: str, text: str) -> None:
        item = types.TextDocumentItem(self.uri(name), "python", 1, text + KERAS)
        self.texts[name] = Text(item)
        self.session.opened(FileDocument(item.uri, text=self.texts[name]))
        await self.clock.advance(0)

    async def opened(self, name: str, text: str, rests_on: dict[str, bytes | None] | None = None) -> None:
        await self.open(name, text)
        await self.process.answer(rests_on=rests_on)

    def change(self, name: str, text: str) -> None:
        version = (self.texts[name].version or 0) + 1
        self.texts[name].change([types.TextDocumentContentChangeWholeDocument(text + KERAS)], version)
        self.session.changed(self.uri(name))

    def shown(self, name: str = "a.py") -> list[tuple[str, int, int]]:
        """Code, line and column of the marks that the client has."""
        last = next(each for each in reversed(self.published) if each.uri == self.uri(name))
        return [(str(d.code), d.range.start.line, d.range.start.character) for d in last.diagnostics]


def test_an_opened_file_is_linted_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        await desk.opened("a.py", "a bad word")
        assert desk.shown() == [("ABC001", 0, 2)]
        assert desk.published[-1].version == 1

    asyncio.run(scenario())


def test_a_text_without_a_library_is_asked_nothing_about(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        await desk.opened("a.py", "bad")
        desk.texts["a.py"].change([types.TextDocumentContentChangeWholeDocument("bad")], 2)
        desk.session.changed(desk.uri("a.py"))
        await desk.clock.advance(PAUSE)
        assert (len(desk.process.asked), desk.shown(), desk.published[-1].version) == (1, [], 2)

    asyncio.run(scenario())


def test_changes_in_a_row_are_linted_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        await desk.opened("a.py", "")
        for text in ("b", "ba", "bad"):
            desk.change("a.py", text)
            await desk.clock.advance(PAUSE * 0.9)
        assert len(desk.process.asked) == 1
        await desk.clock.advance(PAUSE)
        assert [each.data.decode() for each in desk.process.asked] == [KERAS, f"bad{KERAS}"]
        await desk.process.answer()
        assert desk.shown() == [("ABC001", 0, 0)]

    asyncio.run(scenario())


def test_what_is_stale_is_not_shown(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        await desk.open("a.py", "bad")
        desk.change("a.py", "good")
        assert desk.process.hurried == 1
        await desk.process.answer(0)
        assert desk.published == []
        await desk.clock.advance(PAUSE)
        await desk.process.answer(1)
        assert [(each.version, each.diagnostics) for each in desk.published] == [(2, [])]

    asyncio.run(scenario())


def test_an_answer_that_comes_after_the_end_is_not_shown(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        await desk.opened("a.py", "bad")
        desk.change("a.py", "bad bad")
        await desk.clock.advance(PAUSE)
        desk.session.closed(desk.uri("a.py"))
        await desk.process.answer()
        assert desk.shown() == []

    asyncio.run(scenario())


def test_who_asks_does_not_wait_for_the_pause(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        await desk.opened("a.py", "")
        desk.change("a.py", "bad")
        state = desk.session.state(desk.uri("a.py"))
        assert state is not None
        asked = asyncio.ensure_future(desk.session.current(state))
        await turn()
        await desk.process.answer()
        assert await asked
        await desk.clock.advance(PAUSE)
        assert len(desk.process.asked) == 2

    asyncio.run(scenario())


@pytest.mark.parametrize("on_save_only", [False, True])
def test_on_save_only_nothing_is_linted_while_typing(tmp_path: Path, on_save_only: bool) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        desk.session.on_save_only = on_save_only
        await desk.opened("a.py", "")
        desk.change("a.py", "bad")
        await desk.clock.advance(PAUSE)
        assert len(desk.process.asked) == (1 if on_save_only else 2)
        desk.session.saved(desk.uri("a.py"))
        await desk.clock.advance(0)
        assert len(desk.process.asked) == (2 if on_save_only else 3)

    asyncio.run(scenario())


def test_findings_stay_and_move_while_the_text_does_not_parse(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        await desk.opened("a.py", "x = 1\na bad word\n")
        desk.change("a.py", "x = (\n\na bad word\n")
        await desk.clock.advance(PAUSE)
        await desk.process.answer()
        assert desk.shown() == [("TFM002", 0, 0), ("ABC001", 2, 2)]
        desk.change("a.py", "x = (\n\na ba word\n")
        await desk.clock.advance(PAUSE)
        await desk.process.answer()
        assert desk.shown() == [("TFM002", 0, 0)]
        desk.change("a.py", "x = 1\na bad word\n")
        await desk.clock.advance(PAUSE)
        await desk.process.answer()
        assert desk.shown() == [("ABC001", 1, 2)]

    asyncio.run(scenario())


def test_what_rests_on_a_changed_file_is_linted_later(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        data = str(tmp_path / "data.py")
        await desk.opened("train.py", "", {data: b"1"})
        await desk.opened("other.py", "")
        await desk.opened("data.py", "")
        desk.change("data.py", "bad")
        await desk.clock.advance(PAUSE)
        await desk.process.answer()
        await desk.clock.advance(LATER)
        assert [Path(each.path).name for each in desk.process.asked[3:]] == ["data.py", "train.py"]
        assert desk.process.asked[-1].around.unsaved[data] == f"bad{KERAS}".encode()

    asyncio.run(scenario())


def test_what_is_saved_is_read_from_disk(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        (tmp_path / "a.py").write_text(f"same{KERAS}")
        await desk.opened("a.py", "same")
        await desk.opened("b.py", "new")
        assert set(desk.session.unsaved()) == {str(tmp_path / "b.py")}
        desk.change("a.py", "other")
        assert set(desk.session.unsaved()) == {str(tmp_path / "a.py"), str(tmp_path / "b.py")}
        desk.session.saved(desk.uri("a.py"))
        assert set(desk.session.unsaved()) == {str(tmp_path / "b.py")}

    asyncio.run(scenario())


def test_a_problem_is_told_once_and_what_was_shown_stays(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        await desk.opened("a.py", "bad")
        for _ in range(2):
            desk.session.renewed()
            await desk.clock.advance(PAUSE)
            await desk.process.answer(problem="pyproject.toml: no")
        assert desk.told == ["pyproject.toml: no"]
        assert desk.shown() == [("ABC001", 0, 0)]

    asyncio.run(scenario())


def test_a_process_that_died_is_a_finding(tmp_path: Path) -> None:
    async def scenario() -> None:
        desk = Desk(tmp_path)
        await desk.open("a.py", "bad")
        desk.process.open[0].set_exception(Unanswered("it died"))
        await turn()
        assert desk.shown() == [("TFM000", 0, 0)]
        assert desk.published[-1].diagnostics[0].message == "the file could not be checked: it died"

    asyncio.run(scenario())


