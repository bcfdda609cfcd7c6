"""What is linted when: at once when a file is opened or saved, a moment after the last change of it, and again when
another file that it rests on changes or the configuration does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lsprotocol import types

from tfmemlint.config.selectors import FAILURES
from tfmemlint.files.bounded_read import read_regular
from tfmemlint.lint.engine import FileResult
from tfmemlint.project.importers import IMPORTERS, LARGEST, imported_words, module_word
from tfmemlint.run.file_task import failure
from tfmemlint.server.documents import Document
from tfmemlint.server.process import Stale, Unanswered
from tfmemlint.server.questions import Around, Lint, Linted
from tfmemlint.server.shown import Marked, Words, carried, marked
from tfmemlint.text.prefilter import mentions_tensorflow

PAUSE = 0.15
"""Seconds without a change after which a text is linted: less than a pause to think, more than one between two keys."""
LATER = 0.6
"""The same for files that rest on the one that is changed, of which perhaps nobody looks at any."""


class Asked(Protocol):
    """A process that answers questions; see `process.Worker`."""

    async def ask(self, question: object, wanted: Callable[[], bool] = ...) -> Any: ...
    def hurry(self) -> None: ...


class Timer(Protocol):
    """Something that will happen, and can be kept from it."""

    def cancel(self) -> None: ...


Later = Callable[[float, Callable[[], None]], Timer]
"""Has something happen in so many seconds; `loop.call_later`, but for tests."""
Publish = Callable[[types.PublishDiagnosticsParams], None]


@dataclass(eq=False)
class State:
    """An open document, and what is known of it. `due` counts the reasons to lint it, `linted` is how many of them the
    `result` has seen."""

    document: Document
    is_open: bool = True
    timer: Timer | None = None
    due: int = 1
    linted: int = 0
    result: FileResult | None = None
    marks: list[Marked] = field(default_factory=list)
    published: dict[str, tuple[int | None, list[types.Diagnostic]]] = field(default_factory=dict)
    """What the client has: by text its version and the diagnostics."""

    @property
    def is_current(self) -> bool:
        """Whether the result is of what is open."""
        return self.is_open and self.linted == self.due

    def stop(self) -> None:
        """Take back what was to be linted in a moment."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Session:
    """The documents that are open. `tell` says something to the user, once."""

    def __init__(self, worker: Asked, later: Later, publish: Publish, tell: Callable[[str], None]) -> None:
        self._worker = worker
        self._later = later
        self._publish = publish
        self._tell = tell
        self._states: dict[str, State] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._told = ""
        self.settings: Mapping[str, Any] = {}
        self.folder = ""
        self.on_save_only = False
        self.words: Callable[[Mapping[str, bytes]], Words] = lambda unsaved: Words(unsaved=unsaved)
        self.prepare: Callable[[Iterable[str]], Awaitable[None]] = _nothing
        """Told of the codes that are about to be shown."""

    # -- what the editor tells

    def opened(self, document: Document) -> None:
        """A document is open, and perhaps not as it is on disk."""
        self.closed(document.uri)
        document.is_unsaved = _differs(document)
        self._states[document.uri] = state = State(document)
        self._soon(state, 0)
        if document.is_unsaved:
            self._touch(document)

    def changed(self, uri: str) -> None:
        """A document was changed."""
        state = self._states.get(uri)
        if state is None:
            return
        state.due += 1
        state.document.is_unsaved = True
        self._worker.hurry()
        if not self.on_save_only:
            self._soon(state, PAUSE)
        self._touch(state.document)

    def saved(self, uri: str) -> None:
        """A document was written to disk."""
        state = self._states.get(uri)
        if state is not None:
            state.document.is_unsaved = False
            if not state.is_current:
                self._soon(state, 0)
            self._touch(state.document)

    def closed(self, uri: str) -> None:
        """A document is not open any more: its marks go, and others see what is on disk."""
        state = self._states.pop(uri, None)
        if state is None:
            return
        state.is_open = False
        state.stop()
        self._send(state, [])
        if state.document.is_unsaved:
            self._touch(state.document)

    def renewed(self) -> None:
        """The configuration may be another one: lint everything."""
        for state in self._states.values():
            state.due += 1
            self._soon(state, PAUSE)

    def changed_on_disk(self, paths: Iterable[str]) -> None:
        """Files were changed by others: lint what rests on them."""
        for path in paths:
            data = b""
            with contextlib.suppress(OSError):
                data = read_regular(path, LARGEST)
            self._relint(path, data)

    def _touch(self, document: Document) -> None:
        if document.is_file:
            self._relint(document.path, document.data())

    def _relint(self, path: str, data: bytes) -> None:
        """Lint in a moment what rests on a file, or may since it imports it now."""
        words: frozenset[str] | None = None
        for state in self._states.values():
            if state.result is None or state.document.path == path:
                continue
            rests_on = state.result.rests_on
            if path not in rests_on:
                asked = [each.removeprefix(IMPORTERS) for each in rests_on if each.startswith(IMPORTERS)]
                words = imported_words(data) if words is None and asked else words
                if words is None or not any(module_word(each) in words for each in asked):
                    continue
            state.due += 1
            self._soon(state, LATER)

    # -- linting

    def state(self, uri: str) -> State | None:
        """What is known of a document, by its address."""
        return self._states.get(uri)

    def question(self, document: Document) -> Lint:
        """The question about a document as it is now."""
        around = Around(self.settings, self.folder, self.unsaved())
        return Lint(document.path, document.data(), around, document.is_file)

    def unsaved(self) -> dict[str, bytes]:
        """The Python files that are not on disk as they are open."""
        documents = (state.document for state in self._states.values())
        return {
            each.path: each.data()
            for each in documents
            if each.is_unsaved and each.is_file and each.path.endswith(".py")
        }

    async def current(self, state: State) -> bool:
        """Lint a document now if that was not done since its last change; whether what is known is of what is open."""
        if not state.is_current:
            state.stop()
            await self._lint(state)
        return state.is_current

    def _soon(self, state: State, seconds: float) -> None:
        state.stop()

        def start() -> None:
            state.timer = None
            task = asyncio.ensure_future(self._lint(state))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

        state.timer = self._later(seconds, start)

    async def _lint(self, state: State) -> None:
        document, due = state.document, state.due

        def wanted() -> bool:
            return state.is_open and state.due == due and state.linted != due

        unsaved, question = self.unsaved(), self.question(document)
        answer = Linted(FileResult(document.path, skipped=True))
        try:
            if mentions_tensorflow(question.data):  # else the process need not even be started
                answer = await self._worker.ask(question, wanted)
        except Stale:
            return
        except Unanswered as error:
            found = failure(str(error))
            answer = Linted(FileResult(document.path, None, (found,), failures=(found,)))
        if answer.result is not None:
            await self.prepare({finding.code for finding in answer.result.findings})
        if not wanted():
            return
        state.linted = due
        if answer.problem:
            self._complain(answer.problem)
            return
        self._told = ""
        self._take(state, answer.result, self.words(unsaved))

    def _take(self, state: State, result: FileResult | None, words: Words) -> None:
        """Show what was found, and with what does not parse what was found before."""
        now = marked(state.document, result, words) if result is not None else []
        if any(each.finding.code in FAILURES for each in now):
            now += carried(state.document, state.marks, now)
        state.result, state.marks = result, now
        self._send(state, now)

    def _send(self, state: State, marks: list[Marked]) -> None:
        """Tell the client the marks of each text that has others than before, or is another version."""
        texts = {text.uri: text.version for _, text in state.document.texts()} if state.is_open else {}
        found: dict[str, tuple[int | None, list[types.Diagnostic]]] = {uri: (texts[uri], []) for uri in texts}
        for each in marks:
            found.setdefault(each.uri, (None, []))[1].append(each.diagnostic)
        for uri in {*state.published, *found}:
            version, diagnostics = found.get(uri, (None, []))
            if state.published.get(uri) != (version, diagnostics):
                self._publish(types.PublishDiagnosticsParams(uri, diagnostics, version))
        state.published = found

    def _complain(self, problem: str) -> None:
        if problem != self._told:
            self._told = problem
            self._tell(problem)

    async def settled(self) -> None:
        """Wait for all that is being linted."""
        while self._running:
            with contextlib.suppress(Exception):
                await asyncio.gather(*self._running)


def _differs(document: Document) -> bool:
    """Whether a document is not on disk as it is open, as after a crash of the editor."""
    if not document.is_file:
        return True
    try:
        return read_regular(document.path) != document.data()
    except OSError:
        return True


async def _nothing(codes: Iterable[str]) -> None:
    """Prepares nothing."""
