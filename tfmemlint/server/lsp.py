"""The protocol's messages as calls of the service, spoken over standard input and output."""

from __future__ import annotations

import logging
import os
import signal
import sys
from types import FrameType

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from tfmemlint import __version__
from tfmemlint.server.actions import KINDS, OPEN_PAGE
from tfmemlint.server.editor import Editor
from tfmemlint.server.lenses import SHOW_ESTIMATE
from tfmemlint.server.positions import ENCODINGS, UTF16
from tfmemlint.server.service import Service
from tfmemlint.server.shown import NAME
from tfmemlint.server.wording import unmarked

NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook=types.NotebookDocumentFilterNotebookType(notebook_type="jupyter-notebook"),
            cells=[types.NotebookCellLanguage(language="python")],
        )
    ],
    save=True,
)

_OURS = (
    types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN, types.NOTEBOOK_DOCUMENT_DID_CHANGE, types.NOTEBOOK_DOCUMENT_DID_CLOSE,
)  # fmt: skip
"""What pygls keeps texts by. We keep our own: to pygls a form feed ends a line, which to editors it does not, and a
change of a text that it does not know is an error."""


def make() -> tuple[LanguageServer, Service]:
    """A server for one client."""
    server = LanguageServer(NAME, __version__, notebook_document_sync=NOTEBOOKS)
    for name in _OURS:
        del server.protocol.fm.builtin_features[name]
    service = Service(Editor(server))
    _life(server, service)
    _documents(server, service)
    _answers(server, service)
    return server, service


def _life(server: LanguageServer, service: Service) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        agreed = server.workspace.position_encoding
        service.begin(params, ENCODINGS.get(getattr(agreed, "value", agreed) or "", UTF16))

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await service.begun()

    @server.feature(types.SHUTDOWN)
    async def shutdown(params: None) -> None:
        await service.close()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(params: types.DidChangeConfigurationParams) -> None:
        await service.reread_settings(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        service.files_changed([each.uri for each in params.changes])


def _documents(server: LanguageServer, service: Service) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        service.open_file(params.text_document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        service.change_file(params)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        service.save(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        service.close_document(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_opened(params: types.DidOpenNotebookDocumentParams) -> None:
        service.open_notebook(params)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_changed(params: types.DidChangeNotebookDocumentParams) -> None:
        service.change_notebook(params)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_saved(params: types.DidSaveNotebookDocumentParams) -> None:
        service.save(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_closed(params: types.DidCloseNotebookDocumentParams) -> None:
        service.close_document(params.notebook_document.uri)


def _answers(server: LanguageServer, service: Service) -> None:
    options = types.CodeActionOptions(code_action_kinds=list(KINDS), resolve_provider=True)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await service.offered(params)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(params: types.CodeAction) -> types.CodeAction:
        return await service.completed(params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await service.hover(params.text_document.uri, params.position)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        return await service.code_lenses(params.text_document.uri)

    @server.command(OPEN_PAGE)
    async def open_page(code: str) -> None:
        await service.open_page(code)

    @server.command(SHOW_ESTIMATE)
    def show_estimate(details: str) -> None:
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, unmarked(details)))


def serve() -> int:
    """Serve one client over standard input and output until it goes; the exit code."""
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr, format="%(levelname)s: %(message)s")
    server, service = make()
    _tidy_when_ended(service)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what else is printed must not stand between messages
    try:
        server.start_io(stdout=out)
    finally:  # of an editor that went without a word, too; the processes end with their pipes
        service.remove_pages()
    return 0


def _tidy_when_ended(service: Service) -> None:
    """Have the pages removed, too, where an editor ends the server by a signal, as Emacs does when it quits."""

    def ended(number: int, frame: FrameType | None) -> None:
        service.remove_pages()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)  # not SystemExit: the thread that reads the editor's messages would be waited for

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):  # Windows has no SIGHUP
            signal.signal(getattr(signal, name), ended)
