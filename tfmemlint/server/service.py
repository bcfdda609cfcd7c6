"""What the server does for one client, in calls of Python: `lsp` says which message is which."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path

from tfmemlint.config.settings import FILE_NAMES
from tfmemlint.server import actions
from tfmemlint.server.documents import Document, FileDocument, NotebookDocument, Text, notebook
from tfmemlint.server.editor import Editor
from tfmemlint.server.hover import hover
from tfmemlint.server.lenses import Lenses
from tfmemlint.server.pages import Pages
from tfmemlint.server.positions import UTF16, Encoding, touches
from tfmemlint.server.process import Stale, Unanswered, Worker
from tfmemlint.server.questions import About, Page, Repaired
from tfmemlint.server.session import Session, State
from tfmemlint.server.settings import Settings, read
from tfmemlint.server.shown import Words


class Service:
    """The documents of a client, and answers about them."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.worker = Worker()
        self.session = Session(self.worker, _later, editor.publish, editor.tell)
        self.lenses = Lenses(self.session)
        self.settings = Settings()
        self.encoding: Encoding = UTF16
        self._pages = Pages()
        self._abouts: dict[str, About] = {}
        self._notebooks: dict[str, str] = {}
        """The address of the notebook that a cell is in."""

    def begin(self, params: types.InitializeParams, encoding: Encoding) -> None:
        """The client has said what it is."""
        self.encoding = encoding
        folders = [each.uri for each in params.workspace_folders or ()] or [params.root_uri or ""]
        self.session.folder = to_fs_path(folders[0]) or "" if folders[0].startswith("file:") else ""
        self.session.words = self._words
        self.session.prepare = self._prepare
        self.set(params.initialization_options)

    async def begun(self) -> None:
        """The client listens: ask for what is to be known."""
        await self.editor.watch()
        await self.reread_settings()

    async def close(self) -> None:
        """End all processes, and remove what was written."""
        self.remove_pages()
        await self.worker.close()
        await self.lenses.close()

    def remove_pages(self) -> None:
        """Remove what was written."""
        self._pages.close()

    # -- settings

    async def reread_settings(self, pushed: Any = None) -> None:
        """Take the settings that the client has, or those that it has pushed where it answers no such question."""
        asked = await self.editor.settings()
        table = pushed if asked is None else asked
        if table is not None:
            self.set(table)

    def set(self, table: Any) -> None:
        """Take settings, and lint anew where they are others."""
        settings, wrong = read(table)
        if wrong:
            self.editor.tell(wrong)
        if settings != self.settings:
            self.settings = settings
            self.session.settings = settings.config
            self.session.on_save_only = settings.on_save_only
            self.session.renewed()
            self.editor.renew_lenses()

    def files_changed(self, uris: Iterable[str]) -> None:
        """Files were changed on disk; of configurations and baselines all may be others."""
        paths = [path for uri in uris if (path := to_fs_path(uri)) is not None]
        if any(path.endswith((*FILE_NAMES, ".json")) for path in paths):
            self.session.renewed()
        else:
            self.session.changed_on_disk(paths)

    # -- documents

    def open_file(self, item: types.TextDocumentItem) -> None:
        document = FileDocument(item.uri, text=Text(item, self.encoding))
        if document.is_python:
            self.session.opened(document)

    def change_file(self, params: types.DidChangeTextDocumentParams) -> None:
        state = self.session.state(params.text_document.uri)
        if state is not None and isinstance(state.document, FileDocument):
            state.document.text.change(params.content_changes, params.text_document.version)
            self.session.changed(state.document.uri)

    def save(self, uri: str) -> None:
        self.session.saved(uri)
        if (to_fs_path(uri) or "").endswith(FILE_NAMES):
            self.session.renewed()

    def close_document(self, uri: str) -> None:
        self.session.closed(uri)
        self.lenses.forget(uri)
        self._notebooks = {cell: owner for cell, owner in self._notebooks.items() if owner != uri}

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> None:
        document = notebook(params, self.encoding)
        self._notebooks.update(dict.fromkeys(document.by_uri, document.uri))
        self.session.opened(document)

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> None:
        state = self.session.state(params.notebook_document.uri)
        if state is not None and isinstance(state.document, NotebookDocument):
            for uri in state.document.change(params.change, self.encoding):
                self._notebooks.pop(uri, None)
            self._notebooks.update(dict.fromkeys(state.document.by_uri, state.document.uri))
            self.session.changed(state.document.uri)

    def state(self, uri: str) -> State | None:
        """What is known of the document that a text is of."""
        return self.session.state(uri) or self.session.state(self._notebooks.get(uri, ""))

    # -- answers

    async def offered(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What is offered at a range. Edits are made now for a client that does not ask for them later."""
        state = self.state(params.text_document.uri)
        if state is None or not await self.session.current(state):
            return []
        found = list(actions.actions(state, params))
        if not self.editor.completes_actions:
            found = [await self.completed(each) if each.data is not None else each for each in found]
            found = [each for each in found if each.edit is not None or each.command is not None]
        return found

    async def completed(self, action: types.CodeAction) -> types.CodeAction:
        """An action with its edits; without, and with a line to the user, where there are none."""
        chosen = actions.Chosen.from_json(action.data)
        state = self.session.state(chosen.uri) if chosen is not None else None
        if chosen is None or state is None or state.due != chosen.due:
            return action
        before, why = state.document.data(), ""
        try:
            after, why = await self._after(state, chosen, before)
        except (Stale, Unanswered) as error:
            after, why = before, str(error)
        if not state.is_open or state.due != chosen.due:
            return action
        edits = actions.edits(state.document, before, after)
        if edits:
            action.edit = self._workspace_edit(state.document, edits)
        elif self.editor.completes_actions:
            self.editor.tell(f"nothing was changed{f': {why}' if why else ''}")
        return action

    async def _after(self, state: State, chosen: actions.Chosen, before: bytes) -> tuple[bytes, str]:
        if chosen.what == "silence":
            after = actions.silenced(state, chosen)
            return (before, "no comment can be written there") if after is None else (after, "")
        question = actions.repair_for(chosen, self.session.question(state.document))
        done: Repaired = await self.worker.ask(question)
        return done.data, "; ".join(done.notes)

    def _workspace_edit(self, document: Document, edits: actions.Edits) -> types.WorkspaceEdit:
        if not self.editor.takes_versions:
            return types.WorkspaceEdit(changes=edits)
        versions = {text.uri: text.version for _, text in document.texts()}
        named = {uri: types.OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri)) for uri in edits}
        changes = [types.TextDocumentEdit(named[uri], list(made)) for uri, made in edits.items()]
        return types.WorkspaceEdit(document_changes=changes)

    async def hover(self, uri: str, position: types.Position) -> types.Hover | None:
        """What is to be said of the findings at a place, and of a training step in its line."""
        state = self.state(uri)
        if state is None:
            return None
        if not self.settings.on_save_only:
            await self.session.current(state)
        here = types.Range(position, position)
        marks = [each for each in state.marks if each.uri == uri and touches(each.diagnostic.range, here)]
        source = state.result.source if state.result is not None else None
        parts = [hover(each, await self._about(each.finding.code), source, await self._address(each.finding.code))
                 for each in marks]  # fmt: skip
        if self.settings.estimate:
            parts += await self.lenses.over(state, uri, position)
        if not parts:
            return None
        where = marks[0].diagnostic.range if marks else None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts)), where)

    async def code_lenses(self, uri: str) -> list[types.CodeLens]:
        """What training steps take, over their lines."""
        state = self.state(uri)
        return await self.lenses.of_text(state, uri) if state is not None and self.settings.estimate else []

    async def open_page(self, code: str) -> None:
        """Open the page of a rule."""
        address = await self._address(code)
        if address is None:
            self.editor.tell(f"{code} has no page")
        else:
            self.editor.open(address)

    async def _about(self, code: str) -> About:
        if code not in self._abouts:
            try:
                self._abouts[code] = await self.worker.ask(Page(code))
            except (Stale, Unanswered):
                return About()
        return self._abouts[code]

    async def _address(self, code: str) -> str | None:
        return self._pages.address(code) or self._pages.write(code, (await self._about(code)).page)

    async def _prepare(self, codes: Iterable[str]) -> None:
        """See that the pages of some codes have an address before a diagnostic names it."""
        for code in codes if self.editor.takes_pages else ():
            await self._address(code)

    def _words(self, unsaved: Mapping[str, bytes]) -> Words:
        href = self._pages.address if self.editor.takes_pages else _no_address
        return Words(self.encoding, self.editor.takes_related, href, unsaved)


def _later(seconds: float, start: Any) -> asyncio.TimerHandle:
    return asyncio.get_running_loop().call_later(seconds, start)


def _no_address(code: str) -> str | None:
    return None
