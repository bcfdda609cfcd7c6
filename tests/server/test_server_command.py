"""The command `tfmemlint server`, its extra, and what its editors' files say."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from command_line import Run
from rpc import PREFETCH, Client

from tfmemlint.server.settings import Settings, read

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "editors.md").read_text("utf-8")
EXTENSION = ROOT / "editors" / "vscode"
NODE = shutil.which("node")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCS, re.DOTALL | re.MULTILINE)


def test_without_the_extra_one_line_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def missing(name: str) -> Any:
        if name.startswith("pygls."):
            raise ModuleNotFoundError(name)
        return find(name)

    monkeypatch.setattr("tfmemlint.cli.server.find_spec", missing)
    done = run("server", "--stdio")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "pip install 'tfmemlint[lsp]'" in done.err


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without telling it")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_an_editor_that_kills_the_server_leaves_no_pages(tmp_path: Path, name: str) -> None:
    client = Client(tmp_path)
    (found,) = client.open("train.py", PREFETCH.format(before=""))
    page = Path(found["codeDescription"]["href"].removeprefix("file://"))
    assert page.exists()
    client.process.send_signal(getattr(signal, name))
    assert client.process.wait(60) == -getattr(signal, name)
    assert not page.parent.exists()


def test_wrong_arguments_are_one_line(run: Run) -> None:
    done = run("server", "--tcp")
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_an_editor_that_is_gone_ends_the_server(tmp_path: Path) -> None:
    client = Client(tmp_path)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(60) in (0, 1)


def test_messages_that_are_none_leave_the_server(client: Client) -> None:
    client.notify("textDocument/didOpen", {"nonsense": 1})
    client.notify("no/suchNotification")
    assert client.answer(client.ask("no/suchRequest"))["error"]["code"] == -32601
    client.ask("textDocument/hover", nonsense=1)
    assert client.open("a.py", "import tensorflow as tf\nds = tf.data.Dataset.range(9).repeat().cache()\n")


@pytest.mark.parametrize("wrong", [{"config": []}, {"run": "often"}, {"estimate": "no"}, {"tfmemlint": {"run": 1}}, []])
def test_settings_that_are_wrong_are_told_and_left_out(wrong: Any) -> None:
    settings, why = read(wrong)
    assert settings == Settings() and why.startswith("tfmemlint") and "\n" not in why


def test_settings_are_read() -> None:
    settings, why = read({"config": {"ignore": ["TFM3"]}, "run": "onSave", "estimate": False, "other": 1})
    assert (settings, why) == (Settings({"ignore": ["TFM3"]}, True, False), "")
    assert read(None) == (Settings(), "")


def test_the_documented_files_are_well_formed() -> None:
    assert [json.loads(block) for block in blocks("json")]
    assert [tomllib.loads(block) for block in blocks("toml")]


def test_the_extension_has_the_documented_settings() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    names = set(manifest["contributes"]["configuration"]["properties"])
    documented = {f"tfmemlint.{name}" for name in re.findall(r"^\| `(\w+)` \|", DOCS, re.MULTILINE)}
    assert names == {*documented, "tfmemlint.command"}
    assert manifest["version"] == __import__("tfmemlint").__version__
    assert manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] == ["tfmemlint.command"]


@pytest.mark.skipif(NODE is None, reason="Node is not installed; `make vsix` runs all tests of the extension")
def test_the_extension_passes_its_own_tests() -> None:
    version = subprocess.run([str(NODE), "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.findall(r"\d+", version)[0]) < 20:
        pytest.skip("Node is older than 20")
    command = [str(NODE), "--test", "test/extension.test.js"]
    done = subprocess.run(command, cwd=EXTENSION, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_server_itself_loads_neither_parser_nor_rules() -> None:
    """They are in the process behind it, which is not started before a file needs it."""
    code = "from tfmemlint.server.lsp import make; make(); import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"libcst", "tfmemlint_rules", "rich", "pathspec", "tensorflow", "numpy"}


def test_a_file_without_a_library_starts_no_process(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        assert client.open("a.py", "import os\nos.fit(x)\n") == []
        assert client.request("textDocument/codeLens", textDocument={"uri": client.uri("a.py")}) == []
        assert psutil.Process(client.process.pid).children() == []
        client.open("b.py", "import keras\n")
        assert len(psutil.Process(client.process.pid).children()) == 1
