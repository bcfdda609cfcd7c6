"""A client of the language server that knows JSON and nothing of the server: what an editor sends, and would show."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

PATIENCE = 120
"""Seconds after which an answer is missing; none is waited for that long by a server that works."""

CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "codeDescriptionSupport": True, "versionSupport": True},
        "codeAction": {
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source.fixAll"]}},
        },
    },
    "workspace": {
        "workspaceEdit": {"documentChanges": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
    "window": {"showDocument": {"support": True}},
}

Json = dict[str, Any]

PREFETCH = """import tensorflow as tf

{before}ds = tf.data.TFRecordDataset("a").map(
    lambda x: tf.image.resize(tf.io.decode_jpeg(x, channels=3), (224, 224))
).batch(32).prefetch(1000)
"""
"""A finding with a safe repair, a price and a related place."""


class Client:
    """An editor with a server of its own, and the texts that it has open."""

    def __init__(
        self,
        root: Path,
        *,
        capabilities: Json | None = None,
        options: Json | None = None,
        settings: Json | None = None,
        command: Sequence[str] = (),
    ) -> None:
        words = list(command) or [sys.executable, "-m", "tfmemlint", "server", "--stdio"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        self.root = root
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.diagnostics: dict[str, Json] = {}
        """What the server has published last, by text."""
        self.settings = settings
        self.asked: list[Json] = []
        """What the server has asked and told, but for diagnostics."""
        self._messages: queue.Queue[Json | None] = queue.Queue()
        self._answers: dict[int, Json] = {}
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.initialized = self.request(
            "initialize",
            processId=None,
            rootUri=root.as_uri(),
            workspaceFolders=[{"uri": root.as_uri(), "name": "root"}],
            capabilities=CAPABILITIES if capabilities is None else capabilities,
            initializationOptions=options,
        )
        self.notify("initialized")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.request("shutdown")
            self.notify("exit", None)
        assert self.process.wait(PATIENCE) == 0

    # -- messages

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                assert name.lower() in (b"content-length", b"content-type"), line
                length = int(value) if name.lower() == b"content-length" else length
            if not length:
                self._messages.put(None)
                return
            self._messages.put(json.loads(stream.read(length)))

    def send(self, message: Json) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def notify(self, method: str, params: Any = ..., **fields: Any) -> None:
        self.send({"method": method, "params": fields if params is ... else params})

    def request(self, method: str, **params: Any) -> Any:
        """The result of a request; raises AssertionError where the server answers with an error."""
        answer = self.answer(self.ask(method, **params))
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def ask(self, method: str, **params: Any) -> int:
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params or None})
        return self._number

    def answer(self, number: int) -> Json:
        self.until(lambda: number in self._answers)
        return self._answers.pop(number)

    def until(self, happened: Callable[[], Any]) -> None:
        """Take what the server says until something has happened."""
        while not happened():
            message = self._messages.get(timeout=PATIENCE)
            assert message is not None, f"the server is gone: {self.process.wait(PATIENCE)}"
            self._take(message)

    def _take(self, message: Json) -> None:
        method, params = message.get("method"), message.get("params")
        if method is None:
            self._answers[message["id"]] = message
        elif method == "textDocument/publishDiagnostics":
            self.diagnostics[params["uri"]] = params
        else:
            self.asked.append(message)
            if "id" in message:
                result: Any = None
                if method == "workspace/configuration":
                    result = [self.settings for _ in params["items"]]
                elif method == "window/showDocument":
                    result = {"success": True}
                self.send({"id": message["id"], "result": result})

    def told(self, method: str) -> list[Json]:
        """The parameters of what the server has asked or told by one method."""
        return [each["params"] for each in self.asked if each["method"] == method]

    # -- files

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str, text: str | None = None, language: str = "python") -> list[Json]:
        """Open a file, which holds `text` in the editor, and on disk too if it is not there; its diagnostics."""
        path = self.root / name
        if text is None:
            text = path.read_text("utf-8")
        elif not path.exists():
            path.write_text(text, "utf-8")
        uri = self.uri(name)
        self.texts[uri], self.versions[uri] = text, 1
        self.diagnostics.pop(uri, None)
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", textDocument=item)
        return self.published(name)

    def change(self, name: str, text: str) -> list[Json]:
        """Replace the text of a file by one change; its diagnostics."""
        self.edit(name, [{"range": whole(self.texts[self.uri(name)]), "text": text}])
        return self.published(name)

    def edit(self, name: str, changes: list[Json]) -> None:
        """Make changes as an editor sends them."""
        uri = self.uri(name)
        self.versions[uri] += 1
        for each in changes:
            self.texts[uri] = applied(self.texts[uri], [(each["range"], each["text"])])
        document = {"uri": uri, "version": self.versions[uri]}
        self.notify("textDocument/didChange", textDocument=document, contentChanges=changes)

    def save(self, name: str) -> None:
        (self.root / name).write_text(self.texts[self.uri(name)], "utf-8")
        self.notify("textDocument/didSave", textDocument={"uri": self.uri(name)})

    def published(self, name: str) -> list[Json]:
        """The diagnostics of the version that is open."""
        uri = self.uri(name)
        self.until(lambda: self.diagnostics.get(uri, {}).get("version") == self.versions[uri])
        found: list[Json] = self.diagnostics[uri]["diagnostics"]
        return found

    def actions(self, uri: str, where: Json | None = None, only: list[str] | None = None) -> dict[str, Json]:
        """What is offered at a range, by title."""
        context: Json = {"diagnostics": [], **({"only": only} if only else {})}
        where = where or whole(self.texts[uri])
        found = self.request("textDocument/codeAction", textDocument={"uri": uri}, range=where, context=context)
        return {each["title"]: each for each in found}

    def chosen(self, action: Json) -> dict[str, str]:
        """The texts after an action, by address; nothing is applied."""
        edit = action.get("edit") or self.request("codeAction/resolve", **action).get("edit")
        if edit is None:
            return {}
        changes = edit.get("changes") or {
            each["textDocument"]["uri"]: each["edits"] for each in edit["documentChanges"]
        }
        return {
            uri: applied(self.texts[uri], [(each["range"], each["newText"]) for each in edits])
            for uri, edits in changes.items()
        }

    def hover(self, uri: str, position: Json) -> str:
        found = self.request("textDocument/hover", textDocument={"uri": uri}, position=position)
        return "" if found is None else str(found["contents"]["value"])


def units(text: str) -> bytes:
    """A text in the units that columns count, two bytes each."""
    return text.encode("utf-16-le", "surrogatepass")


def whole(text: str) -> Json:
    """The range of a whole text."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    end = {"line": len(lines) - 1, "character": len(units(lines[-1])) // 2}
    return {"start": {"line": 0, "character": 0}, "end": end}


def applied(text: str, edits: Sequence[tuple[Json, str]]) -> str:
    """A text after edits of its ranges, which are apart from each other."""
    data = units(text)
    starts = [0]
    at = 0
    while at < len(data):
        unit = data[at : at + 2]
        at += 2
        if unit == b"\r\0" and data[at : at + 2] == b"\n\0":
            at += 2
        if unit in (b"\r\0", b"\n\0"):
            starts.append(at)

    def offset(place: Json) -> int:
        return starts[place["line"]] + 2 * int(place["character"])

    spans = [(offset(where["start"]), offset(where["end"]), units(new)) for where, new in edits]
    for start, end, new in sorted(spans, key=lambda span: span[0], reverse=True):
        data = data[:start] + new + data[end:]
    return data.decode("utf-16-le", "surrogatepass")


def marked(text: str, diagnostic: Json) -> str:
    """The characters that a diagnostic is about."""
    where = diagnostic["range"]
    kept = applied(text, [({"start": whole(text)["start"], "end": where["start"]}, "")])
    rest = applied(text, [({"start": whole(text)["start"], "end": where["end"]}, "")])
    return kept[: len(kept) - len(rest)]
