"""VS Code itself as a client, with our extension as `make vsix` builds it: code-server is VS Code for a browser, and
another extension, which the test writes, asks it what users see."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from rpc import PREFETCH

ROOT = Path(__file__).parents[2]
CODE_SERVER = shutil.which("code-server")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
PACKAGE = ROOT / "dist" / "tfmemlint.vsix"
TEXT = PREFETCH.format(before="x = '😀'; ")
FIT = """
model = tf.keras.Sequential([tf.keras.Input((224, 224, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(ds)
"""
PATIENCE = 300
"""Seconds until VS Code must have been asked everything, on a machine that does much else."""

PROBE = """
"use strict";
const net = require("node:net");
const path = require("node:path");
const { commands, languages, window, workspace, Uri } = require("vscode");

const root = workspace.workspaceFolders[0].uri.fsPath;
const file = (name) => Uri.file(path.join(root, name));
const out = {};

async function until(what, test) {
  const end = Date.now() + 60000;
  for (;;) {
    const found = await test();
    if (found) {
      return found;
    }
    if (Date.now() > end) {
      throw new Error(`${what} did not come after ${Object.keys(out).pop()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const shown = (uri) => languages.getDiagnostics(uri);
const findings = (uri) => until("a finding", () => (shown(uri).length ? shown(uri) : null));
const none = (uri) => until("the end of the finding", () => shown(uri).length === 0);

async function inFile() {
  const document = await workspace.openTextDocument(file("train.py"));
  await window.showTextDocument(document);
  const [found] = await findings(document.uri);
  out.code = found.code.value;
  out.page = found.code.target.scheme;
  out.message = found.message;
  out.severity = found.severity;
  out.marked = document.getText(found.range);
  out.related = found.relatedInformation.map((each) => each.message);
  const hovers = await commands.executeCommand("vscode.executeHoverProvider", document.uri, found.range.start);
  out.hover = hovers.flatMap((each) => each.contents.map((content) => content.value)).join("\\n");
  const ask = () => commands.executeCommand("vscode.executeCodeLensProvider", document.uri, 10);
  out.lens = (await until("a lens", async () => ((await ask()) || []).find((each) => each.command))).command.title;
  const arguments_ = [document.uri, found.range, "quickfix", 10];
  const actions = await commands.executeCommand("vscode.executeCodeActionProvider", ...arguments_);
  out.titles = actions.map((each) => each.title);
  await workspace.applyEdit(actions.find((each) => each.isPreferred).edit);
  await none(document.uri);
  out.fixed = document.getText();
  await commands.executeCommand("undo");
  await findings(document.uri);
  await commands.executeCommand("workbench.action.files.save");
  out.saved = document.getText();
  await none(document.uri);
  await commands.executeCommand("undo");
  await findings(document.uri);
  const settings = workspace.getConfiguration("tfmemlint");
  await settings.update("config", { "extend-ignore": ["TFM304"] });
  await none(document.uri);
  await settings.update("config", undefined);
  await findings(document.uri);
  await commands.executeCommand("tfmemlint.restart");
  await findings(document.uri);
  const page = await commands.executeCommand("vscode.executeCodeActionProvider", ...arguments_);
  const { command } = page.find((each) => each.command).command;
  await commands.executeCommand(command, "TFM304");
  const tabs = () => window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));
  out.tab = await until("the page", () => tabs().find((label) => label.includes("TFM304.md")));
}

async function inNotebook() {
  const notebook = await workspace.openNotebookDocument(file("nb.ipynb"));
  await window.showNotebookDocument(notebook);
  const cell = notebook.cellAt(1).document;
  const [found] = await findings(cell.uri);
  out.inCell = cell.getText(found.range);
}

exports.activate = () => {
  void inFile()
    .then(inNotebook)
    .catch((error) => (out.error = String(error && error.stack)))
    .then(() => net.connect(Number(process.env.PROBE_PORT), "127.0.0.1").end(JSON.stringify(out)));
};
"""
MANIFEST = {
    "name": "probe", "publisher": "tests", "version": "0.0.1", "engines": {"vscode": "^1.91.0"}, "main": "./probe.js",
    "activationEvents": ["onStartupFinished"],
}  # fmt: skip


def is_built() -> bool:
    """Whether the package holds the extension as it is now."""
    if not PACKAGE.exists():
        return False
    with zipfile.ZipFile(PACKAGE) as package:
        return package.read("extension/extension.js") == (ROOT / "editors" / "vscode" / "extension.js").read_bytes()


def written(root: Path) -> None:
    """The extensions, the user's settings, and a project."""
    with zipfile.ZipFile(PACKAGE) as package:
        package.extractall(root / "unpacked")
    version = json.loads((root / "unpacked" / "extension" / "package.json").read_text("utf-8"))["version"]
    probe = root / "extensions" / "tests.probe-0.0.1"
    probe.mkdir(parents=True)
    (root / "unpacked" / "extension").rename(root / "extensions" / f"tfmemlint.tfmemlint-{version}")
    (probe / "package.json").write_text(json.dumps(MANIFEST))
    (probe / "probe.js").write_text(PROBE, "utf-8")
    settings = {
        "tfmemlint.command": [sys.executable, "-m", "tfmemlint", "server"],
        "security.workspace.trust.enabled": False,
        "files.autoSave": "off",
        "[python]": {"editor.codeActionsOnSave": {"source.fixAll.tfmemlint": "explicit"}},
    }
    (root / "data" / "User").mkdir(parents=True)
    (root / "data" / "User" / "settings.json").write_text(json.dumps(settings))
    (root / "project").mkdir()
    (root / "project" / "train.py").write_text(TEXT + FIT, "utf-8")
    head, _, rest = TEXT.partition("\n\n")
    cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    cells = [{**cell, "source": source} for source in (head, rest)]
    notebook = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 4}
    (root / "project" / "nb.ipynb").write_text(json.dumps(notebook))


@contextmanager
def running(root: Path, *command: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A program with a home of its own, ended with all that it has started."""
    own = {"HOME": str(root), "XDG_CONFIG_HOME": str(root / "config")}
    with open(root / f"{Path(command[0]).name}.log", "w") as log:
        process = subprocess.Popen(
            command, cwd=root, env={**os.environ, **own, **environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=log, start_new_session=True, text=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.communicate(timeout=60)


def address(server: subprocess.Popen[str]) -> str:
    """Where VS Code says that it listens."""
    assert server.stdout is not None
    for line in server.stdout:
        if found := re.search(r"listening on (http://\S+?)/?\s*$", line):
            return found[1]
    raise AssertionError("VS Code does not start")


def answer(listener: socket.socket) -> dict[str, Any]:
    """What the extension that asks has to say."""
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as stream:
        seen: dict[str, Any] = json.loads(stream.read())
    return seen


@pytest.mark.skipif(CODE_SERVER is None, reason="VS Code for browsers is not installed (npm: code-server)")
@pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed (Debian: apt-get install chromium)")
@pytest.mark.skipif(not is_built(), reason="the extension is not built, or was before it changed (make vsix)")
def test_vs_code_shows_findings_and_makes_repairs(tmp_path: Path) -> None:
    written(tmp_path)
    serve = [
        "--auth=none", "--bind-addr=127.0.0.1:0", "--disable-telemetry", "--disable-update-check",
        "--user-data-dir=data", "--extensions-dir=extensions", "project",
    ]  # fmt: skip
    browse = [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0",
        f"--user-data-dir={tmp_path}/browser",
    ]  # fmt: skip
    with ExitStack() as started:
        listener = started.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.settimeout(PATIENCE)
        port = str(listener.getsockname()[1])
        server = started.enter_context(running(tmp_path, str(CODE_SERVER), *serve, PROBE_PORT=port))
        page = f"{address(server)}/?folder={tmp_path}/project"
        started.enter_context(running(tmp_path, str(BROWSER), *browse, page))
        seen = answer(listener)
    assert "error" not in seen, seen["error"]
    repaired = (TEXT + FIT).replace("1000", "tf.data.AUTOTUNE")
    assert (seen["code"], seen["severity"], seen["marked"]) == ("TFM304", 1, "prefetch")
    assert "18 GiB" in seen["message"] and seen["related"] == ["batched here"] and seen["page"] in ("file", "https")
    assert "306 MiB" in seen["hover"] and seen["lens"].startswith("one step: ")
    assert "Let TensorFlow choose the buffer (TFM304)" in seen["titles"]
    assert seen["fixed"] == seen["saved"] == repaired
    assert seen["tab"] == "Preview TFM304.md"
    assert seen["inCell"] == "prefetch"
