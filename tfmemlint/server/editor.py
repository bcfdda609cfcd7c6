"""The client: what it can, what it has set, and what is asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from tfmemlint.config.settings import FILE_NAMES
from tfmemlint.server.settings import SECTION
from tfmemlint.server.shown import NAME

WATCHED = (*(f"**/{name}" for name in FILE_NAMES), "**/*.py", "**/*baseline*.json")
_PUBLISH = ("text_document", "publish_diagnostics")


class Editor:
    """The client behind a protocol; nothing is asked of it that it has not said it can."""

    def __init__(self, protocol: LanguageServer) -> None:
        self._protocol = protocol

    def can(self, *names: str) -> Any:
        """What the client says of one of its capabilities; None where it says nothing."""
        found: Any = self._protocol.client_capabilities
        for name in names:
            found = getattr(found, name, None)
        return found

    @property
    def takes_pages(self) -> bool:
        """Whether diagnostics may have the address of a page."""
        return bool(self.can(*_PUBLISH, "code_description_support"))

    @property
    def takes_related(self) -> bool:
        """Whether diagnostics may name other places."""
        return bool(self.can(*_PUBLISH, "related_information"))

    @property
    def completes_actions(self) -> bool:
        """Whether the client asks for the edits of an action when it is chosen; another has to be told them before."""
        properties = getattr(self.can("text_document", "code_action", "resolve_support"), "properties", None)
        return "edit" in (properties or ()) and bool(self.can("text_document", "code_action", "data_support"))

    @property
    def takes_versions(self) -> bool:
        """Whether edits may name the version that they are for."""
        return bool(self.can("workspace", "workspace_edit", "document_changes"))

    def publish(self, params: types.PublishDiagnosticsParams) -> None:
        """Give the client the diagnostics of a text."""
        self._protocol.text_document_publish_diagnostics(params)

    def tell(self, message: str) -> None:
        """Show the user a line."""
        self._protocol.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"{NAME}: {message}"))

    async def watch(self) -> None:
        """Ask to be told of changed files and settings."""
        if self.can("workspace", "did_change_watched_files", "dynamic_registration"):
            watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            await self._register(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        if self.can("workspace", "did_change_configuration", "dynamic_registration"):
            section = types.DidChangeConfigurationRegistrationOptions(SECTION)
            await self._register(types.WORKSPACE_DID_CHANGE_CONFIGURATION, section)

    async def _register(self, method: str, options: Any) -> None:
        registration = types.Registration(f"{NAME}/{method}", method, options)
        params = types.RegistrationParams([registration])
        await _heard(self._protocol.client_register_capability_async(params))

    async def settings(self) -> Any:
        """The settings that the client has for us; None where it does not say."""
        if not self.can("workspace", "configuration"):
            return None
        params = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        found = await _heard(self._protocol.workspace_configuration_async(params))
        return found[0] if isinstance(found, (list, tuple)) and found else None

    def renew_lenses(self) -> None:
        """Have the client ask for the lenses again."""
        if self.can("workspace", "code_lens", "refresh_support"):
            self._ask(self._protocol.workspace_code_lens_refresh_async(None))

    def open(self, address: str) -> None:
        """Have the client open a page: in the browser, or beside the code where it is a file of ours."""
        if self.can("window", "show_document", "support"):
            external = not address.startswith("file:")
            params = types.ShowDocumentParams(address, external=external, take_focus=True)
            self._ask(self._protocol.window_show_document_async(params))
        else:
            self._protocol.window_show_message(types.ShowMessageParams(types.MessageType.Info, address))

    @staticmethod
    def _ask(asked: Awaitable[Any]) -> None:
        task = asyncio.ensure_future(_heard(asked))
        _RUNNING.add(task)
        task.add_done_callback(_RUNNING.discard)


_RUNNING: set[asyncio.Future[Any]] = set()
"""What was asked and not answered yet; the loop alone would forget it."""


async def _heard(asked: Awaitable[Any]) -> Any:
    """What the client answers; None where it fails at that."""
    try:
        return await asked
    except JsonRpcException:
        return None
