"""What training steps take, over their lines: asked for when an editor shows lenses or a step is pointed at, in a
process of its own, so that no finding waits for it."""

from __future__ import annotations

import re

from lsprotocol import types

from tfmemlint.server.documents import FileDocument
from tfmemlint.server.process import Stale, Unanswered, Worker
from tfmemlint.server.questions import Estimated, Estimates
from tfmemlint.server.session import Session, State
from tfmemlint.text.prefilter import mentions_tensorflow

SHOW_ESTIMATE = "tfmemlint.showEstimate"
TRAINS = re.compile(r"\b(?:fit|fit_generator|train_on_batch|apply_gradients|minimize|apply|predict)\s*\(")
"""Without one of these words there is no step, and the process need not be started."""


class Lenses:
    """The steps of open documents, each estimated once while nothing changes that it rests on."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._worker = Worker()
        self._known: dict[str, tuple[int, tuple[Estimated, ...]]] = {}

    async def steps(self, state: State) -> tuple[Estimated, ...]:
        """The steps of a document as it is now; none where it changes before they are known."""
        document, due = state.document, state.due
        known = self._known.get(document.uri)
        if known is not None and known[0] == due:
            return known[1]
        if isinstance(document, FileDocument) and document.is_markup:
            return ()
        question = self._session.question(document)
        trains = any(TRAINS.search(text.text) for _, text in document.texts())
        if not trains or not mentions_tensorflow(question.data):
            return ()
        try:
            found: tuple[Estimated, ...] = await self._worker.ask(
                Estimates(question), lambda: state.is_open and state.due == due
            )
        except (Stale, Unanswered):
            return ()
        if state.is_open and state.due == due:
            self._known[document.uri] = due, found
            return found
        return ()

    async def of_text(self, state: State, uri: str) -> list[types.CodeLens]:
        """The lenses of one text of a document."""
        cell = state.document.cell_of(uri)
        text = state.document.text_at(cell)
        found = []
        for step in await self.steps(state):
            if step.cell == cell and text is not None:
                where = types.Range(text.lines.at(step.row, 1), text.lines.at(step.row, 1))
                command = types.Command(step.headline, SHOW_ESTIMATE, arguments=[step.details])
                found.append(types.CodeLens(where, command))
        return found

    async def over(self, state: State, uri: str, position: types.Position) -> list[str]:
        """What is known of the steps in a line, in Markdown."""
        cell, text = state.document.cell_of(uri), state.document.text_at(state.document.cell_of(uri))
        if text is None or not TRAINS.search(text.lines.line(position.line)):
            return []
        return [step.details for step in await self.steps(state) if (step.cell, step.row) == (cell, position.line + 1)]

    def forget(self, uri: str) -> None:
        """Forget a document that was closed."""
        self._known.pop(uri, None)

    async def close(self) -> None:
        """End the process."""
        await self._worker.close()
