"""What an editor is shown: marks, places, prices, pages, hovers; and what the configuration has to say of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rpc import CAPABILITIES, PREFETCH, Client, marked

from tfmemlint.cli.commands import main

TEXT = PREFETCH.format(before="")
SIZED = """import tensorflow as tf
from data import load

model = tf.keras.applications.ResNet50()
model.fit(load("*.jpg").prefetch(1000))
"""
DATA = """import tensorflow as tf


def load(paths, batch_size={batch}):
    ds = tf.data.Dataset.from_tensor_slices(paths).map(tf.io.read_file)
    ds = ds.map(lambda data: tf.image.resize(tf.io.decode_jpeg(data, channels=3), (224, 224)))
    return ds.batch(batch_size)
"""


def codes(diagnostics: list[dict[str, Any]]) -> list[str]:
    return [each["code"] for each in diagnostics]


def again(client: Client, name: str, happened: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """The diagnostics once they are as expected."""
    uri = client.uri(name)
    client.until(lambda: happened(client.diagnostics[uri]["diagnostics"]))
    found: list[dict[str, Any]] = client.diagnostics[uri]["diagnostics"]
    return found


def test_a_finding_has_its_place_price_page_and_related_place(client: Client) -> None:
    (found,) = client.open("train.py", TEXT)
    assert (found["code"], found["severity"], found["source"]) == ("TFM304", 2, "tfmemlint")
    assert marked(TEXT, found) == "prefetch"
    assert "18 GiB" in found["message"]
    assert found["data"]["bytes"] == 19_267_584_000
    (related,) = found["relatedInformation"]
    assert related["message"] == "batched here"
    assert related["location"]["uri"] == client.uri("train.py")
    assert marked(TEXT, related["location"]) == "batch"
    page = Path(found["codeDescription"]["href"].removeprefix("file://"))
    assert page.read_text("utf-8").startswith("# TFM304: oversized-prefetch")


@pytest.mark.parametrize("before", ["x = '😀😀'; ", "x = 'é\u2028'; ", "'''😀\r\n'''; ", "\t# 😀\n", "\x0c", "# 😀\r"])
def test_places_are_right_behind_any_characters(client: Client, before: str) -> None:
    text = PREFETCH.format(before=before)
    (found,) = client.open("train.py", text)
    assert marked(text, found) == "prefetch"
    assert marked(text, found["relatedInformation"][0]["location"]) == "batch"


def test_columns_are_in_the_encoding_that_is_agreed(tmp_path: Path) -> None:
    line = 'x = "é😀"; ds = tf.data.Dataset.range(9).repeat().cache()'
    general = {"positionEncodings": ["utf-64", "utf-8", "utf-16"]}
    with Client(tmp_path, capabilities={**CAPABILITIES, "general": general}) as client:
        assert client.initialized["capabilities"]["positionEncoding"] == "utf-8"
        (found,) = client.open("a.py", f"import tensorflow as tf\n{line}\n")
        column = len(line[: line.index("cache")].encode())
        assert found["range"]["start"] == {"line": 1, "character": column}


def test_severities_are_those_of_the_configuration(client: Client, configure: Callable[[str], None]) -> None:
    assert [each["severity"] for each in client.open("train.py", TEXT)] == [2]
    for word, number in (("error", 1), ("info", 3)):
        configure(f"severity = {{ TFM304 = '{word}' }}\n")
        again(client, "train.py", lambda found, number=number: [each["severity"] for each in found] == [number])


def test_a_changed_configuration_is_seen_without_a_watcher(client: Client) -> None:
    """By clients that do not watch files, at the next change."""
    assert codes(client.open("train.py", TEXT)) == ["TFM304"]
    (client.root / "pyproject.toml").write_text("[tool.tfmemlint]\nignore = ['TFM3']\n")
    assert client.change("train.py", f"{TEXT}#\n") == []


def test_per_file_ignores_and_excludes_hold(client: Client, configure: Callable[[str], None]) -> None:
    configure("extend-exclude = ['third_party']\nper-file-ignores = { 'tests/**' = ['TFM3'] }\n")
    for folder in ("third_party", "tests", "src"):
        (client.root / folder).mkdir()
    assert codes(client.open("src/a.py", TEXT)) == ["TFM304"]
    assert client.open("third_party/a.py", TEXT) == []
    assert client.open("tests/a.py", TEXT) == []


def test_a_baseline_holds_and_is_read_again(client: Client, configure: Callable[[str], None]) -> None:
    assert codes(client.open("train.py", TEXT)) == ["TFM304"]
    path = client.root / "tfmemlint-baseline.json"
    assert main(["check", "--isolated", "-q", "-n", f"--write-baseline={path}", str(client.root)]) == 0
    configure("baseline = 'tfmemlint-baseline.json'\n")
    again(client, "train.py", lambda found: not found)
    path.write_text('{"version": 1, "entries": []}')
    client.notify("workspace/didChangeWatchedFiles", changes=[{"uri": path.as_uri(), "type": 2}])
    again(client, "train.py", lambda found: codes(found) == ["TFM304"])


def test_a_wrong_configuration_is_told_and_the_marks_stay(client: Client, configure: Callable[[str], None]) -> None:
    assert codes(client.open("train.py", TEXT)) == ["TFM304"]
    configure("selekt = ['TFM3']\n")
    client.until(lambda: client.told("window/showMessage"))
    (told,) = client.told("window/showMessage")
    assert "tfmemlint.toml" in told["message"] and "did you mean" in told["message"] and "\n" not in told["message"]
    assert codes(client.diagnostics[client.uri("train.py")]["diagnostics"]) == ["TFM304"]


def test_settings_of_the_editor_hold_over_files_and_can_change(client: Client) -> None:
    client.notify("workspace/didChangeConfiguration", settings={"tfmemlint": {"config": {"ignore": ["TFM304"]}}})
    assert client.open("train.py", TEXT) == []
    client.notify("workspace/didChangeConfiguration", settings={"tfmemlint": {"config": {}}})
    again(client, "train.py", lambda found: codes(found) == ["TFM304"])
    client.notify("workspace/didChangeConfiguration", settings={"tfmemlint": {"run": "never"}})
    client.until(lambda: client.told("window/showMessage"))
    assert "onType" in client.told("window/showMessage")[0]["message"]


def test_settings_are_asked_for_where_the_editor_answers(tmp_path: Path) -> None:
    workspace = {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}}
    settings: dict[str, Any] = {"config": {"severity": {"TFM304": "info"}}}
    capabilities = {**CAPABILITIES, "workspace": workspace}
    with Client(tmp_path, capabilities=capabilities, settings=settings, options={"run": "onSave"}) as client:
        client.until(lambda: client.told("workspace/configuration"))
        assert [each["severity"] for each in client.open("train.py", TEXT)] == [3]
        client.settings = {"config": {"severity": {"TFM304": "error"}}}
        client.notify("workspace/didChangeConfiguration", settings=None)
        again(client, "train.py", lambda found: [each["severity"] for each in found] == [1])


def test_a_module_that_is_open_and_changed_is_followed_as_it_is_there(client: Client) -> None:
    (client.root / "data.py").write_text(DATA.format(batch=64))
    (found,) = client.open("train.py", SIZED)
    assert "36 GiB" in found["message"]
    assert found["relatedInformation"][0]["location"]["uri"] == client.uri("data.py")
    client.open("data.py")
    client.change("data.py", DATA.format(batch=32))
    (found,) = again(client, "train.py", lambda found: "18 GiB" in found[0]["message"])
    assert (client.root / "data.py").read_text() == DATA.format(batch=64)
    client.notify("textDocument/didClose", textDocument={"uri": client.uri("data.py")})
    again(client, "train.py", lambda found: "36 GiB" in found[0]["message"])


def test_a_module_that_changes_on_disk_is_followed(client: Client) -> None:
    (client.root / "data.py").write_text(DATA.format(batch=64))
    client.open("train.py", SIZED)
    (client.root / "data.py").write_text(DATA.format(batch=32))
    client.notify("workspace/didChangeWatchedFiles", changes=[{"uri": client.uri("data.py"), "type": 2}])
    again(client, "train.py", lambda found: "18 GiB" in found[0]["message"])


def test_a_syntax_error_keeps_the_last_findings(client: Client) -> None:
    client.open("train.py", TEXT)
    broken = TEXT.replace("import tensorflow as tf\n", "import tensorflow as tf\nx = (\n")
    found = client.change("train.py", broken)
    assert codes(found) == ["TFM002", "TFM304"]
    assert marked(broken, found[1]) == "prefetch"
    titles = client.actions(client.uri("train.py"))
    assert not any("TFM304" in title for title in titles)
    assert codes(client.change("train.py", TEXT)) == ["TFM304"]


def test_text_that_is_saved_nowhere_is_linted(client: Client) -> None:
    uri = "untitled:Untitled-1"
    client.notify("textDocument/didOpen", textDocument={"uri": uri, "languageId": "python", "version": 1, "text": TEXT})
    client.until(lambda: uri in client.diagnostics)
    assert codes(client.diagnostics[uri]["diagnostics"]) == ["TFM304"]


def test_what_is_no_python_is_left_alone(client: Client) -> None:
    item = {"uri": client.uri("a.toml"), "languageId": "toml", "version": 1, "text": TEXT}
    client.notify("textDocument/didOpen", textDocument=item)
    client.open("train.py", TEXT)
    assert client.uri("a.toml") not in client.diagnostics


def test_a_closed_file_has_no_marks(client: Client) -> None:
    client.open("train.py", TEXT)
    client.notify("textDocument/didClose", textDocument={"uri": client.uri("train.py")})
    client.until(lambda: not client.diagnostics[client.uri("train.py")]["diagnostics"])


def test_a_document_is_read_where_the_configuration_says_so(client: Client, configure: Callable[[str], None]) -> None:
    text = f"# 😀\n\n```python\n{TEXT}```\n"
    assert client.open("a.md", text, "markdown") == []
    configure("include-markdown = true\n")
    (found,) = again(client, "a.md", lambda found: codes(found) == ["TFM304"])
    assert marked(text, found) == "prefetch"


def test_the_json_of_a_notebook_may_be_open_as_a_text(client: Client) -> None:
    cell = {"cell_type": "code", "metadata": {}, "source": TEXT, "outputs": [], "execution_count": None}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    (found,) = client.open("a.ipynb", text, "json")
    assert marked(text, found) == "prefetch"
    fixed = client.chosen(client.actions(client.uri("a.ipynb"))["Let TensorFlow choose the buffer (TFM304)"])
    assert fixed == {client.uri("a.ipynb"): text.replace("prefetch(1000)", "prefetch(tf.data.AUTOTUNE)")}


def test_a_hover_says_why_how_much_and_what_was_measured(client: Client) -> None:
    (found,) = client.open("train.py", TEXT)
    text = client.hover(client.uri("train.py"), found["range"]["start"])
    for words in ("TFM304", "oversized-prefetch", "memory: 18 GiB (19 267 584 000 bytes)", "keeps a thousand batches",
                  "| peak of tensors | 306 MiB | 9.2 MiB |", "safe fix: let TensorFlow choose the buffer"):  # fmt: skip
        assert words in text
    assert client.hover(client.uri("train.py"), {"line": 0, "character": 0}) == ""


STEP = """import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((28, 28)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
model.compile("adam", "mse")
(x, y), _ = tf.keras.datasets.mnist.load_data()
model.fit(x, y, batch_size=128)
"""


def lenses(client: Client, name: str) -> list[tuple[int, str]]:
    found = client.request("textDocument/codeLens", textDocument={"uri": client.uri(name)})
    return [(each["range"]["start"]["line"], each["command"]["title"]) for each in found]


def test_a_training_step_says_what_it_takes(client: Client, configure: Callable[[str], None]) -> None:
    client.open("train.py", STEP)
    ((line, title),) = lenses(client, "train.py")
    assert line == 5 and title.startswith("one step: ") and title.endswith(" of GPU memory at batch 128")
    assert "- weights: 31 KiB" in client.hover(client.uri("train.py"), {"line": 5, "character": 3})
    client.change("train.py", STEP.replace("batch_size=128", ""))
    assert lenses(client, "train.py")[0][1].endswith("at batch 32")
    client.change("train.py", STEP.replace("model.fit", "print"))
    assert lenses(client, "train.py") == []


def test_the_lens_shows_the_estimate_and_can_be_switched_off(client: Client) -> None:
    client.open("train.py", STEP)
    (lens,) = client.request("textDocument/codeLens", textDocument={"uri": client.uri("train.py")})
    client.request("workspace/executeCommand", **{k: lens["command"][k] for k in ("command", "arguments")})
    assert "- weights: 31 KiB" in client.told("window/showMessage")[0]["message"]
    command = {"command": lens["command"]["command"], "arguments": [r"**one step** of a\*b\[c\]"]}
    client.request("workspace/executeCommand", **command)
    assert client.told("window/showMessage")[-1]["message"] == "one step of a*b[c]"
    client.notify("workspace/didChangeConfiguration", settings={"tfmemlint": {"estimate": False}})
    assert lenses(client, "train.py") == []


def test_a_configured_card_says_whether_a_step_fits(client: Client, configure: Callable[[str], None]) -> None:
    configure("gpu-memory = '16GiB'\n")
    client.open("train.py", STEP)
    assert lenses(client, "train.py")[0][1].endswith("at batch 128, fits")


def test_requests_about_what_is_not_open_have_no_answer(client: Client) -> None:
    uri = client.uri("nothing.py")
    place = {"line": 0, "character": 0}
    assert client.actions(uri, {"start": place, "end": place}) == {}
    assert client.hover(uri, place) == ""
    client.notify("textDocument/didChange", textDocument={"uri": uri, "version": 3}, contentChanges=[{"text": "x"}])
    client.notify("textDocument/didClose", textDocument={"uri": uri})
    client.notify("textDocument/didSave", textDocument={"uri": uri})
    assert codes(client.open("train.py", TEXT)) == ["TFM304"]
    assert client.told("window/showMessage") == []
